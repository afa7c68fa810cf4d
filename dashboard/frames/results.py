"""MUBox's table of one scenario: its columns, its rows in order, the text of each cell, and the
same as frames for files.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import pandas as pd

from dashboard.frames.rows import Cell, Row, metric_rows, nearest_first, noise
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

    @property
    def short(self) -> tuple[Column, ...]:
        """The columns that a reader needs first: distance, FA, and TRA, else TA."""
        known = {column.id: column for column in self.columns}
        names = (DISTANCE, "fa", "tra" if "tra" in known else "ta")
        return tuple(known[name] for name in names if name in known)

    def nearest(self, most: int) -> tuple[Row, ...]:
        """Retrain, and the methods that are nearest to it, those that forgot first, none that
        cheats.
        """
        honest = [row for row in self.methods if row.verdict is None or not row.verdict.cheats]
        near = [row for row in nearest_first(honest) if row.away is not None]
        return (*(row for row in self.rows if row.method == "retrain"), *near[:most])

    def row(self, name: str) -> Row | None:
        return next((row for row in self.rows if row.id == name), None)


# The columns in MUBox's order: group, unit, heads by id.
GROUPS: Final[tuple[tuple[str, Unit, Mapping[str, str]], ...]] = (
    ("To Retrain", "percent", {DISTANCE: "Distance"}),
    ("Accuracy, %", "percent", {name: name.upper() for name in ("ta", "ra", "fa", "tfa", "tra")}),
    ("Poison, %", "percent", POISON),
    (
        "MIA efficacy, %",
        "percent",
        dict(zip(MIA, ("Corr.", "Conf.", "Entr.", "M-entr.", "Prob."), strict=True)),
    ),
    ("Weights", "ratio", {"l2_normalised": "ℓ2"}),
    ("Cost", "ratio", {"rte": "RTE", "rte_work": "Work"}),
    ("Cost", "MB", {"storage": "MB"}),
)
HELP: Final[Mapping[str, str]] = {
    DISTANCE: DISTANCE_MEANING,
    "storage": "Storage in MB: what is kept since training for later requests, plus peak scratch "
    "space while unlearning.",
}


def columns(
    *, class_wise: bool, poison: Sequence[str] = (), distance: bool = False, work: bool = False
) -> tuple[Column, ...]:
    """The columns in MUBox's order; class-wise scenarios add TFA and TRA after FA, poisoned ones
    the metrics `poison`.

    With `distance`, the distance to Retrain stands first; with `work`, which results of mucore 0.2
    and earlier lack, it stands beside the time.
    """
    left = {
        *(() if distance else (DISTANCE,)),
        *(() if class_wise else ("tfa", "tra")),
        *(() if work else ("rte_work",)),
        *(name for name in POISON if name not in poison),
    }
    return tuple(
        Column(id=name, head=head, group=group, unit=unit, help=HELP.get(name) or _help(name))
        for group, unit, heads in GROUPS
        for name, head in heads.items()
        if name not in left
    )


def _help(metric: str) -> str:
    title, text = metric_text(metric)
    return f"{title}. {text}"


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
    rows = [_with_distance_cell(row) for row in found] if judged else list(found)
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


def _size(cell: Cell, column: Column) -> float | None:
    """What a column is sorted by: where nearness to Retrain counts, the size of the gap."""
    estimate = cell.gap if column.compared else cell.value
    return None if estimate is None else abs(estimate.mean)


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


def shades(table: ResultsTable) -> pd.DataFrame:
    """How far from Retrain each method is (index: row id) in each column that compares with it, as
    a share of the column's farthest, 0..1. A gap under ten points, or half of Retrain's length of
    weights between two methods, is never shaded as if it were an outlier.
    """
    shown = [c for c in table.columns if c.compared or c.id in (DISTANCE, "l2_normalised")]
    away = pd.DataFrame(
        {c.id: [_size(row.cells[c.id], c) for row in table.methods] for c in shown},
        index=[row.id for row in table.methods],
        dtype=float,
    )
    # all weights lie far from Retrain's, so there the shade begins at the nearest method: a column
    # of one colour would say nothing
    away["l2_normalised"] -= away["l2_normalised"].min()
    least = {name: 0.5 if name == "l2_normalised" else 0.1 for name in away}
    return away / away.max().clip(lower=pd.Series(least))


def _sorted(rows: list[Row], column: Column, descending: bool) -> list[Row]:
    references = [row for row in rows if row.reference]
    methods = [row for row in rows if not row.reference]
    sizes = {row.id: _size(row.cells[column.id], column) for row in methods}
    known = [row for row in methods if sizes[row.id] is not None]
    known.sort(key=lambda row: sizes[row.id] or 0.0, reverse=descending)
    return references + known + [row for row in methods if sizes[row.id] is None]


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
    counts = [cell.value.seeds for row in rows for cell in row.cells.values() if cell.value]
    least, most = min(counts, default=0), max(counts, default=0)
    if most < 2:
        return "One training seed, so no interval." if most else "No values yet."
    span = f"{most}" if least == most else f"{least} to {most}"
    return f"±: half of the 95 % t-interval over {span} training seeds, not cut at 0 and 100 %."


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
