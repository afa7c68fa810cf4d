"""Settings that have runs: what a selector offers of them, and what one method reached in each."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from dashboard.frames.rows import Cell, Estimate, row_id, rows_by_setting
from dashboard.text.labels import MISSING, Unit, forget_set_text, number, scenario_title, setup_text
from dashboard.text.verdicts import text
from mucore import catalog
from mucore.statistics.runs import SETTING, told_apart
from mucore.statistics.significance import half_band
from mucore.verdicts import Judged, Verdict


def setups(summaries: pd.DataFrame, column: str, **fixed: str) -> list[str]:
    """The distinct values of `column` among unlearning runs that match `fixed`: most methods first,
    then most runs, then by name.
    """
    chosen = summaries[summaries["scenario"].notna()]
    for name, value in fixed.items():
        chosen = chosen[chosen[name] == value]
    groups = chosen.groupby(column)
    methods, runs = groups["method"].nunique(), groups.size()
    return [
        str(name)
        for name in sorted(
            runs.index, key=lambda name: (-int(methods[name]), -int(runs[name]), str(name))
        )
    ]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One method in one setting: data set, model, scenario, forget set; `label` is unique in its
    list.
    """

    label: str
    scenario: str
    title: str  # of the table row, so that variants of the parameters stay apart
    cells: Mapping[str, Cell]
    runs: int
    key: str  # of the run that stands for it: its first training seed
    verdict: Verdict | None = None
    distance: Estimate | None = None  # to Retrain, 0..1
    status: str = "ok"  # or what happened to its runs
    # half of the 95 % band of Retrains of other seeds there, by metric (`Cell.noise`)
    noise: Mapping[str, float] = field(default_factory=dict)


SHOWN = ("ta", "ra", "fa", "rte", "l2_normalised")  # of what a method reached; and its work
Noises = Mapping[tuple[Any, ...], Mapping[str, float]]
NOISY = ("fa", "ta")  # the gaps that a method's settings are drawn by


def method_settings(
    summaries: pd.DataFrame,
    values: pd.DataFrame,
    *,
    method: str,
    judged: Mapping[str, Judged] | None = None,
    noises: Noises | None = None,
) -> tuple[Setting, ...]:
    """What `method` reached everywhere: one entry for each setting and set of parameters, in the
    catalogue's order of scenarios.

    `summaries` holds at least all runs of `method` with a scenario; `judged` gives each the line
    that it belongs to; `noises` are those of the Retrains there (`noises_of`).
    """
    runs = summaries[(summaries["method"] == method) & summaries["scenario"].notna()]
    order = [card.id for card in catalog.scenarios()]
    made = []
    several = len(runs[["dataset", "model", "recipe"]].drop_duplicates()) > 1
    work = ["rte_work"] if (values["metric"] == "rte_work").any() else []
    grouped = runs.groupby(list(SETTING), sort=True)
    rows = rows_by_setting(runs, values, [*SHOWN, *work], grouped.ngroup().tolist(), judged=judged)
    hashes = []
    for place, setting in enumerate(grouped.groups):
        dataset, own, model, recipe, scenario, parameters = setting
        known = str(scenario) in order
        for row in rows[place]:
            title = scenario_title(str(scenario)) if known else str(scenario)
            alike = [
                p
                for p, s in zip(runs["scenario_parameters"], runs["scenario"], strict=True)
                if s == scenario and p != parameters
            ]
            parts = [title]
            if alike:
                parts.append(forget_set_text(str(parameters), str(dataset)))
            if several:
                parts.append(
                    setup_text({"dataset": dataset, "model": model, "recipe": str(recipe)})
                )
            if len(rows[place]) > 1:
                parts.append(row.title.partition("(")[2].rstrip(")"))
            made.append(
                Setting(
                    label=" · ".join(parts),
                    scenario=str(scenario),
                    title=row.title,
                    cells=row.cells,
                    runs=len(row.keys),
                    key=row.keys[0],
                    verdict=row.verdict,
                    distance=row.distance,
                    status=row.status,
                    noise=(noises or {}).get(setting, {}),
                )
            )
            hashes.append(str(own))
    labels = told_apart([each.label for each in made], hashes)
    made = [replace(each, label=label) for each, label in zip(made, labels, strict=True)]
    return tuple(
        sorted(
            made,
            key=lambda s: (
                order.index(s.scenario) if s.scenario in order else len(order),
                _by_size(s.label),
            ),
        )
    )


def noises_of(runs: pd.DataFrame, values: pd.DataFrame) -> Noises:
    """By setting (`SETTING`), half of the 95 % band of its Retrains in each metric
    of `NOISY`, as `rows.noise` has it; `runs` are all Retrains with a scenario, `values` what they
    reached.
    """
    setting = runs.groupby(list(SETTING), sort=False).ngroup()
    named = runs.assign(setting=setting, row=list(map(row_id, runs["method"], runs["parameters"])))
    counts = named.groupby(["setting", "row"], sort=False)["training_seed"].nunique()
    most = counts.groupby(level="setting", sort=False).idxmax()  # of equal ones the first
    standing = named[pd.MultiIndex.from_frame(named[["setting", "row"]]).isin(most)]
    mine = values[values["metric"].isin(NOISY)].merge(
        standing[["key", "setting", "training_seed"]], on="key"
    )
    seeds = mine.groupby(["setting", "metric", "training_seed"], sort=False)["value"].mean()
    halves: dict[int, dict[str, float]] = defaultdict(dict)
    for (place, metric), each in seeds.dropna().groupby(level=["setting", "metric"], sort=False):
        if (half := half_band(each.tolist())) is not None:
            halves[place][str(metric)] = half
    first = named.drop_duplicates("setting")
    settings = first[list(SETTING)].itertuples(index=False, name=None)
    return dict(zip(settings, map(halves.__getitem__, first["setting"]), strict=True))


def _by_size(label: str) -> list[tuple[float, str]]:
    """A sort key that has budget 2 % before budget 10 %."""
    return [
        (float(part), "") if part.isdigit() else (math.inf, part)
        for part in re.split(r"(\d+)", label)
    ]


def settings_frame(settings: Sequence[Setting]) -> pd.DataFrame:
    """The method page's table: one line a setting, text as shown; with the share of Retrain's work
    where any run counted its own.
    """
    shown = [
        ("ta", "gap", "TA gap"),
        ("ra", "gap", "RA gap"),
        ("fa", "gap", "FA gap"),
        ("rte", "value", "RTE"),
        *([("rte_work", "value", "Work")] if any("rte_work" in s.cells for s in settings) else []),
        ("l2_normalised", "value", "ℓ2"),
    ]
    made = []
    for setting in settings:
        line: dict[str, Any] = {"Setting": setting.label, "Runs": setting.runs}
        line["Verdict"] = MISSING if setting.verdict is None else text(setting.verdict)
        line["Distance (points)"] = number(
            setting.distance.mean if setting.distance else None, "percent"
        )
        for name, view, head in shown:
            cell = setting.cells.get(name)
            estimate = None if cell is None else cell.gap if view == "gap" else cell.value
            unit: Unit = "percent" if view == "gap" else "ratio"
            line[head] = number(estimate.mean if estimate else None, unit, signed=view == "gap")
        made.append(line)
    return pd.DataFrame(
        made,
        columns=[
            "Setting",
            "Runs",
            "Verdict",
            "Distance (points)",
            *(head for _, _, head in shown),
        ],
    )
