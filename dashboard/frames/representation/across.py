"""One method on several forget sets, and on two data sets: AGL and AGR of each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dashboard import frames
from dashboard.text.labels import scenario_title, setting_text, settings_text
from dashboard.text.presets import is_plain, presets, settings_across
from mucore import catalog
from mucore.verdicts import Judged


@dataclass(frozen=True, kw_only=True)
class Point:
    """AGL and AGR of one method on one forget set, means over training seeds; None where not
    measured. `key` is its first run.
    """

    key: str
    agl: float | None
    agr: float | None
    agl_half: float | None = None
    agr_half: float | None = None
    said: str = ""  # the verdict


@dataclass(frozen=True, kw_only=True)
class Line:
    """One method with one choice of settings over the titles of forget sets."""

    id: str
    method: str
    title: str
    family: str
    points: Mapping[str, Point]


@dataclass(frozen=True, kw_only=True)
class Pair:
    """AGL of one method on two data sets; the keys are those of its first runs there, `said` is its
    verdict on each.
    """

    title: str
    family: str
    key: str
    other: str
    x: float
    y: float
    x_half: float | None
    y_half: float | None
    said: tuple[str, str] = ("", "")


def set_title(scenario: str, parameters: str) -> str:
    """A forget set of whole classes as an axis says it: "12 at random", "24 near Glyphs, hand",
    "class 0".
    """
    values: dict[str, Any] = json.loads(parameters)
    seed = f", draw {values['seed']}" if values.get("seed") else ""
    if "n" in values:
        where = (
            f"near {catalog.dataset(values['downstream']).title}"
            if values.get("downstream")
            else "at random"
        )
        return f"{values['n']} {where}{seed}"
    if "class_ids" in values:
        ids = values["class_ids"]
        return f"{'class' if len(ids) == 1 else 'classes'} {setting_text('class_ids', ids)}{seed}"
    return f"{scenario_title(scenario)}, {settings_text(values)}"


def whole_classes(everything: pd.DataFrame, chosen: pd.DataFrame) -> pd.DataFrame:
    """The runs of `everything` that forgot whole classes, with the methods and the presets
    (authors', tuned, own) of the runs `chosen`, and the references; none that is an experiment
    (`presets.is_plain`).
    """
    scenarios = [card.id for card in catalog.scenarios() if card.class_wise]
    runs = everything[everything["scenario"].isin(scenarios)]
    runs = runs[[is_plain(text) for text in runs["parameters"]]]
    references = runs["method"].isin(["original", "retrain"])
    wanted = set(zip(chosen["method"], presets(chosen), strict=True))
    mine = pd.Series(
        [each in wanted for each in zip(runs["method"], presets(runs), strict=True)],
        index=runs.index,
    )
    return runs[references | mine]


def across_sets(
    runs: pd.DataFrame, values: pd.DataFrame, judged: Mapping[str, Judged] | None = None
) -> tuple[tuple[str, ...], tuple[Line, ...]]:
    """The titles of the forget sets of `runs`, of one data set, model and recipe, and a line for
    each method with a value on any.
    """
    named = {
        row.id: row for row in frames.metric_rows(runs, values, ["agl", "agr"]) if not row.reference
    }
    points: dict[str, dict[str, Point]] = {name: {} for name in named}
    order = {card.id: number for number, card in enumerate(catalog.scenarios())}
    found = {
        (str(each), str(text))
        for each, text in zip(runs["scenario"], runs["scenario_parameters"], strict=True)
    }
    titles = []
    for scenario, parameters in sorted(found, key=lambda each: (order[each[0]], _size(each[1]))):
        title = set_title(scenario, parameters)
        group = runs[(runs["scenario"] == scenario) & (runs["scenario_parameters"] == parameters)]
        for row in frames.metric_rows(group, values, ["agl", "agr"], judged=judged):
            if row.id in named and (point := _point(row)) is not None:
                points[row.id][title] = point
                titles.append(title)
    lines = [
        Line(id=row.id, method=row.method, title=row.title, family=row.family, points=points[name])
        for name, row in named.items()
    ]
    return tuple(dict.fromkeys(titles)), tuple(line for line in lines if line.points)


def two_sets(
    x: pd.DataFrame,
    y: pd.DataFrame,
    values: pd.DataFrame,
    judged: Mapping[str, Judged] | None = None,
) -> tuple[tuple[Pair, ...], tuple[str, ...]]:
    """AGL of the methods that ran in both, `x` and `y` being the runs of one forget set each, and
    the titles of methods in one alone.
    """
    there, here = (_by_settings(runs, values, judged) for runs in (y, x))
    pairs = [
        Pair(
            title=row.title,
            family=row.family,
            key=row.keys[0],
            other=there[settings][0].keys[0],
            x=one.mean,
            y=there[settings][1].mean,
            x_half=one.half,
            y_half=there[settings][1].half,
            said=(frames.verdict_text(row), frames.verdict_text(there[settings][0])),
        )
        for settings, (row, one) in here.items()
        if settings in there
    ]
    alone = [
        row.title
        for settings, (row, _) in (here | there).items()
        if settings not in here or settings not in there
    ]
    return tuple(sorted(pairs, key=lambda pair: (pair.y - pair.x, pair.title))), tuple(
        dict.fromkeys(alone)
    )


def _by_settings(
    runs: pd.DataFrame, values: pd.DataFrame, judged: Mapping[str, Judged] | None
) -> dict[tuple[str, str], tuple[frames.Row, frames.Estimate]]:
    """The rows with an AGL by method and preset, which is the same on two data sets though the
    values are not; own settings by value.
    """
    settings = dict(zip(runs["key"], settings_across(runs), strict=True))
    found: dict[tuple[str, str], tuple[frames.Row, frames.Estimate]] = {}
    for row in frames.metric_rows(runs, values, ["agl"], judged=judged):
        if not row.reference and (value := row.cells["agl"].value) is not None:
            found.setdefault((row.method, settings[row.keys[0]]), (row, value))
    return found


def _size(parameters: str) -> tuple[str, int, str]:
    """What orders the forget sets of a scenario: the downstream set, then the number of classes."""
    values = json.loads(parameters)
    return (
        str(values.get("downstream", "")),
        int(values.get("n") or len(values.get("class_ids", ()))),
        parameters,
    )


def _point(row: frames.Row) -> Point | None:
    agl, agr = (row.cells[name].value for name in ("agl", "agr"))
    if agl is None and agr is None:
        return None
    return Point(
        key=row.keys[0],
        agl=agl.mean if agl else None,
        agr=agr.mean if agr else None,
        agl_half=agl.half if agl else None,
        agr_half=agr.half if agr else None,
        said=frames.verdict_text(row),
    )
