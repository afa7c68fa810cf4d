"""What runs of one method differ in, and a measure along one such setting."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dashboard import frames
from dashboard.text.labels import MINUS, setting_text
from dashboard.text.presets import is_plain
from mucore import catalog
from mucore.errors import UnknownName
from mucore.spec.run import REVISION
from mucore.statistics.significance import half_band

NOISE = "method.gradient_noise"
CLASSES = "forget set.class_ids"
# numbers that name something and say no amount
_NAMES = ("forget set.class_id", "forget set.target")
SHOWN = {"h_lr": "H-LR", "agl": "AGL", "agr": "AGR"}


@dataclass(frozen=True, kw_only=True)
class Axis:
    """A setting of which a method's runs have several values: `name` for the address, `title` for a
    reader, (key, value) of each run.

    A `switch` is on, 1, or off, 0.
    """

    name: str
    title: str
    values: Mapping[str, float]
    switch: bool = False

    @property
    def distinct(self) -> int:
        return len(set(self.values.values()))


def whole_network(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs that were free to change every layer."""
    return runs[[json.loads(text).get("scope", "all") == "all" for text in runs["parameters"]]]


def plain(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs that were free to change every layer and had no noise on their gradients: what a
    method is without an experiment on it.
    """
    return runs[[is_plain(text) for text in runs["parameters"]]]


def varied(runs: pd.DataFrame) -> tuple[Axis, ...]:
    """The numbers that vary among the runs of one method and scenario: number of classes, budget,
    other numbers of the forget set, hyperparameters, the noise on its gradients (a run that does
    not name it had none). A run that leaves out a parameter had its default. What varies and
    is no number tells `kinds` apart.
    """
    found: dict[str, dict[str, float]] = {}
    switches: set[str] = set()
    for key, values in _settings(runs).items():
        for name, value in values.items():
            if name == CLASSES:
                found.setdefault("forget set.classes", {})[key] = float(len(value))
            elif name not in (*_NAMES, "forget set.seed") and isinstance(value, int | float):
                found.setdefault(name, {})[key] = float(value)
                if isinstance(value, bool):
                    switches.add(name)
    if NOISE in found:
        found[NOISE] = {key: found[NOISE].get(key, 0.0) for key in runs["key"]}
    made = [
        Axis(name=name, title=axis_title(name), values=values, switch=name in switches)
        for name, values in found.items()
    ]
    return tuple(axis for axis in made if axis.distinct > 1)


def kinds(runs: pd.DataFrame, *, always: Collection[str] = ()) -> dict[str, str]:
    """Of each run's key, in words, the settings in which runs differ and that are no numbers to
    draw a line over: the downstream set, a class, a mode. "" where they differ in none; settings
    named in `always` are said all the same.

    Runs of two kinds never share a line: their mean would be of neither.
    """
    settings = _settings(runs)
    axes = {axis.name for axis in varied(runs)}
    aside = {*axes, CLASSES, "forget set.seed", "method.seed", NOISE}
    names = [
        name
        for name in dict.fromkeys(name for values in settings.values() for name in values)
        if name not in aside
    ]
    told = {name: {json.dumps(values.get(name)) for values in settings.values()} for name in names}
    names = [name for name in names if name in always or len(told[name]) > 1]
    return {
        key: ", ".join(
            _in_words(name, values[name])
            for name in names
            if name in values and values[name] is not None
        )
        or _usual(names)
        for key, values in settings.items()
    }


def _usual(names: Sequence[str]) -> str:
    """What a run is called that leaves out all of `names`, where others have them."""
    return f"no {', '.join(axis_title(name) for name in names)}" if names else ""


def _in_words(name: str, value: Any) -> str:
    group, _, last = name.rpartition(".")
    if last == "downstream":
        return catalog.dataset(value).title
    return f"{last.removesuffix('_id').replace('_', ' ')} {setting_text(last, value)}"


def _settings(runs: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """By key, every setting of a run as "forget set.budget" or "method.lr"."""
    omitted = {method: _omitted_defaults(method) for method in set(runs["method"])}
    found = {}
    for key, scenario, method, text in zip(
        runs["key"], runs["scenario_parameters"], runs["method"], runs["parameters"], strict=True
    ):
        groups = (
            ("forget set", json.loads(scenario)),
            ("method", omitted[method] | json.loads(text)),
        )
        found[key] = {
            f"{group}.{name}": value
            for group, values in groups
            for name, value in values.items()
            if name != REVISION
        }
    return found


def _omitted_defaults(method: str) -> dict[str, Any]:
    """The defaults of the parameters that came to a method after results existed; none for a method
    that the catalogue does not know.
    """
    try:
        return {
            parameter.name: parameter.default
            for parameter in catalog.method(method).parameters
            if parameter.omitted_when_default
        }
    except UnknownName:
        return {}


def axis_title(name: str) -> str:
    """What an axis is called on the page: "method.lr" is the learning rate."""
    group, _, last = name.rpartition(".")
    plain = {
        "n": "classes forgotten",
        "classes": "classes forgotten",
        "budget": "budget",
        "gradient_noise": "noise on gradients",
        "lr": "learning rate",
    }
    return plain.get(
        last, last.replace("_", " ") + (" (forget set)" if group == "forget set" else "")
    )


def comparable(runs: pd.DataFrame, axis: Axis, others: Sequence[Axis]) -> pd.DataFrame:
    """The runs along `axis` with the most common value of every other setting that varies, so that
    a line shows one effect alone; of the lists of classes that are equally long, the most common
    one. The runs are of one kind (`kinds`).
    """
    kept = runs[runs["key"].isin(list(axis.values))]
    for other in others:
        if other.name == axis.name:
            continue
        values = kept["key"].map(other.values)
        counts = [
            (
                kept.loc[values == value, "key"].map(axis.values).nunique(),
                int((values == value).sum()),
                -value,
            )
            for value in sorted(set(values.dropna()))
        ]
        if counts:
            kept = kept[values == -max(counts)[2]]
    lists = {key: tuple(values.get(CLASSES, ())) for key, values in _settings(kept).items()}
    common = {
        len(classes): classes
        for classes, _ in reversed(Counter(sorted(lists.values())).most_common())
    }
    return kept[[common[len(lists[key])] == lists[key] for key in kept["key"]]]


def along(
    runs: pd.DataFrame, values: pd.DataFrame, axis: Axis, metrics: Sequence[str]
) -> pd.DataFrame:
    """Columns metric, x, mean, half, seeds, key: the mean over training seeds of each metric at
    each value of the axis.
    """
    long = values[values["metric"].isin(metrics)].merge(runs[["key", "training_seed"]], on="key")
    long = long.assign(x=long["key"].map(axis.values), value=long["value"].astype(float)).dropna(
        subset=["x", "value"]
    )
    seeds = (
        long.groupby(["metric", "x", "training_seed"], sort=True)
        .agg(value=("value", "mean"), key=("key", "first"))
        .reset_index()
    )
    made = []
    for (metric, x), group in seeds.groupby(["metric", "x"], sort=True):
        half = (
            frames.half_width(float(group["value"].std()), len(group)) if len(group) > 1 else None
        )
        made.append(
            {
                "metric": metric,
                "x": x,
                "mean": float(group["value"].mean()),
                "half": half,
                "seeds": len(group),
                "key": group["key"].iloc[0],
            }
        )
    return pd.DataFrame(made, columns=["metric", "x", "mean", "half", "seeds", "key"])


def retrains_along(
    retrains: pd.DataFrame, values: pd.DataFrame, own: pd.DataFrame, axis: Axis, metric: str
) -> pd.DataFrame:
    """Where Retrain stands in one metric beside the runs `own`: the columns of `along`, and
    `apart`, half of its seeds' 95 % band there (`significance.half_band`), None for a single one.

    A Retrain stands wherever a run has its forget set: along a setting of a method, everywhere.
    """
    places = own.assign(x=own["key"].map(axis.values))[["scenario_parameters", "x"]]
    stands = places.drop_duplicates().merge(retrains, on="scenario_parameters")
    if stands.empty:
        return along(retrains.iloc[:0], values, axis, [metric]).assign(apart=None)
    made = []
    for x, mine in stands.groupby("x", sort=True):
        here = Axis(name=axis.name, title=axis.title, values=dict.fromkeys(mine["key"], float(x)))
        made += with_apart(along(mine, values, here, [metric]), mine, values, here).to_dict(
            "records"
        )
    return pd.DataFrame(made, columns=["metric", "x", "mean", "half", "seeds", "key", "apart"])


def with_apart(
    lines: pd.DataFrame, runs: pd.DataFrame, values: pd.DataFrame, axis: Axis
) -> pd.DataFrame:
    """`lines`, of `along` the same Retrains, with half of their seeds' 95 % band at each point."""
    long = values.merge(runs[["key", "training_seed"]], on="key")
    long = long.assign(x=long["key"].map(axis.values), value=long["value"].astype(float))
    seeds = long.dropna(subset=["value"]).groupby(["metric", "x", "training_seed"])["value"].mean()
    halves = {
        place: half_band(each.tolist()) for place, each in seeds.groupby(level=["metric", "x"])
    }
    found = [halves.get(place) for place in zip(lines["metric"], lines["x"], strict=True)]
    return lines.assign(apart=found)


def metric_title(metric: str) -> str:
    """A metric as a legend says it."""
    return SHOWN.get(metric) or catalog.metric(metric).title


def axis_value(value: float, axis: Axis) -> str:
    """A value on the axis as a reader sees it: a share as percent, a switch as on or off, a number
    as it is.
    """
    if axis.switch:
        return setting_text("", bool(value))
    return (
        setting_text("budget", value)
        if axis.name.endswith("budget") and 0 < value < 1
        else f"{value:g}".replace("-", MINUS)
    )
