"""Runs of one scenario at several sizes of the forget set: what every method reached at each size.
No Streamlit, no plotly.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from dashboard import frames
from dashboard.frames.launch_settings import launch_settings, typed
from dashboard.text import units, verdicts
from dashboard.text.labels import THIN, Unit, method_names, nearest_preset, number, short_id
from mucore import catalog
from mucore.spec.run import scenario_revision
from mucore.verdicts import Judged, Verdict

# parameters of scenarios that say how much is forgotten, and nothing else
AMOUNTS = ("budget", "fraction")
# of Figures 3 and 4; as shares they mean the same on other data
MUBOX_BUDGETS = (0.02, 0.05, 0.1, 0.2)
UNITS: Mapping[str, Unit] = {
    "fraction": "percent",
    "seconds": "seconds",
    "bytes": "MB",
    "count": "count",
}


@dataclass(frozen=True, kw_only=True)
class Step:
    """One method at one size: its row of the results there."""

    count: int
    row: frames.Row
    spread: tuple[float, float] | None = None  # of distances of all its seeds, 0..1

    @property
    def cells(self) -> Mapping[str, frames.Cell]:
        """By metric id."""
        return self.row.cells

    @property
    def keys(self) -> tuple[str, ...]:
        """Of its runs, by seed."""
        return self.row.keys

    @property
    def seeds(self) -> int:
        """How many trainings it was run on."""
        return len(self.row.training_seeds)

    @property
    def status(self) -> str:
        """ "ok", or what happened to its runs."""
        return self.row.status

    @property
    def verdict(self) -> Verdict | None:
        """None for Retrain, and where nobody asked."""
        return self.row.verdict

    @property
    def distance(self) -> frames.Estimate | None:
        """To Retrain, 0..1."""
        return self.row.distance

    @property
    def qualified(self) -> bool:
        """Whether the method forgot at this size, and its runs ended well."""
        return self.status == "ok" and self.verdict is not None and self.verdict.qualified

    @property
    def said(self) -> str:
        return "" if self.verdict is None else verdicts.text(self.verdict)


@dataclass(frozen=True, kw_only=True)
class Line:
    """One method with one set of parameters over the sizes that it has runs of, smallest first."""

    id: str
    method: str
    title: str
    family: str
    steps: tuple[Step, ...]

    @property
    def reference(self) -> bool:
        return self.family == "reference"

    @property
    def sound(self) -> bool:
        return all(step.status == "ok" for step in self.steps)

    def step(self, count: int) -> Step | None:
        return next((step for step in self.steps if step.count == count), None)

    @property
    def distance(self) -> float | None:
        """To Retrain, the mean over its sizes; None where one of them has none."""
        known = [step.distance.mean for step in self.steps if step.distance is not None]
        return float(np.mean(known)) if known and len(known) == len(self.steps) else None

    @property
    def order(self) -> float:
        """By distance to Retrain, those without one last."""
        return math.inf if self.distance is None else self.distance


@dataclass(frozen=True, kw_only=True)
class Curves:
    """Lines in the paper's order, references first. `sizes`: samples to forget, ascending -> the
    share that was asked for, in words.
    """

    metrics: tuple[str, ...]
    sizes: Mapping[int, str]
    lines: tuple[Line, ...]

    @property
    def methods(self) -> tuple[Line, ...]:
        return tuple(line for line in self.lines if not line.reference)

    def reference(self, method: str) -> Line | None:
        return next((line for line in self.lines if line.method == method and line.reference), None)

    def line_of(self, key: str) -> str:
        """The id of the line that a run is part of, "" for none."""
        lines = (line for line in self.lines for step in line.steps if key in step.keys)
        return next((line.id for line in lines), "")


def scenarios() -> tuple[str, ...]:
    """The scenarios whose card says how much is forgotten, as a share or a number of samples."""
    return tuple(
        card.id
        for card in catalog.scenarios()
        if any(each.name in AMOUNTS for each in card.parameters)
    )


def panels(summaries: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The runs of each scenario and forget set that differ in `AMOUNTS` alone, where some method
    has two sizes or more: by the scenario's id, further forget sets of it by that and their own.
    """
    found = {}
    for scenario in scenarios():
        groups = [
            group for group in _sets(summaries[summaries["scenario"] == scenario]) if grows(group)
        ]
        groups.sort(key=lambda each: -each["forget_count"].nunique())
        for place, each in enumerate(groups):
            name = short_id(rest(str(each.iloc[0]["scenario_parameters"])))
            found[f"{scenario}.{name}" if place else scenario] = each
    return found


def grown(summaries: pd.DataFrame) -> list[pd.DataFrame]:
    """Of every scenario and forget set the methods' runs that are part of a line of two sizes or
    more.
    """
    methods = summaries[~summaries["method"].isin(["original", "retrain"])]
    made = []
    for _, mine in methods.groupby("scenario"):
        for group in _sets(mine):
            sizes = group.groupby(lines(group))["forget_count"].transform("nunique")
            made.append(group[sizes > 1])
    return made


def grows(summaries: pd.DataFrame) -> bool:
    """Whether some method of one forget set has runs at two sizes or more that make a line."""
    return any(map(len, grown(summaries)))


def _sets(summaries: pd.DataFrame) -> list[pd.DataFrame]:
    sets = summaries["scenario_parameters"].map(rest)
    return [summaries[sets == each] for each in dict.fromkeys(sets)]


def rest(parameters: str) -> str:
    """The JSON text of scenario parameters less `AMOUNTS`."""
    kept = {name: value for name, value in json.loads(parameters).items() if name not in AMOUNTS}
    return json.dumps(kept, sort_keys=True)


def lines(summaries: pd.DataFrame) -> pd.Series:
    """The line that each run is part of: a method with one set of parameters; or the method, where
    it was tuned for each size.
    """
    method = summaries["method"]
    several = summaries.groupby(["method", "forget_count"])["parameters"].transform("nunique")
    tuned = summaries["method_preset"].eq("tuned").groupby(method).transform("any")
    joined = tuned & (several.groupby(method).transform("max") < 2)
    own = [frames.row_id(*each) for each in zip(method, summaries["parameters"], strict=True)]
    return method.where(joined, pd.Series(own, index=summaries.index, dtype=object))


def curves(
    summaries: pd.DataFrame,
    values: pd.DataFrame,
    metrics: Sequence[str],
    *,
    judged: Mapping[str, Judged] | None = None,
) -> Curves:
    """What the runs reached at each size. They are of one data set, model, recipe and scenario and
    differ in `AMOUNTS` alone.

    With `judged` (`data.judged`), the rows of its steps have verdicts and distances to Retrain.
    """
    values = values[values["metric"].isin(list(metrics)) & values["key"].isin(summaries["key"])]
    names = dict(zip(summaries["key"], lines(summaries), strict=True))
    # titles that tell variants of a method apart at all sizes
    known: dict[str, frames.Row] = {}
    for row in frames.metric_rows(summaries, values.iloc[:0], ()) if len(summaries) else ():
        name = names[row.keys[0]]
        known.setdefault(
            name, replace(row, title=method_names(name)[0]) if name == row.method else row
        )
    sizes: dict[int, str] = {}
    steps: dict[str, list[Step]] = {name: [] for name in known}
    for count in sorted(summaries["forget_count"].unique().tolist()):
        group = summaries[summaries["forget_count"] == count]
        sizes[count] = share(group["scenario_parameters"])
        for row in frames.metric_rows(
            group, values[values["key"].isin(group["key"])], metrics, judged=judged
        ):
            name = names[row.keys[0]]
            line = (judged or {}).get(row.keys[0])
            away = [] if line is None else [*line.distances.values()]
            steps[name].append(
                Step(
                    count=count,
                    row=replace(row, title=known[name].title),
                    spread=(min(away), max(away)) if len(away) > 1 else None,
                )
            )
    return Curves(
        metrics=tuple(metrics),
        sizes=sizes,
        lines=tuple(
            Line(
                id=name,
                method=row.method,
                title=row.title,
                family=row.family,
                steps=tuple(steps[name]),
            )
            for name, row in known.items()
        ),
    )


def alike(summaries: pd.DataFrame) -> pd.DataFrame:
    """The runs that make curves.

    Sizes at which no method was run, references alone, are left out. Where there are several
    others: the training seeds that all sizes share, if there are any, since seeds differ more than
    sizes do; and the methods that have two sizes at least, if there are any, since the others are
    points of another comparison. References stay at these sizes.
    """
    methods = ~summaries["method"].isin(["original", "retrain"])
    if methods.any():
        there = summaries["forget_count"].isin(summaries.loc[methods, "forget_count"])
        summaries = summaries if there.all() else summaries[there]
    mine = summaries[~summaries["method"].isin(["original", "retrain"])]
    seeds = [set(group["training_seed"]) for _, group in mine.groupby("forget_count")]
    if len(seeds) < 2:
        return summaries
    if shared := set.intersection(*seeds):
        summaries = summaries[summaries["training_seed"].isin(shared)]
    sizes = summaries.groupby(lines(summaries))["forget_count"].transform("nunique")
    kept = summaries[(sizes > 1) | summaries["method"].isin(["original", "retrain"])]
    return summaries if set(kept["method"]) <= {"original", "retrain"} else kept


def share(parameters: Sequence[str] | pd.Series) -> str:
    """ "20 % of the class": how the runs' scenario parameters (JSON) say it; "" where they give a
    number of samples, or several shares.
    """
    found = {_share(json.loads(text)) for text in dict.fromkeys(parameters)}
    return found.pop() if len(found) == 1 else ""


def _share(parameters: Mapping[str, Any]) -> str:
    amount = next((parameters[name] for name in AMOUNTS if name in parameters), None)
    if not isinstance(amount, float):
        return ""
    return f"{100 * amount:g}{THIN}% of " + (
        "the class" if "class_id" in parameters else "the training set"
    )


def whole(summaries: pd.DataFrame) -> float | None:
    """How many samples the shares of these runs are shares of: the class or the training set; None
    where they name numbers of samples.
    """
    found = []
    for text, count in zip(
        summaries["scenario_parameters"], summaries["forget_count"], strict=True
    ):
        amount = next((value for name, value in json.loads(text).items() if name in AMOUNTS), None)
        if isinstance(amount, float):
            found.append(count / amount)
    return float(np.median(found)) if found else None


def unit(metric: str) -> Unit:
    return UNITS.get(catalog.metric(metric).unit, "ratio")


def measured(values: pd.DataFrame) -> tuple[str, ...]:
    """The metrics that have a value in the frame and a card, in the catalogue's order."""
    present = set(values.loc[values["value"].notna(), "metric"].unique())
    return tuple(card.id for card in catalog.metrics() if card.id in present)


def closest_sentence(found: Sequence[Curves]) -> str:
    """Which method is closest to Retrain over the sizes of all panels, of those that have runs at
    all of them; "" where none has.
    """
    sizes = sum(len(each.sizes) for each in found)
    away: dict[str, list[float]] = {}
    for each in found:
        for line in each.lines:
            known = [step.distance.mean for step in line.steps if step.distance is not None]
            away.setdefault(line.title, []).extend(known)
    means = {title: float(np.mean(each)) for title, each in away.items() if len(each) == sizes}
    original, _ = means.pop("Original", math.inf), means.pop("Retrain", None)
    best = min(means, key=means.__getitem__, default="")
    if not best:
        return ""
    if means[best] >= original:
        return "Over all budgets, no method stays closer to Retrain than the untouched model."
    points = number(means[best], "percent")
    return f"Over all budgets, {best} stays closest to Retrain: {points} points away on average."


def numbers(found: Curves) -> pd.DataFrame:
    """The table behind the figures, in full precision: one line a method and size; fractions are in
    percent and points.

    Where lines were judged, with verdict and distance to Retrain.
    """
    judged = any(step.row.verdict for line in found.lines for step in line.steps)
    made = []
    for line in found.lines:
        for step in line.steps:
            row: dict[str, Any] = {"Method": line.title}
            if judged:
                row |= {
                    "Verdict": step.said,
                    "Distance (points)": 100 * step.distance.mean if step.distance else math.nan,
                }
            row |= {"Samples": step.count, "Share": found.sizes[step.count].replace(THIN, " ")}
            for metric in found.metrics:
                card, cell = catalog.metric(metric), step.cells[metric]
                percent = unit(metric) == "percent"
                scale = 100.0 if percent else 1.0
                head = f"{card.short} (%)" if percent else card.short
                row[head] = scale * cell.value.mean if cell.value else math.nan
                row[f"{card.short} ±"] = (
                    scale * cell.value.half
                    if cell.value and cell.value.half is not None
                    else math.nan
                )
                row[f"{card.short} gap"] = scale * cell.gap.mean if cell.gap else math.nan
            made.append(row | {"Training seeds": step.seeds, "Status": step.status})
    return pd.DataFrame(made)


def beside(summaries: pd.DataFrame, key: str) -> pd.DataFrame:
    """The runs of the same size as the run `key`, among them its Retrain; all of them where it is
    none of them.
    """
    mine = summaries.loc[summaries["key"] == key, "forget_count"]
    return summaries[summaries["forget_count"] == mine.iloc[0]] if len(mine) else summaries


def launch_query(summaries: pd.DataFrame, budgets: Sequence[float]) -> dict[str, str | list[str]]:
    """The parameters of Launch's address that repeat these runs, with their seeds and settings, at
    other budgets; without the budgets where the scenario names none.
    """
    first = summaries.iloc[0]
    scenario, given = (
        catalog.scenario(str(first["scenario"])),
        json.loads(str(first["scenario_parameters"])),
    )
    if scenario_revision(given) != scenario.revision:  # the same values mean something else today
        given = {}
    dataset, _, path = str(first["dataset"]).partition(":")
    preset, changes = nearest_preset(json.loads(str(first["recipe"])))
    query: dict[str, str | list[str]] = {
        "dataset": dataset,
        "model": str(first["model"]),
        "preset": preset,
        "scenarios": scenario.id,
    }
    query |= {"path": path} if path else {}
    methods = summaries[~summaries["method"].isin(["original", "retrain"])]
    for axis, runs in (
        ("training_seed", summaries),
        ("unlearning_seed", methods),  # references are not unlearned and always have 0
        ("evaluation_seed", summaries),
    ):
        seeds = sorted(set(runs[axis]))
        if axis == "training_seed" or seeds not in ([], [0]):
            query[f"{axis}s"] = ",".join(map(str, seeds))
    query |= {f"recipe.{name}": typed(value) for name, value in changes.items()}
    for parameter in scenario.parameters:
        if parameter.kind == "budget":
            amounts = dict.fromkeys([*budgets, *([given["budget"]] if "budget" in given else [])])
            query[f"{scenario.id}.budget"] = ",".join(
                units.plain(each) for each in sorted(amounts, key=float)
            )
        elif parameter.name in given and given[parameter.name] != parameter.default:
            query[f"{scenario.id}.{parameter.name}"] = units.plain(given[parameter.name])
    present = set(summaries["method"])
    cards = [
        card.id for card in catalog.methods() if card.family != "reference" and card.id in present
    ]
    return query | ({"methods": cards} if cards else {}) | launch_settings(summaries, preset)
