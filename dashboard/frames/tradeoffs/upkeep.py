"""What a method takes for many requests: its preparation once, and each request; in units of the
time that one Retrain takes.

Preparation is what serves any later request (training records), a request is the method's run with
what must be prepared for it alone. An exact method trains networks of its own in place of the
original, so a Retrain is taken off its preparation: what training the original takes at least.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from dashboard import frames
from dashboard.text import labels, verdicts

METRICS: Final = (
    "rte",
    "unlearning_seconds",
    "prepared_seconds",
    "prepared_for_request_seconds",
    "persistent_bytes",
)
MANY: Final = 1000  # requests up to which costs are drawn


def upkeep(rows: Sequence[frames.Row]) -> tuple[pd.DataFrame, list[str]]:
    """Of the methods that forgot and have all their costs, by title: key, family and verdict; what
    they take `once` and for each `request` in Retrains, the bytes they keep; and from which request
    on they take less than Retrain, NaN for never. The cheapest for one request leads. And the
    titles of those that forgot and lack a cost. `rows` have cells for `METRICS`.
    """
    methods = verdicts.leading(rows)
    made = pd.DataFrame(
        [
            {
                "title": row.title,
                "key": row.keys[0],
                "family": row.family,
                "verdict": frames.verdict_text(row),
                **{name: _mean(row, name) for name in METRICS},
            }
            for row in methods
        ],
        columns=["title", "key", "family", "verdict", *METRICS],
    ).set_index("title")
    retrain = next((_mean(row, "unlearning_seconds") for row in rows if row.method == "retrain"), 0)
    exact = made["family"].eq("exact")
    made["once"] = (made["prepared_seconds"] / (retrain or np.nan) - exact).clip(lower=0)
    made["request"] = made["rte"] + made["prepared_for_request_seconds"] / (retrain or np.nan)
    made["pays"] = np.floor(made["once"] / (1 - made["request"])) + 1
    made["pays"] = made["pays"].where(made["request"] < 1)
    whole = made[["once", "request"]].notna().all(axis=1)
    order = (made["once"] + made["request"])[whole].sort_values(kind="stable").index
    return made.loc[order], [*made.index[~whole]]


def _mean(row: frames.Row, metric: str) -> float:
    value = row.cells[metric].value
    return np.nan if value is None else value.mean


def each(found: pd.DataFrame, requests: Sequence[int]) -> pd.DataFrame:
    """What a request takes in Retrains, if there are so many of them: a row a number of requests, a
    column a method.
    """
    return pd.DataFrame(
        {n: found["once"] / n + found["request"] for n in requests}, index=found.index
    ).T


def upkeep_sentence(found: pd.DataFrame) -> str:
    """Which method takes least for one request, and which for many."""
    costs = each(found, [1, MANY])
    first, last = costs.loc[1].idxmin(), costs.loc[MANY].idxmin()
    if first == last:
        return f"{first} is cheapest, for one request and for {MANY:,}."
    return f"{first} is cheapest for one request, {last} for {MANY:,}."


def upkeep_frame(found: pd.DataFrame) -> pd.DataFrame:
    """What each method keeps, what it takes once and for a request, and when that pays; as text."""
    return pd.DataFrame(
        {
            "Method": found.index,
            "Verdict": found["verdict"].to_numpy(),
            "Kept, MB": [labels.number(value, "MB") for value in found["persistent_bytes"]],
            "One-off cost (Retrains)": [labels.number(value, "ratio") for value in found["once"]],
            "Cost per request (Retrains)": [labels.number(n, "ratio") for n in found["request"]],
            "Cheaper than Retrain": [
                "never" if np.isnan(number) else f"from request {number:,.0f}"
                for number in found["pays"]
            ],
        }
    )
