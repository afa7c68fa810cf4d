"""What goes in: runs of one data set, model and recipe, of some of its forget sets."""

from __future__ import annotations

import pandas as pd

from dashboard import state
from dashboard.text import labels
from dashboard.widgets import run_filters


def pick(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs behind the chips. Without forget sets in the address, those of its scenario, or of
    the one that Results opens on. Parameters: those of the chips, scenario, sets.
    """
    places = run_filters.chip_line("forget", "data", "methods", "settings", "seeds")
    asked = state.params("scenario")
    with places["data"]:
        runs = run_filters.pick_data(runs, asked or run_filters.OPENS_ON)
    order = run_filters.scenario_order(runs)
    found = {
        labels.short_id(f"{name} {text}"): (name, text)
        for name in order
        for text in sorted(set(runs.loc[runs["scenario"] == name, "scenario_parameters"]))
    }
    usual = [name for name in asked if name in order]
    usual = usual or [name for name in (*run_filters.OPENS_ON, *order) if name in order][:1]
    default = [one for one, (name, _) in found.items() if name in usual]
    chosen = state.upcoming_choices("sets", [*found], default)
    names = {one: set_name(*pair, str(runs.iloc[0]["dataset"])) for one, pair in found.items()}
    said = names[chosen[0]] if len(chosen) == 1 else f"{len(chosen)} forget sets"
    with places.pop("forget"), run_filters.chip("forget", "Forget", said):
        state.multiselect(
            "Forget sets", "sets", [*found], default=default, format_func=names.__getitem__
        )
    kept = {found[one] for one in chosen}
    pairs = zip(runs["scenario"], runs["scenario_parameters"], strict=True)
    return run_filters.pick_methods(runs.loc[[pair in kept for pair in pairs]], places)


def set_name(scenario: str, parameters: str, dataset: str) -> str:
    return f"{labels.scenario_title(scenario)}: {labels.forget_set_text(parameters, dataset)}"
