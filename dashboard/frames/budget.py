"""Runs of one scenario at several sizes of the forget set: what every method reached at each size.
No Streamlit, no plotly.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import pandas as pd

from dashboard import frames
from dashboard.frames.launch_settings import launch_settings, typed
from dashboard.frames.rows import rows_by_setting
from dashboard.frames.tradeoffs.measures import measure
from dashboard.text import units, verdicts
from dashboard.text.labels import THIN, method_names, nearest_preset, number, short_id
from mucore import catalog
from mucore.runs import REFERENCES
from mucore.runs.spec import scenario_revision
from mucore.verdicts import Judged

# parameters of scenarios that say how much is forgotten, and nothing else
AMOUNTS = ("budget", "fraction")
# of Figures 3 and 4; as shares they mean the same on other data
MUBOX_BUDGETS = (0.02, 0.05, 0.1, 0.2)
COLUMNS = (
    *("line", "method", "title", "family", "size", "share", "key", "seeds", "status", "verdict"),
    *("metric", "value", "low", "high", "told"),
)
DISTANCE = "distance"  # as a metric: the mean distance to Retrain, in points


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
    methods = summaries[~summaries["method"].isin(REFERENCES)]
    sets = [each for _, mine in methods.groupby("scenario") for each in _sets(mine)]
    return [one[one.groupby(lines(one))["forget_count"].transform("nunique") > 1] for one in sets]


def grows(summaries: pd.DataFrame) -> bool:
    """Whether some method of one forget set has runs at two sizes or more that make a line."""
    return any(map(len, grown(summaries)))


def _sets(summaries: pd.DataFrame) -> list[pd.DataFrame]:
    sets = summaries["scenario_parameters"].map(rest)
    return [summaries[sets == each] for each in dict.fromkeys(sets)]


@cache
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


def points(
    summaries: pd.DataFrame,
    values: pd.DataFrame,
    metrics: Sequence[str] = (),
    *,
    judged: Mapping[str, Judged] | None = None,
) -> pd.DataFrame:
    """What the runs reached at each size: a row a line, size and metric, `DISTANCE` among them,
    where it has a value. The runs are of one data set, model, recipe and scenario and differ in
    `AMOUNTS` alone.

    Columns: line, method, title, family, size (samples), share (in words), key (of the first seed),
    seeds (how many), status, verdict; metric, `value` in the screen's unit with what its bar spans,
    `low` to `high`: all seeds of a distance, else the 95 % interval; and as it is `told`.
    """
    values = values[values["key"].isin(summaries["key"])]
    names = dict(zip(summaries["key"], lines(summaries), strict=True))
    # titles that tell variants of a method apart at all sizes
    titles: dict[str, str] = {}
    for row in frames.metric_rows(summaries, values.iloc[:0], ()):
        name = names[row.keys[0]]
        titles.setdefault(name, method_names(name)[0] if name == row.method else row.title)
    made = []
    sizes = summaries["forget_count"]
    by_size = rows_by_setting(summaries, values, metrics, sizes.tolist(), judged=judged)
    for size, rows in sorted(by_size.items()):
        said = share(summaries.loc[sizes == size, "scenario_parameters"])
        for row in rows:
            line = names[row.keys[0]]
            about = {
                "line": line,
                "method": row.method,
                "title": titles[line],
                "family": row.family,
                "size": size,
                "share": said,
                "key": row.keys[0],
                "seeds": len(row.training_seeds),
                "status": row.status,
                "verdict": row.verdict,
            }
            made += [about | each for each in _values(row, metrics, judged or {})]
    return pd.DataFrame(made, columns=COLUMNS)


def _values(
    row: frames.Row, metrics: Sequence[str], judged: Mapping[str, Judged]
) -> list[dict[str, Any]]:
    """The metrics of a row that have a value."""
    found = [(measure(name), name, row.cells[name].value) for name in metrics]
    made = [
        {
            "metric": name,
            "value": how.scale * each.mean,
            "low": None if low is None else how.scale * low,
            "high": None if high is None else how.scale * high,
            "told": f"{how.short} {number(each.mean, how.unit)}",
        }
        for how, name, each in found
        if each is not None
        for low, high in [frames.interval(name, each)]
    ]
    if row.away is None:
        return made
    line = judged.get(row.keys[0])
    seeds = [100 * each for each in line.distances.values()] if line else []
    low, high = (min(seeds), max(seeds)) if len(seeds) > 1 else (None, None)
    told = f"{number(row.away, 'percent')} points away"
    away = {"metric": DISTANCE, "value": 100 * row.away, "low": low, "high": high, "told": told}
    return [away, *made]


def alike(summaries: pd.DataFrame) -> pd.DataFrame:
    """The runs that make curves.

    Sizes at which no method was run, references alone, are left out. Where there are several
    others: the training seeds that all sizes share, if there are any, since seeds differ more than
    sizes do; and the methods that have two sizes at least, if there are any, since the others are
    points of another comparison. References stay at these sizes.
    """
    methods = ~summaries["method"].isin(REFERENCES)
    if methods.any():
        there = summaries["forget_count"].isin(summaries.loc[methods, "forget_count"])
        summaries = summaries if there.all() else summaries[there]
    mine = summaries[~summaries["method"].isin(REFERENCES)]
    seeds = [set(group["training_seed"]) for _, group in mine.groupby("forget_count")]
    if len(seeds) < 2:
        return summaries
    if shared := set.intersection(*seeds):
        summaries = summaries[summaries["training_seed"].isin(shared)]
    sizes = summaries.groupby(lines(summaries))["forget_count"].transform("nunique")
    kept = summaries[(sizes > 1) | summaries["method"].isin(REFERENCES)]
    return summaries if set(kept["method"]) <= {*REFERENCES} else kept


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


def measured(values: pd.DataFrame) -> tuple[str, ...]:
    """The metrics that have a value in the frame and a card, in the catalogue's order."""
    present = set(values.loc[values["value"].notna(), "metric"].unique())
    return tuple(card.id for card in catalog.metrics() if card.id in present)


def closest_sentence(found: pd.DataFrame) -> str:
    """Which method is closest to Retrain over the sizes of the first panel; "" where none has runs
    at all of them, or another is closer at those that it has. `found` are the `points` of all with
    their `panel`: a mean over several requests would be nobody's.
    """
    away = found[(found["metric"] == DISTANCE) & (found["panel"] == found["panel"].iloc[0])]
    table = away.pivot_table(index="title", columns="size", values="value")
    means = table.dropna().mean(axis=1)
    rivals = table.drop(["Original", "Retrain"], errors="ignore")
    methods = means[means.index.isin(rivals.index)]
    if methods.empty:
        return ""
    best = methods.idxmin()
    if (rivals.sub(rivals.loc[best]).mean(axis=1) < 0).any():
        return ""
    if methods[best] >= means.get("Original", math.inf):
        return "Over these budgets, no method stays closer to Retrain than the untouched model."
    away_text = number(methods[best] / 100, "percent")
    return f"Over these budgets, {best} stays closest to Retrain: {away_text} points on average."


def numbers(found: pd.DataFrame, title: str) -> pd.DataFrame:
    """The table behind a figure of `points` of one metric, called `title`."""
    said = ["" if each is None else verdicts.text(each) for each in found["verdict"]]
    shares = [each.replace(THIN, " ") for each in found["share"]]
    heads = {
        "panel": "Forget",
        "title": "Method",
        "said": "Verdict",
        "size": "Samples",
        "share": "Share",
        "value": title,
        "low": "Low",
        "high": "High",
        "seeds": "Training seeds",
        "status": "Status",
    }
    return found.assign(said=said, share=shares)[[*heads]].rename(columns=heads)


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
    methods = summaries[~summaries["method"].isin(REFERENCES)]
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
