"""MUBox's table of one scenario: its columns, its rows in order, the text of each cell, and the
same as frames for files.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import pandas as pd

from dashboard.frames.rows import Cell, Row, metric_rows, noise
from dashboard.papers.tables import Published
from dashboard.text import verdicts
from dashboard.text.labels import MISSING, Unit, for_file, metric_text, number
from mucore import catalog
from mucore.verdicts import WORDS, Judged

View = Literal["value", "gap"]
DISTANCE = "distance"  # the column of `Row.distance`, there where verdicts are
FAMILY = "family"  # as `sort`: the paper's order, methods by family
NOISE = "Retrain, 95 % band"  # of other training seeds: the line above all others
VERDICT = "verdict"  # as `sort`: what forgot first, each word from the nearest on
USUAL = VERDICT  # of the table of Results, whose first lines are what a reader takes away

MIA = ("mia_correctness", "mia_confidence", "mia_entropy", "mia_m_entropy", "mia_prob")
# of the depoisoning metrics those that stand in the table, with their heads
POISON = {"asr": "ASR", "fa_true": "FA true"}
# A column is never shaded as if a gap under ten points, or half of Retrain's length of weights
# between two methods, were an outlier.
SMALLEST_FULL_SHADE = 0.10
SMALLEST_FULL_SPREAD = 0.5


DISTANCE_MEANING = next(
    f"{card.title}. {card.meaning}" for card in catalog.verdicts() if card.id == DISTANCE
)


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of the results table. `id` is a metric id, or `storage`: persistent plus scratch
    bytes.
    """

    id: str
    head: str
    group: str
    unit: Unit
    help: str
    source: str = "value"  # "value", or "published" where the paper gives it too

    @property
    def compared(self) -> bool:
        """Whether nearness to Retrain is what makes a value good; such columns have a gap view."""
        return self.unit == "percent" and self.id != DISTANCE


@dataclass(frozen=True, kw_only=True)
class ResultsTable:
    """MUBox's table for one scenario: references first, then methods by family. `noise` is half
    of the 95 % band of Retrains of other seeds, by column that compares with Retrain; empty with
    fewer than two.
    """

    view: View
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    interval: str  # what stands behind the ±, in words
    frame: pd.DataFrame  # the shown text, for exports
    # the same in full precision: Method, Training seeds, and for each metric id mean, half width,
    # gap
    numbers: pd.DataFrame
    noise: Mapping[str, float] = field(default_factory=dict)

    @property
    def methods(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if not row.reference)

    def row(self, name: str) -> Row | None:
        return next((row for row in self.rows if row.id == name), None)


def columns(
    *, class_wise: bool, poison: Sequence[str] = (), distance: bool = False, work: bool = False
) -> tuple[Column, ...]:
    """The columns in MUBox's order; class-wise scenarios add TFA and TRA after FA, poisoned ones
    the metrics `poison`.

    With `distance`, the distance to Retrain stands first; with `work`, which results of mucore 0.2
    and earlier lack, it stands beside the time.
    """
    accuracy = ["ta", "ra", "fa", *(["tfa", "tra"] if class_wise else [])]
    heads = {
        "mia_correctness": "Corr.",
        "mia_confidence": "Conf.",
        "mia_entropy": "Entr.",
        "mia_m_entropy": "M-entr.",
        "mia_prob": "Prob.",
    }
    made = (
        [
            Column(
                id=DISTANCE,
                head="Distance",
                group="To Retrain",
                unit="percent",
                help=DISTANCE_MEANING,
            )
        ]
        if distance
        else []
    )
    made += [_column(name, name.upper(), "Accuracy, %", "percent") for name in accuracy]
    made += [_column(name, POISON[name], "Poison, %", "percent") for name in poison]
    made += [_column(name, heads[name], "MIA efficacy, %", "percent") for name in MIA]
    made.append(_column("l2_normalised", "ℓ2", "Weights", "ratio"))
    made.append(_column("rte", "RTE", "Cost", "ratio"))
    made += [_column("rte_work", "Work", "Cost", "ratio")] if work else []
    made.append(
        Column(
            id="storage",
            head="MB",
            group="Cost",
            unit="MB",
            help="Storage, in millions of bytes: what is kept from training on for later requests, "
            "plus the most held at one time while unlearning.",
        )
    )
    return tuple(made)


def _column(name: str, head: str, group: str, unit: Unit) -> Column:
    title, text = metric_text(name)
    return Column(id=name, head=head, group=group, unit=unit, help=f"{title}. {text}")


def results_table(
    summaries: pd.DataFrame,
    values: pd.DataFrame,
    *,
    view: View,
    class_wise: bool = False,
    sort: str | None = None,
    descending: bool = False,
    judged: Mapping[str, Judged] | None = None,
    pinned: Collection[str] = (),
) -> ResultsTable:
    """The table of the runs in `summaries`, all of one data set, model, recipe, scenario and forget
    set.

    With `judged` (`data.judged`) there is a column "distance", and rows have verdicts. `sort` is a
    column id, ascending from what is ideal: where nearness to Retrain counts, by the size of the
    gap. `VERDICT` sorts by word. None sorts by distance to Retrain, and keeps the paper's order, as
    `FAMILY` does, where there is no such column. References stay on top, methods that are `pinned`
    follow, in the same order among themselves.
    """
    shown = columns(
        class_wise=class_wise,
        poison=[name for name in POISON if (values["metric"] == name).any()],
        distance=bool(judged),
        work=bool((values["metric"] == "rte_work").any()),
    )
    found = metric_rows(
        summaries, values, [column.id for column in shown if column.id != DISTANCE], judged=judged
    )
    rows = _with_distances([_with_distance_cell(row) for row in found] if judged else found, shown)
    column = next((c for c in shown if c.id == (sort or DISTANCE)), None)
    if sort == VERDICT and judged:
        rows = by_verdict(rows, descending)
    elif column is not None:
        rows = _sorted(rows, column, descending)
    if pinned:
        rows = sorted(rows, key=lambda row: (not row.reference, row.method not in pinned))
    noises = _noises(rows, shown)
    return ResultsTable(
        view=view,
        columns=shown,
        rows=tuple(rows),
        interval=_interval_words(rows),
        frame=_text_frame(rows, shown, view, noises),
        numbers=_number_frame(rows, shown),
        noise=noises,
    )


def _noises(rows: Sequence[Row], shown: Sequence[Column]) -> dict[str, float]:
    found = {column.id: noise(rows, column.id) for column in shown if column.compared}
    return {name: half for name, half in found.items() if half is not None}


def noise_text(table: ResultsTable, column: Column) -> str:
    """What the line of Retrain against Retrain says in a column, "" for nothing."""
    band = table.noise.get(column.id)
    return "" if band is None else f"±{number(band, column.unit)}"


def _distance(cell: Cell, column: Column) -> float | None:
    """How far from Retrain, in the column's own unit; cost is no distance, so it is never
    shaded.
    """
    if column.compared:
        return None if cell.gap is None else abs(cell.gap.mean)
    if column.id in ("l2_normalised", DISTANCE):
        return None if cell.value is None else cell.value.mean
    return None


def _with_distance_cell(row: Row) -> Row:
    reason = (
        ""
        if row.distance
        else (
            "A metric that the distance rests on is missing here or in the Retrain of the same "
            "training seed."
        )
    )
    return replace(row, cells={**row.cells, DISTANCE: Cell(value=row.distance, reason=reason)})


def _with_distances(rows: Sequence[Row], shown: Sequence[Column]) -> list[Row]:
    start, scale = {}, {}
    for column in shown:
        found = [
            d
            for row in rows
            if not row.reference and (d := _distance(row.cells[column.id], column)) is not None
        ]
        # all weights lie far from Retrain's, so there the shade begins at the nearest method: a
        # column of one colour would say nothing
        start[column.id] = min(found, default=0.0) if column.id == "l2_normalised" else 0.0
        least = SMALLEST_FULL_SPREAD if column.id == "l2_normalised" else SMALLEST_FULL_SHADE
        scale[column.id] = max([least, *(distance - start[column.id] for distance in found)])
    return [
        row
        if row.reference
        else replace(
            row,
            cells={
                c.id: replace(
                    row.cells[c.id],
                    distance=_share(_distance(row.cells[c.id], c), start[c.id], scale[c.id]),
                )
                for c in shown
            },
        )
        for row in rows
    ]


def _share(distance: float | None, start: float, scale: float) -> float:
    return 0.0 if distance is None else (distance - start) / scale


def _sorted(rows: list[Row], column: Column, descending: bool) -> list[Row]:
    references = [row for row in rows if row.reference]
    methods = [row for row in rows if not row.reference]

    def size(row: Row) -> float | None:
        cell = row.cells[column.id]
        if column.compared:
            return None if cell.gap is None else abs(cell.gap.mean)
        return None if cell.value is None else cell.value.mean

    known = sorted(
        (row for row in methods if size(row) is not None),
        key=lambda row: size(row) or 0.0,
        reverse=descending,
    )
    return references + known + [row for row in methods if size(row) is None]


def by_verdict(rows: Sequence[Row], descending: bool = False) -> list[Row]:
    """References first, then by word, each word from the nearest to Retrain on."""

    def place(row: Row) -> tuple[bool, int, bool, float]:
        word = len(WORDS) if row.verdict is None else WORDS.index(row.verdict.word)
        away = math.inf if row.distance is None else row.distance.mean
        return (
            row.verdict is not None and row.verdict.cheats,  # apart, whatever its numbers say
            -word if descending else word,
            row.verdict is not None and row.verdict.provisional,
            away,
        )

    return [row for row in rows if row.reference] + sorted(
        (row for row in rows if not row.reference), key=place
    )


def next_order(now: str, clicked: str) -> str | None:
    """What a click on a head makes of the order `now`: from the ideal on, then the other way, then
    the usual one, which is None.

    The paper's order has no other way.
    """
    if now == clicked and clicked != FAMILY:
        return f"-{clicked}"
    return None if now in (clicked, f"-{clicked}") or clicked == USUAL else clicked


def _interval_words(rows: Sequence[Row]) -> str:
    counts = [
        cell.value.seeds for row in rows for cell in row.cells.values() if cell.value is not None
    ]
    if not counts:
        return "No values yet."
    least, most = min(counts), max(counts)
    if most == 1:
        return "One training seed, so no interval."
    span = f"{most} training seeds" if least == most else f"{least} to {most} training seeds"
    return (
        f"± is the half width of the 95 % t-interval over {span}; unlearning and evaluation seeds "
        "are averaged first."
    )


def cell_text(cell: Cell, column: Column, view: View, *, reference: bool) -> tuple[str, str]:
    """The number and, where there is an interval, "± half": ("93.4", "±0.2"), ("50.0", "±>100")
    where it is wider than all percentages.

    References show values in both views.
    """
    gap = view == "gap" and column.compared and not reference
    shown = cell.gap if gap else cell.value
    if shown is None:
        return MISSING, ""
    # RTE of Retrain is 1 by definition: an interval of exactly nothing is no news
    text = number(shown.mean, column.unit, signed=gap)
    if shown.half is None or (shown.half == 0 and column.unit != "percent"):
        return text, ""
    if column.unit == "percent" and shown.half >= 1:
        return text, "±>100"  # two seeds far apart: all that is known is that more are needed
    return text, f"±{_as_fine_as(text, shown.half, column.unit)}"


def _as_fine_as(text: str, half: float, unit: Unit) -> str:
    """A half width with as many decimals as the number that it belongs to."""
    if unit == "percent" or "e" in text:
        return number(half, unit)
    value = half / 1e6 if unit == "MB" else half
    same = f"{value:,.{len(text.partition('.')[2])}f}"
    # a real spread never reads as nothing
    return same if same.strip("0.") or not half else f"<{same[:-1]}1"


def plain_head(column: Column) -> str:
    """The column head with its group and unit, for a file where no second head line stands above
    it.
    """
    if column.id in MIA:
        return f"MIA {column.id.removeprefix('mia_').replace('_', '-')} (%)"
    if column.id == DISTANCE:
        return "Distance (points)"
    return {"percent": f"{column.head} (%)", "MB": "Storage (MB)"}.get(column.unit, column.head)


def with_paper(table: ResultsTable, paper: Published) -> pd.DataFrame:
    """The table's text with the paper's columns behind ours, those that it prints for any line."""
    frame = table.frame.copy()
    for column in table.columns:
        texts = [
            for_file(paper.text(row.method, column, table.view, reference=row.reference))
            for row in table.rows
        ]
        if any(texts):
            texts = [""] * bool(table.noise) + texts
            frame[f"{plain_head(column)}, {paper.source}"] = texts
    return frame


def verdict_text(row: Row) -> str:
    """The word, with a question mark where it is an indication; nothing for Retrain."""
    return "" if row.verdict is None else verdicts.text(row.verdict)


def _text_frame(
    rows: Sequence[Row], shown: Sequence[Column], view: View, noises: Mapping[str, float]
) -> pd.DataFrame:
    judged = any(row.verdict for row in rows)
    made: list[dict[str, str]] = []
    if noises:
        made.append(
            {"Family": catalog.FAMILIES["reference"], "Method": NOISE, "Status": ""}
            | ({"Verdict": ""} if judged else {})
            | {
                plain_head(column): f"± {number(noises[column.id], column.unit)}"
                if column.id in noises
                else ""
                for column in shown
            }
        )
    for row in rows:
        line = {"Family": catalog.FAMILIES.get(row.family, "Other"), "Method": row.title}
        line |= {"Verdict": verdict_text(row)} if judged else {}
        for column in shown:
            text, half = cell_text(row.cells[column.id], column, view, reference=row.reference)
            line[plain_head(column)] = for_file(f"{text} {half.replace('±', '± ')}".strip())
        made.append(line | {"Status": row.status})
    return pd.DataFrame(
        made,
        columns=[
            "Family",
            "Method",
            *(["Verdict"] if judged else []),
            *(plain_head(column) for column in shown),
            "Status",
        ],
    )


def _number_frame(rows: Sequence[Row], shown: Sequence[Column]) -> pd.DataFrame:
    made = []
    for row in rows:
        line: dict[str, Any] = {
            "method": row.method,
            "title": row.title,
            "status": row.status,
            "training_seeds": len(row.training_seeds),
        }
        if row.verdict is not None:
            line |= {
                f"verdict_{name}" if name != "word" else "verdict": it
                for name, it in row.verdict.content().items()
            }
        for column in shown:
            cell = row.cells[column.id]
            line[column.id] = cell.value.mean if cell.value else math.nan
            line[f"{column.id}_half"] = (
                cell.value.half if cell.value and cell.value.half is not None else math.nan
            )
            if column.compared:
                line[f"{column.id}_gap"] = cell.gap.mean if cell.gap else math.nan
        made.append(line)
    return pd.DataFrame(made)
