"""The answer above a table: who is nearest to Retrain, and which values look wrong.

Only methods that forgot compete (`verdicts.nearest`): a model that nobody touched is the most
useful of all, and the cheapest.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from dashboard.frames.rows import Row, row_id
from dashboard.text import verdicts
from dashboard.text.labels import number
from mucore.statistics import suspicions


def nearest_sentence(rows: Sequence[Row], apart: float | None = None) -> str:
    """Which method is nearest to Retrain, and at what cost, or how many others lie no farther from
    it than two Retrains do, `apart` in 0..1, so that their order says nothing; why none is.
    """
    near = verdicts.nearest(rows)
    if not near:
        return verdicts.why_none(rows)
    row = near[0]
    cost = "" if row.cost is None else f" at {100 * row.cost:.2g} % of the cost"
    come = "comes" if row.verdict is not None and row.verdict.shown else "may come"
    if others := sum((each.away or 0.0) <= (apart or -1.0) for each in near[1:]):
        said = f"{others} others are" if others > 1 else "another method is"
        return f"{row.title} {come} closest to Retrain; {said} as close as a second Retrain."
    return f"{row.title} {come} closest to Retrain: {_points(row.away or 0.0)} away{cost}."


def _points(distance: float) -> str:
    text = number(distance, "percent")
    return "under 0.1 points" if text == "0.0" and distance > 0 else f"{text} points"


def suspicious(summaries: pd.DataFrame, values: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """By row id, sentences on values outside the range of original and Retrain; they speak of all
    seeds of the row, not of one run.
    """
    found: dict[str, list[str]] = {}
    for each in suspicions(summaries, values):
        found.setdefault(row_id(each.method, each.parameters), []).append(each.sentence)
    return {name: tuple(sentences) for name, sentences in found.items()}
