"""What the tabs of Attacks share: the rows of a figure of methods. No Streamlit, no plotly."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import pandas as pd

from dashboard.frames.results import by_verdict
from dashboard.frames.rows import Row, metric_rows
from mucore import catalog
from mucore.verdicts import Judged

NEAREST: Final = 12  # methods that are shown at first


def title(attack: str) -> str:
    return catalog.metric(f"mia_{attack}").title.removesuffix(" MIA efficacy")


def rows(
    runs: pd.DataFrame,
    values: pd.DataFrame,
    metrics: Sequence[str],
    judged: Mapping[str, Judged],
    pinned: Collection[str] = (),
) -> list[Row]:
    """Original, the methods, nearest of those that forgot first and `pinned` ones before all, and
    Retrain, with cells of `metrics`.
    """
    found = by_verdict(metric_rows(runs, values, metrics, judged=judged))
    return sorted(found, key=lambda row: (_place(row), row.method not in pinned))


def _place(row: Row) -> int:
    return {"original": 0, "retrain": 2}.get(row.method, 1) if row.reference else 1


def first(rows: Sequence[Row]) -> list[Row]:
    """The references and the first `NEAREST` methods."""
    shown = [row for row in rows if not row.reference][:NEAREST]
    return [row for row in rows if row.reference or row in shown]
