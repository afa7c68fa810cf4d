"""The row of filters that pages share: one data set, model, recipe, scenario and forget set, in the address."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st

from dashboard import data, describe, frames, state
from mucore import catalog

ALL = "all"


def pick_runs(
    runs: pd.DataFrame,
    *,
    scenarios: Sequence[str] | None = None,
    first: Sequence[str] = (),
    sets: bool = True,
    varying: Sequence[str] = (),
    methods: bool = True,
    extra: Callable[[], None] | None = None,
) -> pd.DataFrame:
    """The runs of one data set, model, recipe, scenario and forget set, as the reader chose them; references are always among them.

    `scenarios` are those that the page can show (default: all that have a run), `first` those that it opens on where they have a run.
    Without `sets`, every forget set of the scenario stays; forget sets that differ in the parameters `varying` alone count as one. Without
    `methods`, every method. `extra` draws a widget of the page's own into the row. Parameters of the address: comparison, dataset, model,
    recipe, scenario, set, methods. An empty frame where no run of those scenarios has finished.
    """
    widths = {"scenario": 1.9, "set": 2.2 * sets, "extra": 2.1 * (extra is not None), "data": 1.6, "methods": 1.5 * methods}
    widths = {name: width for name, width in widths.items() if width}
    row = st.columns(list(widths.values()), vertical_alignment="bottom", gap="small")
    place = dict(zip(widths, row, strict=True))
    if extra is not None:
        with place["extra"]:
            extra()
    if scenarios is not None:
        runs = runs[runs["scenario"].isin(list(scenarios))]
    with place["data"]:
        runs = pick_data(runs, first)
    with place["scenario"]:
        present = frames.setups(runs, "scenario")
        order = [card.id for card in catalog.scenarios() if card.id in present]
        usual = next((name for name in first if name in present), None)
        runs = keep(runs, "scenario", state.select("Scenario", "scenario", order, default=usual, format_func=describe.scenario_title))
    if sets:
        with place["set"]:
            alike = {text: without(text, varying) for text in frames.setups(runs, "scenario_parameters")}
            found = {describe.short_id(text): text for text in alike.values()}
            name = state.select("Forget set", "set", list(found), format_func=lambda name: describe.settings_text(found[name]))
            runs = runs[runs["scenario_parameters"].map(alike) == found.get(name, "")]
    if methods:
        with place["methods"], st.popover("Methods", icon=":material/filter_list:", width="stretch"):
            runs = pick_methods(runs)
    return runs


def pick_data(runs: pd.DataFrame, first: Sequence[str] = ()) -> pd.DataFrame:
    """The runs of one comparison (or all), data set, model and recipe, chosen in a popover; those with a scenario of `first` lead."""
    known = {str(one.id): one.name for one in data.comparisons()}
    with st.popover("Data, model", icon=":material/tune:", width="stretch"):
        comparison = state.select("Comparison", "comparison", [ALL, *known], format_func=lambda name: known.get(name, "All runs"))
        if comparison != ALL:
            mine = data.summaries(comparison=int(comparison))
            runs = runs[runs["key"].isin(mine["key"])]
        for label, column in (("Data set", "dataset"), ("Model", "model")):
            runs = keep(runs, column, state.select(label, column, leading(runs, column, first)))
        recipes = {describe.short_id(text): text for text in leading(runs, "recipe", first)}
        chosen = state.select("Recipe", "recipe", list(recipes), format_func=lambda name: describe.recipe_text(recipes[name]))
        return keep(runs, "recipe", recipes.get(chosen, ""))


def leading(runs: pd.DataFrame, column: str, first: Sequence[str]) -> list[str]:
    """`frames.setups`, those values ahead that have a run of a scenario of `first`."""
    return list(dict.fromkeys([*frames.setups(runs[runs["scenario"].isin(first)], column), *frames.setups(runs, column)]))


def pick_methods(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs of the methods that the reader ticked, all at first, and of the references and of methods without a card."""
    present = set(runs["method"])
    ids = [card.id for card in catalog.methods() if card.id in present and card.family != "reference"]
    chosen = state.multiselect("Methods", "methods", ids, default=ids, format_func=lambda name: catalog.method(name).title)
    return runs[runs["method"].isin(["original", "retrain", *chosen]) | ~runs["method"].isin([*ids, "original", "retrain"])]


def without(parameters: str, names: Sequence[str]) -> str:
    """The JSON text of scenario parameters, less those in `names`."""
    return json.dumps({name: value for name, value in json.loads(parameters).items() if name not in names}) if names else parameters


def keep(runs: pd.DataFrame, column: str, value: str) -> pd.DataFrame:
    return runs[runs[column] == value]
