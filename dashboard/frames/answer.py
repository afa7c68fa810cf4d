"""The answer above a table: nearest to Retrain, most accurate, cheapest.

Only methods that forgot compete (`verdicts.leading`): a model that nobody touched is the most
useful of all, and the cheapest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from dashboard.frames.rows import Estimate, Row, row_id
from dashboard.frames.table import DISTANCE_MEANING, ResultsTable
from dashboard.text import units, verdicts
from dashboard.text.labels import number
from mucore.statistics import suspicions

NAMED = 2  # of the methods that may be as good


@dataclass(frozen=True)
class Answer:
    """One figure above the table: the label, what it is, and a line that keeps it honest."""

    label: str
    value: str
    detail: str
    metrics: tuple[str, ...] = ()  # ids of metrics that it is about without their short names
    help: str = ""  # what else the label's tooltip says


def best_answers(table: ResultsTable) -> tuple[Answer, ...]:
    """Nearest to Retrain, most accurate, cheapest; where no row qualifies, one that says why."""
    found = verdicts.leading(table.methods)
    if not found:
        return (
            Answer(
                "Nearest, most accurate, cheapest",
                "None qualifies",
                verdicts.why_none(table.methods),
            ),
        )
    made = [nearest_answer(found)] if any(row.distance for row in found) else []
    accuracy = "tra" if "tra" in found[0].cells else "ta"
    if useful := _ranked(
        found, lambda row: row.cells[accuracy].gap or row.cells[accuracy].value, descending=True
    ):
        row, _ = useful[0]  # by its value: nearest to Retrain's says the first figure
        value, gap = row.cells[accuracy].value, row.cells[accuracy].gap
        detail = f"{accuracy.upper()} {number(value.mean if value else None, 'percent')} %"
        detail += (
            f", Retrain's {number(value.mean - gap.mean, 'percent')} %" if value and gap else ""
        )
        detail += _rivals(useful, "accurate") + _caveat(row)
        made.append(Answer("Most accurate", row.title, detail))
    if cheap := _ranked(found, lambda row: row.cells["rte"].value):
        row, cost = cheap[0]
        detail = f"{number(100 * cost.mean, 'ratio')} % of Retrain's time"
        if (cell := row.cells.get("rte_work")) is not None and cell.value is not None:
            detail += f", {number(100 * cell.value.mean, 'ratio')} % of its work"
        made.append(Answer("Cheapest", row.title, detail + _caveat(row), ("rte",)))
    return tuple(made)


def nearest_sentence(rows: Sequence[Row]) -> str:
    """Which method is nearest to Retrain, and at what cost; why none is."""
    near = verdicts.nearest(rows)
    if not near:
        return verdicts.why_none(rows)
    row = near[0]
    cost = "" if row.cost is None else f" at {100 * row.cost:.2g} % of the cost"
    come = "comes" if _shown(row) else "may come"
    return f"{row.title} {come} closest to Retrain: {_points(row.away or 0.0)} away{cost}."


def nearest_answer(rows: Sequence[Row], where: str = "") -> Answer:
    """The method that is nearest to Retrain, on whatever page, or why none is; `where` ends the
    label.
    """
    near = [(row, row.distance) for row in verdicts.nearest(rows) if row.distance is not None]
    said = ("None qualifies", verdicts.why_none(rows))
    if near:
        row, away = near[0]
        said = (row.title, f"{_points(away.mean)} away{_rivals(near, 'near')}{_caveat(row)}")
    return Answer(f"Nearest to Retrain{where}", *said, help=DISTANCE_MEANING)


def _not_on_outputs(row: Row) -> bool:
    return row.verdict is not None and not row.verdict.on_outputs


def _shown(row: Row) -> bool:
    return row.verdict is not None and row.verdict.shown


def _caveat(row: Row) -> str:
    """What a figure on a row must not be read without."""
    on_outputs = "" if _not_on_outputs(row) else "; its features still know what it forgot"
    return on_outputs + ("" if _shown(row) else "; an indication")


def _points(distance: float) -> str:
    text = number(distance, "percent")
    return "under 0.1 points" if text == "0.0" and distance > 0 else f"{text} points"


def _ranked(
    rows: Sequence[Row], of: Callable[[Row], Estimate | None], *, descending: bool = False
) -> list[tuple[Row, Estimate]]:
    """The rows that have the number, the best one first."""
    known = [(row, found) for row in rows if (found := of(row)) is not None]
    return sorted(known, key=lambda pair: pair[1].mean, reverse=descending)


def _rivals(ranked: Sequence[tuple[Row, Estimate]], adjective: str) -> str:
    """Which of the others the first one cannot be told from: those whose 95 % interval meets its
    own.
    """
    (_, best), *others = ranked
    if not others:
        return ""
    if best.half is None:
        return f"; one seed, so another may be as {adjective}"
    near = [
        row.title
        for row, found in others
        if abs(found.mean - best.mean) <= best.half + (found.half or 0.0)
    ]
    if not near:
        return ""
    names = units.shortened(near, NAMED) if len(near) > NAMED else units.joined(near)
    return f"; {names} may be as {adjective}"


def suspicious(summaries: pd.DataFrame, values: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """By row id, sentences on values outside the range of original and Retrain; they speak of all
    seeds of the row, not of one run.
    """
    found: dict[str, list[str]] = {}
    for each in suspicions(summaries, values):
        found.setdefault(row_id(each.method, each.parameters), []).append(each.sentence)
    return {name: tuple(sentences) for name, sentences in found.items()}
