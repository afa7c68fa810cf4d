"""Forgetting persons: NoMUS tables, the papers' beside them, and the losses of one run on forgotten
and unseen persons. No Streamlit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pandas as pd

from dashboard.frames import NOISE, Row, noise, verdict_text
from dashboard.papers.tables import Printed, cells, printed_tables
from dashboard.text.labels import MISSING, number
from mucore.outputs import Outputs, cross_entropy

# Metrics with their heads; accuracies are in percent, the others in 0..1.
HEADS: Final[Mapping[str, str]] = {
    "ta": "Test, %",
    "top2": "Top-2, %",
    "forgetting_score": "Forgetting score",
    "nomus": "NoMUS",
    "fa": "Forget, %",
}
METRICS: Final = (*HEADS, "ra")
# The published tables by their names in addresses.
TABLES: Final[Mapping[str, Printed]] = {
    one.id.removeprefix("persons-"): one for one in printed_tables("identities")
}


def table_for(dataset: str) -> str:
    """The published table, a key of `TABLES`, that goes with runs on a data set."""
    return next(
        (name for name, table in TABLES.items() if dataset in table.datasets), next(iter(TABLES))
    )


def paper_table(name: str) -> pd.DataFrame:
    """The table that `name`, a key of `TABLES`, stands for: a line a method by its id, or by the
    paper's name where it has no counterpart; `name` and the metrics in 0..1.
    """
    lines = cells("persons")
    lines = lines[lines["table"] == name]
    names = lines.drop_duplicates("method").set_index("method")["name"]
    values = lines.pivot(index="method", columns="metric", values="value")
    return values.loc[names.index].assign(name=names)


def table(rows: Sequence[Row], paper: pd.DataFrame | None = None) -> pd.DataFrame:
    """The 95 % band of Retrains of other seeds, then a line a row, references first, as text; with
    `paper`, its columns beside ours, and below a line for each method of its that has no row.
    """
    made = [
        {
            "Method": row.title,
            "Verdict": verdict_text(row) or MISSING,
            "Distance": number(row.away, "percent"),
            "Seeds": str(len(row.training_seeds)),
            **{head: text(metric, row.mean(metric)) for metric, head in HEADS.items()},
            **printed(paper, row.method),
        }
        for row in rows
    ]
    heads = list(dict.fromkeys(name for line in made for name in line))
    # the paper's beside ours
    columns = sorted(heads, key=lambda head: heads.index(head.removeprefix("Paper: ")))
    if noise(rows, "ta") is not None:
        made.insert(0, {"Method": NOISE} | _noise(rows))
    if paper is not None:
        others = paper.drop(index=[row.method for row in rows], errors="ignore")
        made += [
            {"Method": name} | printed(paper, str(method))
            for method, name in others["name"].items()
        ]
    shown = pd.DataFrame(made, columns=columns).fillna(MISSING)
    return shown.loc[:, (shown != MISSING).any()]


def _noise(rows: Sequence[Row]) -> dict[str, str]:
    halves = {metric: noise(rows, metric) for metric in HEADS}
    return {
        HEADS[metric]: f"±{text(metric, half)}"
        for metric, half in halves.items()
        if half is not None
    }


def printed(paper: pd.DataFrame | None, method: str) -> dict[str, str]:
    """What the paper prints for a method; nothing without either."""
    if paper is None or method not in paper.index:
        return {}
    line = paper.loc[method]
    return {
        f"Paper: {head}": text(metric, line[metric])
        for metric, head in HEADS.items()
        if metric in line
    }


def text(metric: str, value: float | None) -> str:
    if HEADS[metric].endswith("%"):
        return number(value, "percent")
    return MISSING if value is None or not math.isfinite(value) else f"{value:.3f}"


def by_chance(images: int) -> float:
    """How far from 0 the forgetting score lies by chance in one case of twenty, with so many images
    of each kind, of a mere guess.
    """
    return 1.96 * 0.5 / math.sqrt(2 * images)


def uninformative(rows: Sequence[Row], images: int) -> bool:
    """Whether the untouched original already scores no more than Retrain, or than chance gives, so
    that no score can show forgetting.
    """
    scores = {row.method: row.mean("forgetting_score") for row in rows}
    before, after = scores.get("original"), scores.get("retrain")
    return before is not None and after is not None and before <= max(after, by_chance(images))


def losses(outputs: Outputs) -> dict[str, np.ndarray] | None:
    """Loss of each kept sample in nats, (n,); None where the data set has no images of unseen
    persons.
    """
    if "unseen" not in outputs or "forget" not in outputs:
        return None
    return {
        title: cross_entropy(outputs[name].logits, outputs[name].labels)
        for title, name in (("Forgotten persons", "forget"), ("Persons nobody has seen", "unseen"))
    }
