"""Which scenarios have curves, and the chip that chooses among them."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.frames import budget as budget_frames
from dashboard.text import labels
from dashboard.widgets import run_filters, run_settings
from mucore import catalog
from mucore.runs import REFERENCES

panels = data.kept(8)(lambda where, runs: budget_frames.panels(runs))


def pick(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The runs of each panel, by the panel's id. Parameter: panels; a scenario of the address leads
    them.
    """
    # tuned at one size and taken at all of them is one line
    runs = runs.replace({"method_preset": {"tuned_elsewhere": "tuned"}})
    places = run_filters.chip_line("forget", "data", "methods", "settings", "seeds")
    first = state.param("scenario")
    with places["data"]:
        known = [*panels(runs)]
        runs = run_filters.pick_data(runs, [first] if first in known else known)
    runs = growing(run_filters.pick_hashes(runs, runs.iloc[:0]))
    every = panels(runs)
    every = dict(sorted(every.items(), key=lambda each: each[0] != first))
    usual = [name for name in every if "." not in name]  # one forget set of each scenario
    chosen = state.upcoming_choices("panels", [*every], usual)
    names = {name: title(each) for name, each in every.items()}
    said = (
        ", ".join(short(name) for name in chosen) if len(chosen) < 3 else f"{len(chosen)} scenarios"
    )
    with places["forget"], run_filters.chip("forget", "Forget", said or labels.MISSING):
        state.multiselect(
            "Panels", "panels", [*every], default=usual, format_func=names.__getitem__
        )
    picked = pd.concat([every[name] for name in chosen]) if chosen else runs.iloc[:0]
    del places["forget"], places["data"]
    seeds = places.pop("seeds")
    picked = run_filters.pick_methods(picked, places)
    found = {
        name: budget_frames.alike(mine)
        for name in chosen
        if budget_frames.grows(mine := picked[picked["key"].isin(every[name]["key"])])
    }
    with seeds:
        run_filters.seeds_chip(pd.concat([*found.values()]) if found else picked)
    run_filters.absent(picked)
    return found


@data.kept(8)
def growing(where: data.Source, runs: pd.DataFrame) -> pd.DataFrame:
    """Those of `runs` that are part of a line of several sizes, with the settings of one preset or
    all alike, and the references.
    """
    options = run_settings.settings_of(runs) or [run_settings.ALL]
    mine = [runs[run_settings.has_settings(runs, each)] for each in options]
    keys = [each["key"] for one in mine for each in budget_frames.grown(one)]
    references = runs["method"].isin(REFERENCES)
    return runs[references | runs["key"].isin(pd.concat(keys))] if keys else runs[references]


def short(panel: str) -> str:
    """ "part of one class"."""
    name = labels.scenario_title(panel.partition(".")[0])
    return name[0].lower() + name[1:]


def title(runs: pd.DataFrame) -> str:
    """ "Part of one class: T-shirt/top"."""
    line = runs.iloc[0]
    said = budget_frames.rest(str(line["scenario_parameters"]))
    return labels.set_title(str(line["scenario"]), said, str(line["dataset"]))


@st.cache_data(show_spinner=False, max_entries=32)
def points(
    _panels: Mapping[str, pd.DataFrame],
    _every: pd.DataFrame,
    name: str,
    change: int,
    chosen: str,
    metrics: tuple[str, ...],
) -> pd.DataFrame:
    """`budget_frames.points` of each `panel`; `name`, `change` and `chosen` say which runs, so that
    the frames need no hashing.
    """
    judged, values = data.judged(_every), numbers(_every)
    found = [
        budget_frames.points(runs, values, metrics, judged=judged).assign(panel=panel)
        for panel, runs in _panels.items()
    ]
    return pd.concat(found, ignore_index=True)


def numbers(runs: pd.DataFrame) -> pd.DataFrame:
    """The metrics of the runs, of one data set."""
    return data.metric_values(
        dataset=str(runs.iloc[0]["dataset"]), scenario=tuple(sorted(set(runs["scenario"])))
    )


def metrics(runs: pd.DataFrame) -> list[str]:
    """What these runs have, in the order of the cards."""
    values = numbers(runs)
    there = budget_frames.measured(values[values["key"].isin(runs["key"])])
    return [card.id for card in catalog.metrics() if card.id in there]
