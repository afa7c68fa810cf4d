"""What runs of one method differ in, and its measures along one such setting. No Streamlit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import pandas as pd

from dashboard import frames
from dashboard.text.labels import setting_text
from mucore import catalog
from mucore.errors import UnknownName
from mucore.runs.spec import REVISION

NOISE: Final = "method.gradient_noise"
CLASSES: Final = "forget set.class_ids"
COUNT: Final = "forget set.classes"
_SEEDS: Final = ("forget set.seed", "method.seed")
# numbers that name something and say no amount
_NAMES: Final = ("forget set.class_id", "forget set.target", *_SEEDS)
_TITLES: Final = {
    "n": "classes forgotten",
    "classes": "classes forgotten",
    "gradient_noise": "noise on gradients",
    "lr": "learning rate",
}


def whole_network(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs that were free to change every layer."""
    return runs.loc[[json.loads(text).get("scope", "all") == "all" for text in runs["parameters"]]]


def settings(runs: pd.DataFrame) -> pd.DataFrame:
    """By key, every setting of the runs of one method as "forget set.budget" or "method.lr"; lists
    as text. A run that leaves out a parameter had its default, one that names no noise had none.
    """
    lines = [
        {f"forget set.{name}": value for name, value in json.loads(scenario).items()}
        | {
            f"method.{name}": value
            for name, value in (_omitted_defaults(method) | json.loads(text)).items()
        }
        for scenario, method, text in zip(
            runs["scenario_parameters"], runs["method"], runs["parameters"], strict=True
        )
    ]
    for line in lines:
        if CLASSES in line:
            line[COUNT] = len(line[CLASSES])
    table = pd.DataFrame([{k: _plain(v) for k, v in line.items()} for line in lines])
    table.index = pd.Index(runs["key"])
    if NOISE in table:
        table[NOISE] = table[NOISE].fillna(0.0)
    return table.drop(columns=[name for name in table if name.endswith(f".{REVISION}")])


def _plain(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, list | dict) else value


def _omitted_defaults(method: str) -> dict[str, Any]:
    """The defaults of the parameters that came to a method after results existed; none for a method
    that the catalogue does not know.
    """
    try:
        card = catalog.method(method)
    except UnknownName:
        return {}
    return {each.name: each.default for each in card.parameters if each.omitted_when_default}


def varied(table: pd.DataFrame) -> list[str]:
    """The amounts and switches that vary among the runs of `settings`, those with most values
    first.
    """
    names = [
        name
        for name in table
        if name not in _NAMES
        and table[name].nunique() > 1
        and table[name].dropna().map(lambda value: isinstance(value, int | float)).all()
    ]
    return sorted(names, key=lambda name: -table[name].nunique())


def held(table: pd.DataFrame, axis: str) -> pd.DataFrame:
    """The runs of `settings` along `axis` with the most common value of every other setting that
    varies, so that a line shows one effect alone; of lists of classes that are equally long, the
    most common one.
    """
    table = table.dropna(subset=axis)
    for name in table.columns.drop([axis, *_SEEDS, CLASSES, COUNT], errors="ignore"):
        values = table[name].map(str)
        groups = table.groupby(values)[axis]
        most = pd.DataFrame({"distinct": groups.nunique(), "runs": groups.size()})
        most = most.sort_values(["distinct", "runs"], ascending=False, kind="stable")
        table = table[values == most.index[0]]
    if CLASSES in table:
        lists = table[CLASSES].map(str)
        usual = lists.groupby(table[axis]).transform(lambda each: each.mode().iloc[0])
        table = table[lists == usual]
    return table


def along(places: pd.DataFrame, values: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """Columns metric, x, mean, half, seeds: the mean over training seeds of each metric at each x,
    from `places` (key, x, training_seed).
    """
    long = values[values["metric"].isin(metrics)].merge(places, on="key").astype({"value": float})
    seeds = long.dropna(subset="value").groupby(["metric", "x", "training_seed"])["value"].mean()
    found = seeds.groupby(level=["metric", "x"]).agg(["mean", "std", "count"]).reset_index()
    found["half"] = [
        frames.half_width(deviation, count)
        for deviation, count in zip(found["std"], found["count"], strict=True)
    ]
    return found.drop(columns="std").rename(columns={"count": "seeds"})


def axis_title(name: str) -> str:
    """What a setting is called: "method.lr" is the learning rate."""
    group, _, last = name.rpartition(".")
    usual = last.replace("_", " ") + (" (forget set)" if group == "forget set" else "")
    return "budget" if last == "budget" else _TITLES.get(last, usual)


def value_text(name: str, value: Any) -> str:
    """A value on the axis: a share as percent, a switch as on or off, a number as it is."""
    if isinstance(value, bool | str):
        return setting_text(name, value)
    share = name.endswith("budget") and 0 < value < 1
    return setting_text("budget" if share else "", float(value))
