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
from mucore.verdicts.text import doubt

NAMED = 2  # of the methods that may be as good
SAME = 0.01  # one point: nearer than that, two accuracies are called the same


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


def story(table: ResultsTable, what: str, count: int) -> tuple[str, str]:
    """A headline and a paragraph for readers who have never seen the table: how many methods forgot
    `what`, its `count` samples; which came nearest to Retrain, and for how much of its time. Where
    none qualifies, why. Empty without a method that was judged.
    """
    found, methods = (
        verdicts.qualified(table.methods),
        {row.method for row in table.methods if row.verdict},
    )
    forgot = {row.method for row in found}
    if not methods:
        return "", ""
    if not found:
        none = f"None of the {units.count(len(methods), 'method')}"
        return f"{none} can be said to have forgotten {what}", verdicts.why_none(table.methods)
    head = f"{len(forgot)} of {units.count(len(methods), 'method')} made the model forget {what}"
    unsure = len(forgot - {row.method for row in found if _shown(row)})
    known = len(forgot - {row.method for row in found if _not_on_outputs(row)})
    if caveat := doubt(unsure, len(forgot), known=known).lstrip(",; "):
        head += f" ({caveat})"
    said = [
        (
            "The measure is Retrain, a model trained again without these "
            f"{units.count(count, 'sample')}."
        )
    ]
    if near := verdicts.nearest(found):
        row = near[0]
        cost = row.cells["rte"].value
        time = f" and took {number(100 * cost.mean, 'ratio')} % of its time" if cost else ""
        said.append(
            f"Of the methods {verdicts.that_forgot(found)} {row.title} came nearest to it: it "
            f"ended {_points(row.away or 0.0)} away on average{time}."
        )
    original = next((row.distance for row in table.rows if row.method == "original"), None)
    if original is not None:
        said.append(f"The model before forgetting was {_points(original.mean)} away.")
    return head, " ".join(said)


def misled(table: ResultsTable) -> str:
    """Where accuracy alone would choose wrongly, by the lines of the table: no method has a better
    test accuracy than one that did not forget, and one with Retrain's forget accuracy damaged the
    model. "" where neither is so.
    """
    judged = [row for row in table.methods if row.verdict is not None and not row.unsound]
    found = [_useful_and_idle(judged), _forgotten_and_damaged(judged)]
    return " ".join(filter(None, found))


def _useful_and_idle(rows: Sequence[Row]) -> str:
    ranked = _ranked(rows, lambda row: row.cells["ta"].value, descending=True)
    row, best = ranked[0] if ranked else (None, None)
    if row is None or best is None or row.verdict is None or row.verdict.word not in verdicts.SHORT:
        return ""
    left, gap = row.cells["fa"].value, row.cells["ta"].gap
    if left is None or gap is None or gap.mean < 0:
        return ""
    return (
        f"No method has a better test accuracy than {row.title}, {_percent(best.mean)} where "
        f"Retrain has {_percent(best.mean - gap.mean)}; but it still names {_percent(left.mean)} "
        f"of the forgotten samples right: it {verdicts.VERBS[row.verdict.word]}."
    )


def _forgotten_and_damaged(rows: Sequence[Row]) -> str:
    gone = [
        row
        for row in rows
        if row.verdict is not None
        and row.verdict.word == "damaged"
        and (gap := row.cells["fa"].gap) is not None
        and abs(gap.mean) < SAME
    ]
    kept = "tra" if any("tra" in row.cells for row in gone) else "ta"
    ranked = _ranked(gone, lambda row: row.cells[kept].gap)
    row, gap = ranked[0] if ranked else (None, None)
    if row is None or gap is None or gap.mean > -SAME:
        return ""
    left, others = row.cells["fa"], row.cells[kept]
    if not (left.value and left.gap and others.value):
        return ""
    which = "test samples" if kept == "ta" else "test samples of the other classes"
    return (
        f"{row.title} names {_percent(left.value.mean)} of the forgotten samples right, Retrain "
        f"{_percent(left.value.mean - left.gap.mean)}; but of the {which} only "
        f"{_percent(others.value.mean)}, Retrain {_percent(others.value.mean - gap.mean)}: it "
        f"{verdicts.VERBS['damaged']}."
    )


def _percent(share: float) -> str:
    return f"{number(share, 'percent')} %"


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
