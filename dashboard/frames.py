"""From the store's frames to what a page shows: pandas in, small frozen records out. No Streamlit, no plotly.

Input frames are those of `mucore.store`: `summaries` (one row a result) and `values` (long: key, metric, value, gap, error). Values are
fractions in 0..1, seconds and bytes; percent and points exist only in the text that `number` and `Cell.text` make.

A row of a table is one method with one set of parameters. Runs that differ only in unlearning or evaluation seed are averaged first, so
that the interval speaks about independent trainings: mean ± t(0.975, n − 1) · s / √n over n training seeds.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from dashboard.describe import MISSING, THIN, Unit, method_names, number, recipe_text, scenario_title, settings_text
from mucore import catalog, variants
from mucore.ranking import suspicions
from mucore.variants import Variant

View = Literal["value", "gap"]

MIA = ("mia_correctness", "mia_confidence", "mia_entropy", "mia_m_entropy", "mia_prob")
POISON = {"asr": "ASR", "fa_true": "FA true"}  # of the depoisoning metrics those that stand in the table, with their heads
# A column is never shaded as if a gap under ten points were an outlier.
SMALLEST_FULL_SHADE = 0.10


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of the results table. `id` is a metric id, or `storage`: persistent plus scratch bytes."""

    id: str
    head: str
    group: str
    unit: Unit
    help: str
    source: str = "value"  # "value", or "published" where the paper gives it too

    @property
    def compared(self) -> bool:
        """Whether nearness to Retrain is what makes a value good; such columns have a gap view."""
        return self.unit == "percent"


@dataclass(frozen=True)
class Estimate:
    """A mean over training seeds with the half width of its 95 % t-interval; `half` is None for a single seed."""

    mean: float
    half: float | None
    seeds: int


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One metric of one row. `reason` is a sentence when `value` (or, for the gap view, `gap`) is missing."""

    value: Estimate | None = None
    gap: Estimate | None = None
    reason: str = ""
    distance: float = 0.0  # |gap| (or l2) as a share of the column's largest, 0..1; what shading draws


@dataclass(frozen=True, kw_only=True)
class Row:
    """One method with one set of parameters, over all its seeds."""

    id: str  # stable across sessions, stands in the URL
    method: str
    title: str
    family: str
    preset: str
    parameters: Mapping[str, Any]
    keys: tuple[str, ...]
    training_seeds: tuple[int, ...]
    unsound: Mapping[str, int]  # runs by status, those that are "ok" left out: {"diverged": 1}
    cells: Mapping[str, Cell]

    @property
    def reference(self) -> bool:
        return self.family == "reference"

    @property
    def status(self) -> str:
        """ "ok", or what happened to how many of its runs: "1 of 3 diverged"."""
        parts = [f"{count} of {len(self.keys)} {status}" if len(self.keys) > 1 else status for status, count in self.unsound.items()]
        return ", ".join(parts) or "ok"


@dataclass(frozen=True, kw_only=True)
class ResultsTable:
    """MUBox's table for one scenario: references first, then methods by family."""

    view: View
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    interval: str  # what stands behind the ±, in words
    frame: pd.DataFrame  # the shown text, for exports
    numbers: pd.DataFrame  # the same in full precision: Method, Training seeds, and for each metric id mean, half width, gap

    @property
    def methods(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if not row.reference)

    def row(self, name: str) -> Row | None:
        return next((row for row in self.rows if row.id == name), None)


@dataclass(frozen=True)
class Answer:
    """One figure above the table: the label, what it is, and a line that keeps it honest."""

    label: str
    value: str
    detail: str


def cell_text(cell: Cell, column: Column, view: View, *, reference: bool) -> tuple[str, str]:
    """The number and, where there is an interval, "± half": ("93.4", "±0.2"), ("50.0", "±>100") where it is wider than all percentages.

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
    same = f"{value:,.{len(text.partition('.')[2])}f}".replace(",", THIN)
    return same if same.strip("0.") or not half else number(half, unit)  # a real spread never reads as nothing


# ------------------------------------------------------------------------------------------------------------------ the results table


def columns(*, class_wise: bool, poison: Sequence[str] = ()) -> tuple[Column, ...]:
    """The columns in MUBox's order; class-wise scenarios add TFA and TRA after FA, poisoned ones the metrics `poison`."""
    accuracy = ["ta", "ra", "fa", *(["tfa", "tra"] if class_wise else [])]
    heads = {"mia_correctness": "Corr.", "mia_confidence": "Conf.", "mia_entropy": "Entr.", "mia_m_entropy": "M-entr.", "mia_prob": "Prob."}
    made = [_column(name, name.upper(), "Accuracy, %", "percent") for name in accuracy]
    made += [_column(name, POISON[name], "Poison, %", "percent") for name in poison]
    made += [_column(name, heads[name], "MIA efficacy, %", "percent") for name in MIA]
    made.append(_column("l2_normalised", "ℓ2", "Weights", "ratio"))
    made.append(_column("rte", "RTE", "Cost", "ratio"))
    made.append(
        Column(
            id="storage",
            head="MB",
            group="Cost",
            unit="MB",
            help="Storage: bytes kept from training on for later requests, plus the most that lay aside while unlearning, in millions.",
        )
    )
    return tuple(made)


def _column(name: str, head: str, group: str, unit: Unit) -> Column:
    card = catalog.metric(name)
    return Column(id=name, head=head, group=group, unit=unit, help=f"{card.title}: {card.meaning}")


def results_table(
    summaries: pd.DataFrame,
    values: pd.DataFrame,
    *,
    view: View,
    class_wise: bool = False,
    sort: str | None = None,
    descending: bool = False,
) -> ResultsTable:
    """The table of the runs in `summaries`, all of one data set, model, recipe, scenario and forget set.

    `sort` is a column id (by distance to Retrain in the gap view); None keeps the paper's order. References stay on top.
    """
    shown = columns(class_wise=class_wise, poison=[name for name in POISON if (values["metric"] == name).any()])
    runs = _with_rows(summaries)
    estimates, reasons = _estimates(runs, values, [column.id for column in shown])
    rows = _titled(_rows(runs, shown, estimates, reasons))
    rows.sort(key=_paper_order)
    rows = _with_distances(rows, shown)
    if sort is not None:
        column = next((c for c in shown if c.id == sort), None)
        if column is not None:
            rows = _sorted(rows, column, view, descending)
    return ResultsTable(
        view=view,
        columns=shown,
        rows=tuple(rows),
        interval=_interval_words(rows),
        frame=_text_frame(rows, shown, view),
        numbers=_number_frame(rows, shown),
    )


def metric_rows(summaries: pd.DataFrame, values: pd.DataFrame, wanted: Sequence[str]) -> tuple[Row, ...]:
    """The rows of the runs, references first, with a cell for each metric of `wanted`; `values` may hold metrics that have no card."""
    runs = _with_rows(summaries)
    shown = [Column(id=name, head=name, group="", unit="ratio", help="") for name in wanted]
    estimates, reasons = _estimates(runs, values, wanted)
    rows = _titled(_rows(runs, shown, estimates, reasons))
    return tuple(sorted(rows, key=_paper_order))


def row_id(method: str, parameters: str) -> str:
    """The row that a run belongs to: the method and its effective parameters, whatever preset they came from."""
    return f"{method}-{hashlib.sha256(parameters.encode()).hexdigest()[:6]}"


def _with_rows(summaries: pd.DataFrame) -> pd.DataFrame:
    runs = summaries.copy()
    runs["row"] = [row_id(method, parameters) for method, parameters in zip(runs["method"], runs["parameters"], strict=True)]
    return runs


def _estimates(
    runs: pd.DataFrame, values: pd.DataFrame, wanted: Sequence[str]
) -> tuple[dict[tuple[str, str], tuple[Estimate | None, Estimate | None]], dict[tuple[str, str], str]]:
    """(row, metric) -> (value, gap), and the first error sentence of each (row, metric)."""
    values = pd.concat([values, _storage(values)], ignore_index=True) if "storage" in wanted else values
    long = values[values["metric"].isin(wanted)].merge(runs[["key", "row", "training_seed"]], on="key")
    long = long.astype({"value": float, "gap": float})
    # unlearning and evaluation seeds first: they are repeats inside one training, not new trainings
    seeds = long.groupby(["row", "metric", "training_seed"], sort=False)[["value", "gap"]].mean()
    spread = seeds.groupby(level=["row", "metric"], sort=False).agg(["mean", "std", "count"])
    made = {
        (str(row), str(metric)): (_estimate(*numbers[:3]), _estimate(*numbers[3:]))
        for (row, metric), numbers in zip(spread.index, spread.to_numpy(float), strict=True)
    }
    failed = long[long["error"].notna()].drop_duplicates(["row", "metric"])
    reasons = {(str(r), str(m)): str(e) for r, m, e in zip(failed["row"], failed["metric"], failed["error"], strict=True)}
    return made, reasons


def _storage(values: pd.DataFrame) -> pd.DataFrame:
    parts = values[values["metric"].isin(["persistent_bytes", "scratch_bytes"])]
    total = parts.groupby("key")["value"].sum(min_count=1)
    return pd.DataFrame({"key": total.index, "metric": "storage", "value": total.to_numpy(float), "gap": np.nan, "error": None})


def _estimate(mean: float, deviation: float, count: float) -> Estimate | None:
    return Estimate(float(mean), half_width(float(deviation), int(count)), int(count)) if count else None


def half_width(deviation: float, count: int) -> float | None:
    """Half of the 95 % t-interval of a mean: t(0.975, n − 1) · s / √n; None below two values, where nothing is known about the spread."""
    return float(stdtrit(count - 1, 0.975)) * deviation / math.sqrt(count) if count > 1 else None


class _Run(NamedTuple):
    row: str
    method: str
    method_preset: str
    parameters: str
    status: str
    key: str
    training_seed: int
    unlearning_seed: int
    evaluation_seed: int


def _rows(
    runs: pd.DataFrame,
    shown: Sequence[Column],
    estimates: Mapping[tuple[str, str], tuple[Estimate | None, Estimate | None]],
    reasons: Mapping[tuple[str, str], str],
) -> list[Row]:
    """The rows in the order of their first runs, without titles that tell variants apart."""
    groups: dict[str, list[_Run]] = {}
    for each in zip(*(runs[name].tolist() for name in _Run._fields), strict=True):
        run = _Run(*each)
        groups.setdefault(run.row, []).append(run)
    return [_row(name, group, shown, estimates, reasons) for name, group in groups.items()]


def _row(
    name: str,
    group: Sequence[_Run],
    shown: Sequence[Column],
    estimates: Mapping[tuple[str, str], tuple[Estimate | None, Estimate | None]],
    reasons: Mapping[tuple[str, str], str],
) -> Row:
    first = group[0]
    title, family = method_names(first.method)
    cells = {}
    for column in shown:
        value, gap = estimates.get((name, column.id), (None, None))
        reason = reasons.get((name, column.id), "")
        if value is None:
            reason = reason or "Not measured in these runs."
        elif gap is None:
            reason = "No gap: the Retrain of this training seed has no value here."
        cells[column.id] = Cell(value=value, gap=gap, reason=reason)
    presets = sorted({run.method_preset for run in group})
    in_order = sorted(group, key=lambda run: (run.training_seed, run.unlearning_seed, run.evaluation_seed))
    return Row(
        id=name,
        method=first.method,
        title=title,
        family=family,
        preset=presets[0] if len(presets) == 1 else " = ".join(presets),
        parameters=json.loads(first.parameters),
        keys=tuple(run.key for run in in_order),
        training_seeds=tuple(dict.fromkeys(run.training_seed for run in in_order)),
        unsound={status: count for status, count in Counter(run.status for run in group).most_common() if status != "ok"},
        cells=cells,
    )


def _titled(rows: list[Row]) -> list[Row]:
    """Rows of one method that differ in settings say how: by preset, or by the settings that differ."""
    made = {row.id: row for row in rows}
    for method in dict.fromkeys(row.method for row in rows):
        mine = [row for row in rows if row.method == method]
        labels = variants.names(method, [Variant(settings=row.parameters, preset=row.preset) for row in mine])
        made |= {row.id: replace(row, title=f"{row.title} ({label})") for row, label in zip(mine, labels, strict=True) if label}
    return list(made.values())


def _paper_order(row: Row) -> tuple[int, int, int, str]:
    families = list(catalog.FAMILIES)
    methods = ["original", *(card.id for card in catalog.methods())]
    presets = ["authors", "tuned"]
    return (
        families.index(row.family) if row.family in families else len(families),
        methods.index(row.method) if row.method in methods else len(methods),
        presets.index(row.preset) if row.preset in presets else len(presets),
        row.title,
    )


def _distance(cell: Cell, column: Column) -> float | None:
    """How far from Retrain, in the column's own unit; cost is no distance, so it is never shaded."""
    if column.compared:
        return None if cell.gap is None else abs(cell.gap.mean)
    if column.id == "l2_normalised":
        return None if cell.value is None else cell.value.mean
    return None


def _with_distances(rows: list[Row], shown: Sequence[Column]) -> list[Row]:
    scale = {}
    for column in shown:
        found = [d for row in rows if not row.reference and (d := _distance(row.cells[column.id], column)) is not None]
        scale[column.id] = max([SMALLEST_FULL_SHADE if column.compared else 1.0, *found])  # l2: as far away as Retrain is long
    return [
        row
        if row.reference
        else replace(
            row,
            cells={c.id: replace(row.cells[c.id], distance=(_distance(row.cells[c.id], c) or 0.0) / scale[c.id]) for c in shown},
        )
        for row in rows
    ]


def _sorted(rows: list[Row], column: Column, view: View, descending: bool) -> list[Row]:
    references = [row for row in rows if row.reference]
    methods = [row for row in rows if not row.reference]

    def size(row: Row) -> float | None:
        cell = row.cells[column.id]
        if view == "gap" and column.compared:
            return None if cell.gap is None else abs(cell.gap.mean)
        return None if cell.value is None else cell.value.mean

    known = sorted((row for row in methods if size(row) is not None), key=lambda row: size(row) or 0.0, reverse=descending)
    return references + known + [row for row in methods if size(row) is None]


def _interval_words(rows: Sequence[Row]) -> str:
    counts = [cell.value.seeds for row in rows for cell in row.cells.values() if cell.value is not None]
    if not counts:
        return "No values yet."
    least, most = min(counts), max(counts)
    if most == 1:
        return "One training seed, so no interval."
    span = f"{most} training seeds" if least == most else f"{least} to {most} training seeds"
    return f"± is the half width of the 95 % t-interval over {span}; unlearning and evaluation seeds are averaged first."


def _text_frame(rows: Sequence[Row], shown: Sequence[Column], view: View) -> pd.DataFrame:
    made = []
    for row in rows:
        line = {"Family": catalog.FAMILIES.get(row.family, "Other"), "Method": row.title}
        for column in shown:
            text, half = cell_text(row.cells[column.id], column, view, reference=row.reference)
            # no thin spaces in a file: a spreadsheet would read the number as text
            line[plain_head(column)] = f"{text} {half.replace('±', '± ')}".strip().replace(THIN, "")
        made.append(line | {"Status": row.status})
    return pd.DataFrame(made, columns=["Family", "Method", *(plain_head(column) for column in shown), "Status"])


def plain_head(column: Column) -> str:
    """The column head with its group and unit, for a file where no second head line stands above it."""
    if column.id in MIA:
        return f"MIA {column.id.removeprefix('mia_').replace('_', '-')} (%)"
    return {"percent": f"{column.head} (%)", "MB": "Storage (MB)"}.get(column.unit, column.head)


def _number_frame(rows: Sequence[Row], shown: Sequence[Column]) -> pd.DataFrame:
    made = []
    for row in rows:
        line: dict[str, Any] = {"method": row.method, "title": row.title, "status": row.status, "training_seeds": len(row.training_seeds)}
        for column in shown:
            cell = row.cells[column.id]
            line[column.id] = cell.value.mean if cell.value else math.nan
            line[f"{column.id}_half"] = cell.value.half if cell.value and cell.value.half is not None else math.nan
            if column.compared:
                line[f"{column.id}_gap"] = cell.gap.mean if cell.gap else math.nan
        made.append(line)
    return pd.DataFrame(made)


# ----------------------------------------------------------------------------------------------------------- the answer above the table


def suspicious(summaries: pd.DataFrame, values: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """By row id, sentences on values outside the range of original and Retrain; they speak of all seeds of the row, not of one run."""
    found: dict[str, list[str]] = {}
    for each in suspicions(summaries, values):
        found.setdefault(row_id(each.method, each.parameters), []).append(each.sentence)
    return {name: tuple(sentences) for name, sentences in found.items()}


def average_gap(row: Row) -> float | None:
    """Mean |gap to Retrain| over the percent columns, 0..1; None unless every one of them is there, so that rows stay comparable."""
    gaps = [cell.gap for name, cell in row.cells.items() if name not in ("l2_normalised", "rte", "storage")]
    found = [gap.mean for gap in gaps if gap is not None]
    return float(np.mean(np.abs(found))) if found and len(found) == len(gaps) else None


def answers(table: ResultsTable, *, flagged: int = 0, outside: int = 0) -> tuple[Answer, ...]:
    """Closest to Retrain, best utility, cheapest, and what needs a second look. `flagged` counts runs with a sanity flag, `outside` rows
    with a value outside the range of original and Retrain.

    Only rows whose runs all ended well compete.
    """
    sound = [row for row in table.methods if not row.unsound]
    made = []
    if near := [(gap, row) for row in sound if (gap := average_gap(row)) is not None]:
        gap, row = min(near, key=lambda pair: pair[0])
        made.append(Answer("Closest to Retrain", row.title, f"{number(gap, 'percent')} points away on average, accuracies and MIA"))
    if useful := [(value.mean, row) for row in sound if (value := row.cells["ta"].value) is not None]:
        best, row = max(useful, key=lambda pair: pair[0])
        forgotten = row.cells["fa"].gap
        detail = f"TA {number(best, 'percent')} %"
        made.append(
            Answer(
                "Best utility",
                row.title,
                f"{detail}, FA {number(forgotten.mean, 'percent', signed=True)} points from Retrain" if forgotten else detail,
            )
        )
    if cheap := [(value.mean, row) for row in sound if (value := row.cells["rte"].value) is not None]:
        cost, row = min(cheap, key=lambda pair: pair[0])
        made.append(Answer("Cheapest", row.title, f"{number(cost, 'ratio')} of Retrain's time"))
    unsound = sum(count for row in table.rows for count in row.unsound.values())
    parts = []
    if unsound:
        parts.append(f"{unsound} {'run' if unsound == 1 else 'runs'} diverged or reverted")
    if flagged:
        parts.append(f"{flagged} with a sanity flag")
    if outside:
        parts.append(f"{outside} {'line' if outside == 1 else 'lines'} outside original and Retrain")
    made.append(Answer("Look twice", str(unsound + flagged + outside), ", ".join(parts) or "no run diverged, no sanity flag"))
    return tuple(made)


# ------------------------------------------------------------------------------------------------------------------ selectors, method page


def setups(summaries: pd.DataFrame, column: str, **fixed: str) -> list[str]:
    """The distinct values of `column` among unlearning runs that match `fixed`: most methods first, then most runs, then by name."""
    chosen = summaries[summaries["scenario"].notna()]
    for name, value in fixed.items():
        chosen = chosen[chosen[name] == value]
    groups = chosen.groupby(column)
    methods, runs = groups["method"].nunique(), groups.size()
    return [str(name) for name in sorted(runs.index, key=lambda name: (-int(methods[name]), -int(runs[name]), str(name)))]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One method in one setting: data set, model, scenario, forget set; `label` is unique in its list."""

    label: str
    scenario: str
    title: str  # of the table row, so that variants of the parameters stay apart
    cells: Mapping[str, Cell]
    runs: int


def method_settings(summaries: pd.DataFrame, values: pd.DataFrame, *, method: str) -> tuple[Setting, ...]:
    """What `method` reached everywhere: one entry for each setting and set of parameters, in the catalogue's order of scenarios.

    `summaries` holds at least all runs of `method` with a scenario.
    """
    runs = summaries[(summaries["method"] == method) & summaries["scenario"].notna()]
    order = [card.id for card in catalog.scenarios()]
    made = []
    several = len(runs[["dataset", "model", "recipe"]].drop_duplicates()) > 1
    grouped = runs.groupby(["dataset", "model", "recipe", "scenario", "scenario_parameters"], sort=True)
    for (dataset, model, recipe, scenario, parameters), group in grouped:
        known = str(scenario) in order
        table = results_table(
            group, values[values["key"].isin(group["key"])], view="value", class_wise=known and catalog.scenario(str(scenario)).class_wise
        )
        for row in table.rows:
            title = scenario_title(str(scenario)) if known else str(scenario)
            alike = [p for p, s in zip(runs["scenario_parameters"], runs["scenario"], strict=True) if s == scenario and p != parameters]
            parts = [title]
            if alike:
                parts.append(settings_text(str(parameters)))
            if several:
                parts.append(f"{dataset}, {model}, {recipe_text(str(recipe))}")
            if len(table.rows) > 1:
                parts.append(row.title.partition("(")[2].rstrip(")"))
            made.append(Setting(label=" · ".join(parts), scenario=str(scenario), title=row.title, cells=row.cells, runs=len(row.keys)))
    return tuple(sorted(made, key=lambda s: (order.index(s.scenario) if s.scenario in order else len(order), s.label)))


def settings_frame(settings: Sequence[Setting]) -> pd.DataFrame:
    """The method page's table: one line a setting, text as shown."""
    shown = [
        ("ta", "gap", "TA gap"),
        ("ra", "gap", "RA gap"),
        ("fa", "gap", "FA gap"),
        ("rte", "value", "RTE"),
        ("l2_normalised", "value", "ℓ2"),
    ]
    made = []
    for setting in settings:
        line: dict[str, Any] = {"Setting": setting.label, "Runs": setting.runs}
        for name, view, head in shown:
            cell = setting.cells[name]
            estimate = cell.gap if view == "gap" else cell.value
            unit: Unit = "percent" if view == "gap" else "ratio"
            line[head] = number(estimate.mean if estimate else None, unit, signed=view == "gap")
        made.append(line)
    return pd.DataFrame(made, columns=["Setting", "Runs", *(head for _, _, head in shown)])
