"""What goes in: runs of one data set, model and recipe."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import frames, state
from dashboard.text import labels
from dashboard.widgets import run_filters
from mucore import catalog


def pick(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs of one data set, model and recipe, of any scenarios, forget sets and methods; none
    chosen means all of them.

    Without anything in the address, those of whole classes, as on other pages, else of the scenario
    with most runs.
    """
    places = run_filters.chip_line("data", "methods", "settings", "seeds")
    with places["data"]:
        runs = run_filters.pick_data(runs)
    left, right = st.columns(2)
    with left:
        present = frames.setups(runs, "scenario")
        order = [card.id for card in catalog.scenarios() if card.id in present]
        order += [name for name in present if name not in order]
        usual = next(
            (name for name in run_filters.OPENS_ON if name in present), next(iter(present), "")
        )
        wanted = state.multiselect(
            "Scenarios",
            "scenario",
            order,
            default=[usual],
            format_func=title,
            placeholder="All scenarios",
        )
        runs = runs[runs["scenario"].isin(wanted)] if wanted else runs
    with right:
        sets = {
            labels.short_id(f"{name} {text}"): (str(name), str(text))
            for name, text in forget_sets(runs)
        }
        dataset = str(next(iter(runs["dataset"]), ""))
        label = {
            name: f"{title(scenario)}: {labels.forget_set_text(text, dataset)}"
            for name, (scenario, text) in sets.items()
        }
        chosen = state.multiselect(
            "Forget sets",
            "sets",
            list(sets),
            format_func=lambda name: label[name],
            placeholder="All forget sets",
        )
        if chosen:
            kept = {sets[name] for name in chosen}
            runs = runs[
                [
                    pair in kept
                    for pair in zip(runs["scenario"], runs["scenario_parameters"], strict=True)
                ]
            ]
    return run_filters.pick_methods(runs, places)


def forget_sets(runs: pd.DataFrame) -> list[tuple[str, str]]:
    return list(
        runs[["scenario", "scenario_parameters"]]
        .drop_duplicates()
        .sort_values(["scenario", "scenario_parameters"])
        .itertuples(index=False, name=None)
    )


def title(scenario: str) -> str:
    known = {card.id: card.title for card in catalog.scenarios()}
    return known.get(scenario, scenario)
