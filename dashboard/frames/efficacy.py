"""What the tab Efficacy says. Efficacies are powers of ten throughout, as the store holds them:
1 / information in the weights about the forget set; lower is less exposed. No Streamlit, no plotly.
Source: Becker & Liebig, Evaluating Machine Unlearning via Epistemic Uncertainty, 2022.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pandas as pd

from dashboard.frames.results import verdict_text
from dashboard.frames.rows import Row
from dashboard.text.labels import number
from mucore.metrics.mia import ATTACKS

METRICS: Final = (
    "efficacy",
    "efficacy_bound",
    "efficacy_untrained",
    *(f"mia_{attack}" for attack in ATTACKS),
)


def sentence(rows: Sequence[Row]) -> str:
    """What retraining does to efficacy; "" where Original or Retrain has none."""
    places = {row.method: row.mean("efficacy") for row in rows if row.reference}
    before, after = places.get("original"), places.get("retrain")
    if before is None or after is None:
        return ""
    word = "less" if after < before else "more"
    by = number(abs(after - before), "ratio")
    return f"Retrain is {by} orders of magnitude {word} exposed than Original."


def table(rows: Sequence[Row]) -> pd.DataFrame:
    """A line a method: powers of ten, and what each attack calls unseen (0..1), full precision."""
    return pd.DataFrame(
        {
            "Method": row.title,
            "Verdict": verdict_text(row),
            "Training seeds": len(row.training_seeds),
            "Efficacy (log10)": row.mean("efficacy"),
            "Bound (log10)": row.mean("efficacy_bound"),
            **{f"Called unseen by {attack}": row.mean(f"mia_{attack}") for attack in ATTACKS},
        }
        for row in rows
    )
