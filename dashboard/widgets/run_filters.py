"""The line of chips that pages share: one data set, model, recipe, scenario and forget set, in the
address.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd
import streamlit as st

from dashboard import data, frames, state
from dashboard.text import labels, units
from dashboard.text.labels import MISSING
from dashboard.text.presets import presets
from dashboard.text.tags import tags_in, tags_of
from dashboard.widgets.markdown import escape
from dashboard.widgets.run_hashes import newest_hashes, pick_hashes
from dashboard.widgets.run_settings import (
    ALL,
    NAMES,
    SETTINGS,
    has_settings,
    settings_of,
    usual_settings,
)
from mucore import catalog, titles
from mucore.errors import UnknownName

# What Start and Results open on: of every family the methods that a reader is most likely to have
# heard of, each with what it stands for.
KNOWN: Final[Mapping[str, str]] = {
    "sisa": "exact unlearning: retrains the affected shards",
    "gradient_ascent": "the simplest way: training steps in reverse",
    "neggrad_plus": "ascent on forgotten samples, descent on retained ones",
    "ssd": "dampens the weights that matter to the forget set, without a training step",
    "fisher": "adds noise where Fisher information says it is safe",
    "scrub": "a student that departs from its teacher on the forget set only",
    "bad_teacher": "a student that learns the forget set from an untrained teacher",
    "random_labels": "the simplest relabelling, part of many later methods",
    "finetune": "keeps training without the forget set: the baseline to beat",
    "salun": "random labels, moving only the weights that matter",
    "duck": "moves features to the centroid of another class",
    "fcs": "the winner of the NeurIPS 2023 competition",
}
# a whole class can be seen to be forgotten; what became of a few samples often cannot
OPENS_ON: Final = ("class_wise",)


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
    """The runs of one data set, model, recipe, scenario and forget set, and of the same content of
    the user's own data and weights, as the reader chose them; references are always among them. A
    line of chips, each with what is chosen on it and the choice behind it.

    `scenarios` are those that the page can show (default: all that have a run), `first` those that
    it opens on where they have a run. Without `sets`, every forget set of the scenario stays;
    forget sets that differ in the parameters `varying` alone count as one; those that have a run of
    the keys `ahead` lead. Where the address does not choose, the setting is that of the run
    `opens`. `extra` draws a widget of the page's own behind the chips. A page of `experiments`
    opens on every setting, changed ones too. Parameters of the address: comparison,
    dataset, model, recipe, scenario, set, hashes, methods, settings. An empty frame where no run of
    those scenarios has finished.
    """
    last = "seeds" if extra is None else "extra"
    places = chip_line("forget", "data", "methods", "settings", last, "reset")
    if extra is not None:
        with places["extra"]:
            extra()
    if scenarios is not None:
        runs = runs[runs["scenario"].isin(list(scenarios))]
    # a link that names a scenario and no data set means data that have it
    asked = state.param("scenario")
    leader = runs[runs["key"] == opens]
    with places["data"]:
        runs = pick_data(runs, [asked] if (runs["scenario"] == asked).any() else first, leader)
    with places["forget"]:
        runs = pick_forget_set(runs, leader, first, sets=sets, varying=varying, ahead=ahead)
    runs = pick_hashes(runs, leader)
    runs = pick_methods(runs, places, experiments=experiments)
    with places["reset"]:
        if any(state.params(name) for name in state.FILTERS):
            reset_button()
    absent(runs)
    return runs


@dataclass(frozen=True)
class Menu:
    """A choice that a chip needs to know before its menu is drawn."""

    label: str
    name: str
    options: Sequence[str]
    shown: Callable[[str], str] = str
    default: str | None = None

    @property
    def value(self) -> str:
        return state.upcoming(self.name, self.options, self.default)

    def draw(self) -> None:
        state.select(
            self.label, self.name, self.options, default=self.default, format_func=self.shown
        )


def chip_line(*names: str) -> dict[str, st.delta_generator.DeltaGenerator]:
    """The places of a page's chips, in one line."""
    with st.container(key="chips", horizontal=True, vertical_alignment="center", gap="small"):
        return {name: st.container(width="content") for name in names}


def chip(name: str, label: str, value: str) -> st.delta_generator.DeltaGenerator:
    """A popover that says what is chosen in it."""
    return st.popover(f"{label} **{escape(value)}**".strip(), key=f"chip-{name}")


def pick_forget_set(
    runs: pd.DataFrame,
    leader: pd.DataFrame,
    first: Sequence[str],
    *,
    sets: bool,
    varying: Sequence[str],
    ahead: Collection[str],
) -> pd.DataFrame:
    """The runs of one scenario and, with `sets`, forget set. Parameters: scenario, set."""
    order = scenario_order(runs)
    usual = next((name for name in [*leader["scenario"], *first] if name in order), None)
    menus = [Menu("Scenario", "scenario", order, labels.scenario_title, usual)]
    scenario = menus[0].value
    runs = keep(runs, "scenario", scenario)
    said = labels.scenario_title(scenario) if scenario else MISSING
    if sets and scenario:
        led = [t for t in leader["scenario_parameters"] if t in set(runs["scenario_parameters"])]
        led += [
            *frames.setups(runs[runs["key"].isin(ahead)], "scenario_parameters"),
            *frames.setups(runs, "scenario_parameters"),
        ]
        alike = {text: without(text, varying) for text in led}
        found = {labels.short_id(text): text for text in alike.values()}
        dataset = str(next(iter(runs["dataset"]), ""))
        names = dict(zip(found, set_names(list(found.values()), dataset), strict=True))
        menus.append(Menu("Forget set", "set", list(found), names.__getitem__))
        runs = runs[runs["scenario_parameters"].map(alike) == found.get(menus[1].value, "")]
        if not varying and len(runs):
            line = runs.iloc[0]
            said = labels.forgotten_text(
                scenario, str(line["scenario_parameters"]), dataset, int(line["forget_count"])
            )
    with chip("forget", "Forget", said):
        for menu in menus:
            menu.draw()
    return runs


def hidden() -> list[str]:
    """The methods that a reader hid, on whatever page."""
    return state.upcoming_choices("hide", list(_known()))


def pinned() -> list[str]:
    """The methods that a reader pinned, on whatever page; one that is hidden, too, is hidden."""
    away = hidden()
    return [name for name in state.upcoming_choices("pin", list(_known())) if name not in away]


def _known() -> dict[str, str]:
    """Titles of the methods that can be hidden and pinned, by id."""
    return {
        card.id: labels.method_names(card.id)[0]
        for card in catalog.methods()
        if card.family != "reference"
    }


def pick_values_or_gaps(**look: Any) -> None:
    """Whether numbers are shown as they are or as gaps to Retrain. Parameter: view."""
    names = {"value": "Values", "gap": "Gaps to Retrain"}
    state.segmented("Show", "view", list(names), format_func=names.__getitem__, **look)


def values_or_gaps() -> frames.View:
    """What `pick_values_or_gaps` was set to."""
    return "gap" if state.choice("view", ["value", "gap"]) == "gap" else "value"


def absent(runs: pd.DataFrame) -> None:
    """A line below the chips where a reader chose what this page cannot show, and the way back."""
    found = []
    for name, title in (
        ("dataset", titles.dataset),
        ("model", titles.model),
        ("scenario", labels.scenario_title),
    ):
        asked = state.param(name)
        if asked and len(runs) and asked not in set(runs[name]):
            found.append(_named(asked, title))
    methods = state.params("methods")
    if any(methods) and not set(methods) & set(runs["method"]):
        found.append(units.shortened([labels.method_names(each)[0] for each in methods], 3))
    if not found:
        return
    st.markdown(f":material/info: No results here for {escape(units.joined(found))}.")


def reset_button() -> None:
    """The way back to what each page opens on."""
    st.button(
        "Reset filters",
        icon=":material/filter_list_off:",
        type="tertiary",
        on_click=state.reset_filters,
    )


def _named(value: str, title: Callable[[str], str]) -> str:
    try:
        return title(value)
    except UnknownName:
        return value


def usual_runs(runs: pd.DataFrame, settings: str = "") -> pd.DataFrame:
    """What Start and Results open on: a whole class where there is one, and in the demo the tuned
    settings; or those `settings`, where they can be chosen. Less what a reader hid.
    """
    runs = runs[~runs["method"].isin(hidden())]
    for column in ("dataset", "model", "recipe"):
        runs = keep(runs, column, next(iter(leading(runs, column, OPENS_ON)), ""))
    order = scenario_order(runs)
    runs = keep(runs, "scenario", next((name for name in (*OPENS_ON, *order) if name in order), ""))
    runs = keep(
        runs, "scenario_parameters", next(iter(frames.setups(runs, "scenario_parameters")), "")
    )
    runs = keep(runs, "hashes", next(iter(newest_hashes(runs)), ""))
    options = settings_of(runs)
    fits = has_settings(runs, settings if settings in options else usual_settings(options))
    return runs[fits | ~runs["method"].isin(methods_of(runs))]


def scenario_order(runs: pd.DataFrame) -> list[str]:
    """The scenarios of `runs` in the order of the cards."""
    present = set(runs["scenario"])
    return [card.id for card in catalog.scenarios() if card.id in present]


def pick_data(
    runs: pd.DataFrame, first: Sequence[str] = (), leader: pd.DataFrame | None = None
) -> pd.DataFrame:
    """The runs of one comparison (or all, or all with a tag), data set, model and recipe, chosen
    behind a chip.

    Those of the run `leader`, a frame of one line or none, lead, and then those with a scenario of
    `first`.
    """
    every = data.comparisons()
    tags, menus = tags_of(every), []

    def ask(menu: Menu) -> str:
        menus.append(menu)
        return menu.value

    tag = ask(Menu("Tag", "tag", [ALL, *tags], tag_title)) if tags else ALL
    tagged = [one for one in every if tag in (ALL, *tags_in(one.note))]
    known = {str(one.id): one.name for one in tagged}
    comparison = ask(
        Menu("Comparison", "comparison", [ALL, *known], lambda name: known.get(name, "All runs"))
    )
    if comparison != ALL:
        mine = data.summaries(comparison=int(comparison))
        runs = runs[runs["key"].isin(mine["key"])]
    elif tag != ALL:
        runs = runs[runs["key"].isin({key for one in tagged for key in one.keys})]
    named = []
    for label, column, title in (
        ("Data set", "dataset", titles.dataset),
        ("Model", "model", titles.model),
    ):
        value = ask(Menu(label, column, leading(runs, column, first, leader), title))
        runs = keep(runs, column, value)
        named.append(title(value) if value else MISSING)
    recipes = {labels.short_id(text): text for text in leading(runs, "recipe", first, leader)}
    chosen = ask(
        Menu("Recipe", "recipe", list(recipes), lambda name: labels.recipe_text(recipes[name]))
    )
    with chip("data", known.get(comparison, ""), " · ".join(named)):
        for menu in menus:
            menu.draw()
    return keep(runs, "recipe", recipes.get(chosen, ""))


def tag_title(tag: str) -> str:
    return "All tags" if tag == ALL else f"#{tag}"


def leading(
    runs: pd.DataFrame, column: str, first: Sequence[str], leader: pd.DataFrame | None = None
) -> list[str]:
    """`frames.setups`, those values ahead that `leader` has, and then those that have a run of a
    scenario of `first`.
    """
    every = frames.setups(runs, column)
    led = [] if leader is None else [value for value in leader[column] if value in every]
    return list(
        dict.fromkeys([*led, *frames.setups(runs[runs["scenario"].isin(first)], column), *every])
    )


def pick_methods(
    runs: pd.DataFrame,
    places: Mapping[str, st.delta_generator.DeltaGenerator],
    *,
    experiments: bool = False,
) -> pd.DataFrame:
    """The runs of the methods and settings that the reader chose behind two chips, and of the
    references and of methods without a card.

    All at first, but where the demo has runs with several settings it opens on the tuned ones, or
    on the authors' where no search has been. Parameters: methods, settings, hide, pin.
    """
    every, runs = runs, runs[~runs["method"].isin(hidden())]
    ids, options, kept = methods_of(runs), settings_of(runs), pinned()
    usual = usual_settings(options, experiments=experiments)
    settings = state.upcoming("settings", options, usual) if options else ALL
    chosen = state.upcoming_choices("methods", ids, ids)
    mine, fits = runs["method"].isin([*chosen, *kept]), has_settings(every, settings)
    there, fits = methods_of(every[fits]), fits[runs.index]
    shown = methods_of(runs[mine & fits])
    many = "all" if len(shown) == len(there) else f"{len(shown)} of"
    label = "On offer" if "extra" in places else "Methods"
    with places["methods"], chip("methods", label, f"{many} {len(there)}"):
        state.multiselect(
            "Methods",
            "methods",
            ids,
            default=ids,
            format_func=lambda name: labels.method_names(name)[0],
        )
        st.button(
            "One or two of each family",
            type="tertiary",
            on_click=state.set_param,
            args=("methods", [name for name in ids if name in KNOWN]),
        )
        _hide_and_pin()
    if options:
        with places["settings"], chip("settings", "Settings", NAMES[settings].lower()):
            state.segmented(
                "Settings", "settings", options, default=usual, format_func=NAMES.__getitem__
            )
            if settings == "tuned":
                _said_of_untuned([name for name in methods_of(runs[mine]) if name not in there])
    elif len(used := presets(runs[runs["method"].isin(ids)]).unique()) == 1:
        with places["settings"]:
            name = SETTINGS.get(used[0], used[0])
            st.html(f'<span class="chip">Settings {escape(name.lower())}</span>')
    picked = runs[(mine & fits) | ~runs["method"].isin(ids)]
    if "seeds" in places:
        with places["seeds"]:
            seeds_chip(picked)
    return picked


def seeds_chip(runs: pd.DataFrame) -> None:
    """How many trainings the methods among `runs` rest on."""
    seeds = runs[runs["method"].isin(methods_of(runs))]["training_seed"].nunique()
    st.html(f'<span class="chip">{units.count(seeds, "seed")}</span>')


def _said_of_untuned(methods: Sequence[str]) -> None:
    """Which methods have no tuned setting here; nothing where there are none."""
    if methods:
        named = units.shortened([labels.method_names(each)[0] for each in methods], 6)
        st.caption(f"Not tuned here, so not shown: {escape(named)}.")


def pick_hidden() -> None:
    """A popover that hides and pins methods, for a page without `pick_runs`."""
    with st.popover("Methods", icon=":material/filter_list:", width="stretch", key="pick-methods"):
        _hide_and_pin()


def _hide_and_pin() -> None:
    """Which methods no page with this filter shows, and which all of them do; Start has no filter
    and does as they do. Parameters: hide, pin.
    """
    titles_by_id = _known()
    for label, name, told in (
        ("Hide on every page", "hide", "They stay hidden on Start and all pages with this filter."),
        ("Pin on every page", "pin", "Shown whatever else is chosen; first in Results and Board."),
    ):
        state.multiselect(
            label, name, list(titles_by_id), format_func=titles_by_id.__getitem__, help=told
        )


def methods_of(runs: pd.DataFrame) -> list[str]:
    """The methods of `runs` in the order of the cards, without the references."""
    present = set(runs["method"])
    return [
        card.id for card in catalog.methods() if card.id in present and card.family != "reference"
    ]


def set_names(sets: Sequence[str], dataset: str) -> list[str]:
    """The scenario parameters of forget sets (JSON texts) in words short enough for the row: no
    seed where all have the same one.
    """
    same_seed = len({json.loads(text).get("seed") for text in sets}) < 2
    shown = [json.loads(text) for text in sets]
    shown = [
        {
            name: value
            for name, value in each.items()
            if value is not None and not (name == "seed" and same_seed)
        }
        for each in shown
    ]
    return [_set_name(said, text, dataset) for said, text in zip(shown, sets, strict=True)]


def _set_name(said: Mapping[str, Any], parameters: str, dataset: str) -> str:
    """A forget set in words, also where nothing is left to say: the page chooses amounts
    elsewhere.
    """
    if said:
        return labels.forget_set_text(said, dataset)
    return "every class, first with last" if "pairs" in json.loads(parameters) else "every amount"


def without(parameters: str, names: Sequence[str]) -> str:
    """The JSON text of scenario parameters, less those in `names`."""
    return (
        json.dumps(
            {name: value for name, value in json.loads(parameters).items() if name not in names}
        )
        if names
        else parameters
    )


def keep(runs: pd.DataFrame, column: str, value: str) -> pd.DataFrame:
    return runs[runs[column] == value]
