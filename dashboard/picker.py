"""The row of filters that pages share: one data set, model, recipe, scenario and forget set, in the address."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence

import pandas as pd
import streamlit as st

from dashboard import data, describe, frames, state
from dashboard.presets import OWN, has_values, presets
from mucore import catalog

ALL = "all"
SETTINGS = {"authors": "Authors'", "tuned": "Tuned", OWN: "Own"}  # what a reader may look at alone


def pick_runs(
    runs: pd.DataFrame,
    *,
    scenarios: Sequence[str] | None = None,
    first: Sequence[str] = (),
    sets: bool = True,
    varying: Sequence[str] = (),
    ahead: Collection[str] = (),
    opens: str = "",
    extra: Callable[[], None] | None = None,
    experiments: bool = False,
) -> pd.DataFrame:
    """The runs of one data set, model, recipe, scenario and forget set, as the reader chose them; references are always among them.

    `scenarios` are those that the page can show (default: all that have a run), `first` those that it opens on where they have a run.
    Without `sets`, every forget set of the scenario stays; forget sets that differ in the parameters `varying` alone count as one; those
    that have a run of the keys `ahead` lead. Where the address does not choose, the setting is that of the run `opens`. `extra` draws a
    widget of the page's own into the row. A page of `experiments` opens on every setting, changed ones too.
    Parameters of the address: comparison, dataset, model, recipe, scenario, set, methods. An empty frame where no run of those scenarios
    has finished.
    """
    widths = {"scenario": 1.9, "set": 2.2 * sets, "extra": 2.1 * (extra is not None), "data": 1.6, "methods": 1.5}
    widths = {name: width for name, width in widths.items() if width}
    row = st.columns(list(widths.values()), vertical_alignment="bottom", gap="small")
    place = dict(zip(widths, row, strict=True))
    if extra is not None:
        with place["extra"]:
            extra()
    if scenarios is not None:
        runs = runs[runs["scenario"].isin(list(scenarios))]
    asked = state.param("scenario")  # a link that names a scenario and no data set means data that have it
    leader = runs[runs["key"] == opens]
    with place["data"]:
        runs = pick_data(runs, [asked] if (runs["scenario"] == asked).any() else first, leader)
    with place["scenario"]:
        order = scenario_order(runs)
        usual = next((name for name in [*leader["scenario"], *first] if name in order), None)
        runs = keep(runs, "scenario", state.select("Scenario", "scenario", order, default=usual, format_func=describe.scenario_title))
    if sets:
        with place["set"]:
            led = [text for text in leader["scenario_parameters"] if text in set(runs["scenario_parameters"])]
            led += [*frames.setups(runs[runs["key"].isin(ahead)], "scenario_parameters"), *frames.setups(runs, "scenario_parameters")]
            alike = {text: without(text, varying) for text in led}
            found = {describe.short_id(text): text for text in alike.values()}
            names = dict(zip(found, set_names(list(found.values())), strict=True))
            name = state.select("Forget set", "set", list(found), format_func=names.__getitem__)
            runs = runs[runs["scenario_parameters"].map(alike) == found.get(name, "")]
    with place["methods"]:
        return pick_methods(runs, experiments=experiments)


def usual_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs that `pick_runs` gives a reader who has chosen nothing, on a page that shows every scenario."""
    for column in ("dataset", "model", "recipe"):
        runs = keep(runs, column, next(iter(frames.setups(runs, column)), ""))
    runs = keep(runs, "scenario", next(iter(scenario_order(runs)), ""))
    runs = keep(runs, "scenario_parameters", next(iter(frames.setups(runs, "scenario_parameters")), ""))
    chosen = usual_settings(settings_of(runs))
    return runs[has_settings(runs, chosen) | runs["method"].isin(["original", "retrain"])]


def scenario_order(runs: pd.DataFrame) -> list[str]:
    """The scenarios of `runs` in the order of the cards."""
    present = set(runs["scenario"])
    return [card.id for card in catalog.scenarios() if card.id in present]


def pick_data(runs: pd.DataFrame, first: Sequence[str] = (), leader: pd.DataFrame | None = None) -> pd.DataFrame:
    """The runs of one comparison (or all), data set, model and recipe, chosen in a popover.

    Those of the run `leader`, a frame of one line or none, lead, and then those with a scenario of `first`.
    """
    known = {str(one.id): one.name for one in data.comparisons()}
    with st.popover("Data, model", icon=":material/tune:", width="stretch"):
        comparison = state.select("Comparison", "comparison", [ALL, *known], format_func=lambda name: known.get(name, "All runs"))
        if comparison != ALL:
            mine = data.summaries(comparison=int(comparison))
            runs = runs[runs["key"].isin(mine["key"])]
        for label, column in (("Data set", "dataset"), ("Model", "model")):
            runs = keep(runs, column, state.select(label, column, leading(runs, column, first, leader)))
        recipes = {describe.short_id(text): text for text in leading(runs, "recipe", first, leader)}
        chosen = state.select("Recipe", "recipe", list(recipes), format_func=lambda name: describe.recipe_text(recipes[name]))
        return keep(runs, "recipe", recipes.get(chosen, ""))


def leading(runs: pd.DataFrame, column: str, first: Sequence[str], leader: pd.DataFrame | None = None) -> list[str]:
    """`frames.setups`, those values ahead that `leader` has, and then those that have a run of a scenario of `first`."""
    every = frames.setups(runs, column)
    led = [] if leader is None else [value for value in leader[column] if value in every]
    return list(dict.fromkeys([*led, *frames.setups(runs[runs["scenario"].isin(first)], column), *every]))


def pick_methods(runs: pd.DataFrame, *, experiments: bool = False) -> pd.DataFrame:
    """The runs of the methods and settings that the reader chose in a popover, and of the references and of methods without a card.

    All at first, but where the demo has runs with the authors' and with other settings it opens on the authors'; the button says so.
    Parameters of the address: methods, settings.
    """
    present = set(runs["method"])
    ids = [card.id for card in catalog.methods() if card.id in present and card.family != "reference"]
    options = settings_of(runs)
    usual = usual_settings(options, experiments=experiments)
    settings = state.upcoming("settings", options, usual) if options else ALL
    button = "Methods" if settings == ALL else SETTINGS[settings]
    with st.popover(button, icon=":material/filter_list:", width="stretch", key="pick-methods"):
        if options:
            names = {ALL: "All", **SETTINGS}
            settings = state.segmented("Settings", "settings", options, default=usual, format_func=lambda name: names[name])
        chosen = state.multiselect("Methods", "methods", ids, default=ids, format_func=lambda name: catalog.method(name).title)
    known = runs["method"].isin(ids)
    wanted = runs["method"].isin(chosen) & has_settings(runs, settings)
    return runs[wanted | ~known]


def has_settings(runs: pd.DataFrame, settings: str) -> pd.Series:
    """Which runs have the settings of a preset, or none of a preset; the authors' are tuned, too, where a search found nothing better."""
    if settings == ALL:
        return pd.Series(True, index=runs.index)
    found = presets(runs).eq(settings)
    return found | _as_tuned(runs) if settings == "tuned" else found


def _as_tuned(runs: pd.DataFrame) -> pd.Series:
    tuned = {card.id: card.tuned for card in catalog.methods() if card.tuned}
    pairs = list(zip(runs["method"], runs["parameters"], strict=True))
    same = {(method, text): has_values(text, tuned[method]) for method, text in set(pairs) if method in tuned}
    return pd.Series([same.get(pair, False) for pair in pairs], index=runs.index)


def settings_of(runs: pd.DataFrame) -> list[str]:
    """What a reader can choose of presets: nothing where there is but one."""
    used = set(presets(runs[~runs["method"].isin(["original", "retrain"])]))
    options = [name for name in SETTINGS if name in used]
    return [ALL, *options] if len(options) > 1 else []


def usual_settings(options: Sequence[str], *, experiments: bool = False) -> str:
    """What a page opens on; one of `experiments` needs the runs with changed settings, where there are any."""
    return "authors" if options and data.source().demo and not (experiments and OWN in options) else ALL


def set_names(sets: Sequence[str]) -> list[str]:
    """The scenario parameters of forget sets (JSON texts) in words short enough for the row: no seed where all have the same one."""
    same_seed = len({json.loads(text).get("seed") for text in sets}) < 2
    shown = [json.loads(text) for text in sets]
    shown = [{name: value for name, value in each.items() if value is not None and not (name == "seed" and same_seed)} for each in shown]
    return [describe.settings_text({name.removesuffix("_id"): value for name, value in each.items()}) for each in shown]


def without(parameters: str, names: Sequence[str]) -> str:
    """The JSON text of scenario parameters, less those in `names`."""
    return json.dumps({name: value for name, value in json.loads(parameters).items() if name not in names}) if names else parameters


def keep(runs: pd.DataFrame, column: str, value: str) -> pd.DataFrame:
    return runs[runs[column] == value]
