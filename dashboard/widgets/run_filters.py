"""The row of filters that pages share: one data set, model, recipe, scenario and forget set, in the
address.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

import pandas as pd
import streamlit as st

from dashboard import data, frames, state
from dashboard.text import labels, units
from dashboard.text.tags import tags_in, tags_of
from dashboard.widgets import header
from dashboard.widgets.markdown import escape
from dashboard.widgets.run_hashes import newest_hashes, pick_hashes
from dashboard.widgets.run_settings import (
    ALL,
    has_curves,
    has_settings,
    setting_names,
    settings_of,
    usual_settings,
)
from mucore import catalog, titles
from mucore.errors import UnknownName
from mucore.statistics import SETTING
from mucore.store.rows import Comparison
from mucore.verdicts import nearest

# What Start and Results open on: of every family the methods that a reader is most likely to have
# heard of, each with what it stands for.
KNOWN: Final[Mapping[str, str]] = {
    "sisa": "exact unlearning: trains the affected shards again",
    "gradient_ascent": "the plainest way: the training step backwards",
    "neggrad_plus": "ascent on what goes held back by descent on what stays",
    "ssd": "dampens the weights that matter to the forget set, without a training step",
    "fisher": "adds noise where Fisher information says that it is safe",
    "scrub": "a student that departs from its teacher on the forget set only",
    "bad_teacher": "a student that learns the forget set from an untrained teacher",
    "random_labels": "the plainest relabelling, and part of many later methods",
    "finetune": "training on without the forget set: what any method has to beat",
    "salun": "random labels, moving only the weights that matter",
    "duck": "moves features to the centroid of another class",
    "fcs": "the winner of the NeurIPS 2023 competition",
}
MANY_METHODS: Final = 15  # up to here the demo shows all at once
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
    beside: bool = False,
    curves: bool = False,
) -> pd.DataFrame:
    """The runs of one data set, model, recipe, scenario and forget set, and of the same content of
    the user's own data and weights, as the reader chose them; references are always among them.

    `scenarios` are those that the page can show (default: all that have a run), `first` those that
    it opens on where they have a run. Without `sets`, every forget set of the scenario stays;
    forget sets that differ in the parameters `varying` alone count as one; those that have a run of
    the keys `ahead` lead. Where the address does not choose, the setting is that of the run
    `opens`. `extra` draws a widget of the page's own into the row, or the one below it. A page of
    `experiments` opens on every setting, changed ones too; one that shows settings `beside` each
    other opens as `usual_runs` has it, with its switches in a row below; one of `curves` over the
    size of the forget set opens on the authors' where they alone have several sizes. Parameters of
    the address: comparison, dataset, model, recipe, scenario, set, hashes, methods, settings,
    every. An empty frame where no run of those scenarios has finished.
    """
    above = extra is not None and not beside
    widths = {"scenario": 1.9, "set": 2.2 * sets, "extra": 2.1 * above, "data": 1.6, "methods": 1.5}
    widths = {name: width for name, width in widths.items() if width}
    row = header.filter_row(list(widths.values()))
    place = dict(zip(widths, row, strict=True))
    below = (
        st.container(horizontal=True, vertical_alignment="center", gap="medium") if beside else None
    )
    if extra is not None:
        with place["extra"] if below is None else below:
            extra()
    if scenarios is not None:
        runs = runs[runs["scenario"].isin(list(scenarios))]
    # a link that names a scenario and no data set means data that have it
    asked = state.param("scenario")
    leader = runs[runs["key"] == opens]
    with place["data"]:
        runs = pick_data(runs, [asked] if (runs["scenario"] == asked).any() else first, leader)
    with place["scenario"]:
        order = scenario_order(runs)
        usual = next((name for name in [*leader["scenario"], *first] if name in order), None)
        runs = keep(
            runs,
            "scenario",
            state.select(
                "Scenario", "scenario", order, default=usual, format_func=labels.scenario_title
            ),
        )
    if sets:
        with place["set"]:
            led = [
                text
                for text in leader["scenario_parameters"]
                if text in set(runs["scenario_parameters"])
            ]
            led += [
                *frames.setups(runs[runs["key"].isin(ahead)], "scenario_parameters"),
                *frames.setups(runs, "scenario_parameters"),
            ]
            alike = {text: without(text, varying) for text in led}
            found = {labels.short_id(text): text for text in alike.values()}
            names = dict(
                zip(
                    found,
                    set_names(list(found.values()), str(next(iter(runs["dataset"]), ""))),
                    strict=True,
                )
            )
            name = state.select("Forget set", "set", list(found), format_func=names.__getitem__)
            runs = runs[runs["scenario_parameters"].map(alike) == found.get(name, "")]
    runs = pick_hashes(runs, leader)
    told = st.container()
    with place["methods"]:
        picked = pick_methods(runs, told, experiments=experiments, below=below, curves=curves)
    said(runs)
    said_of_methods()
    return picked


def hidden() -> list[str]:
    """The methods that a reader hid, on whatever page."""
    return state.upcoming_choices("hide", list(_known()))


def pinned() -> list[str]:
    """The methods that a reader pinned, on whatever page; one that is hidden, too, is hidden."""
    away = hidden()
    return [name for name in state.upcoming_choices("pin", list(_known())) if name not in away]


def said_of_methods() -> None:
    """A line for the hidden methods and one for the pinned ones, each with the way back; nothing
    where there are none.
    """
    for name, found, told, back in (
        ("hide", hidden(), "Hidden on every page", "Show them again"),
        ("pin", pinned(), "Pinned on every page", "Unpin"),
    ):
        if not found:
            continue
        with st.container(
            horizontal=True, vertical_alignment="center", gap="small", key=f"said_{name}"
        ):
            icon = "visibility_off" if name == "hide" else "keep"
            shown = units.shortened([labels.method_names(each)[0] for each in found], 6)
            st.markdown(f":material/{icon}: {told}: {escape(shown)}.")
            st.button(
                back, type="tertiary", key=f"undo_{name}", on_click=state.forget, args=([name],)
            )


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


def said(runs: pd.DataFrame) -> None:
    """A line below the filters where a reader chose any: which of them this page cannot show, and
    the way back to its own.
    """
    if not any(state.params(name) for name in state.FILTERS):
        return
    absent, instead = [], []
    for name, title in (
        ("dataset", titles.dataset),
        ("model", titles.model),
        ("scenario", labels.scenario_title),
    ):
        asked, found = state.param(name), set(runs[name])
        if asked and asked not in found and len(found) == 1:
            absent.append(f"“{_named(asked, title)}”")
            instead.append(f"“{_named(str(next(iter(found))), title)}”")
    methods = state.params("methods")
    if any(methods) and not set(methods) & set(runs["method"]):
        absent.append("the chosen methods")
        instead.append("all methods")
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key="filters_said"
    ):
        if absent:
            verb = (
                "has" if len(absent) == len(instead) == 1 and instead != ["all methods"] else "have"
            )
            told = (
                f"{' and '.join(absent)} {verb} no results on this page; it shows "
                f"{' and '.join(instead)}."
            )
            st.markdown(f":material/info: {escape(told[0].upper() + told[1:])}")
        help_text = (
            "Back to the filters that each page opens on. Until then your choice is kept from "
            "page to page."
        )
        st.button(
            "Reset filters",
            icon=":material/filter_list_off:",
            type="tertiary",
            on_click=state.reset_filters,
            help=help_text,
        )


def _named(value: str, title: Callable[[str], str]) -> str:
    try:
        return title(value)
    except UnknownName:
        return value


def usual_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """What Start and Results open on: all of it where it is the reader's own. Of the demo a whole
    class, the best known methods, and each method's tuned settings beside the authors'. Less what
    a reader hid, and with what they pinned.
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
    ids = methods_of(runs)
    wanted = runs["method"].isin([*best_known(ids, runs), *pinned()]) & has_settings(
        runs, usual_settings(settings_of(runs), beside=True)
    )
    return runs[wanted | ~runs["method"].isin(ids)]


def scenario_order(runs: pd.DataFrame) -> list[str]:
    """The scenarios of `runs` in the order of the cards."""
    present = set(runs["scenario"])
    return [card.id for card in catalog.scenarios() if card.id in present]


def pick_data(
    runs: pd.DataFrame, first: Sequence[str] = (), leader: pd.DataFrame | None = None
) -> pd.DataFrame:
    """The runs of one comparison (or all, or all with a tag), data set, model and recipe, chosen in
    a popover.

    Those of the run `leader`, a frame of one line or none, lead, and then those with a scenario of
    `first`.
    """
    every = data.comparisons()
    tags = tags_of(every)
    with st.popover("Data, model", icon=":material/tune:", width="stretch"):
        tag = state.select("Tag", "tag", [ALL, *tags], format_func=tag_title) if tags else ALL
        tagged = [one for one in every if tag in (ALL, *tags_in(one.note))]
        known = {str(one.id): one.name for one in tagged}
        comparison = state.select(
            "Comparison",
            "comparison",
            [ALL, *known],
            format_func=lambda name: known.get(name, "All runs"),
        )
        if comparison != ALL:
            mine = data.summaries(comparison=int(comparison))
            runs = runs[runs["key"].isin(mine["key"])]
        elif tag != ALL:
            runs = runs[runs["key"].isin({key for one in tagged for key in one.keys})]
        for label, column, title in (
            ("Data set", "dataset", titles.dataset),
            ("Model", "model", titles.model),
        ):
            runs = keep(
                runs,
                column,
                state.select(
                    label, column, leading(runs, column, first, leader), format_func=title
                ),
            )
        recipes = {labels.short_id(text): text for text in leading(runs, "recipe", first, leader)}
        chosen = state.select(
            "Recipe",
            "recipe",
            list(recipes),
            format_func=lambda name: labels.recipe_text(recipes[name]),
        )
        return keep(runs, "recipe", recipes.get(chosen, ""))


def comparison_shown() -> Comparison | None:
    """The comparison whose runs alone `pick_data` keeps, None where it keeps those of several."""
    every = data.comparisons()
    tag = state.choice("tag", [ALL, *tags_of(every)])
    asked = state.param("comparison")
    return next(
        (one for one in every if str(one.id) == asked and tag in (ALL, *tags_in(one.note))), None
    )


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
    told: st.delta_generator.DeltaGenerator,
    *,
    experiments: bool = False,
    below: st.delta_generator.DeltaGenerator | None = None,
    curves: bool = False,
) -> pd.DataFrame:
    """The runs of the methods and settings that the reader chose in a popover, and of the
    references and of methods without a card.

    All at first, but where the demo has runs with several settings it opens on the tuned ones, or
    on the authors' where no search has been; the button says so. With a place `below`, settings
    stand there in sight, beside a switch to all methods where only the best known are shown at
    first. With `curves`, it opens on the authors' where they alone have several sizes of the forget
    set. `told` is the place for lines about methods that the tuned ones leave out, and about these
    sizes. Parameters of the address: methods, settings, every, hide, pin.
    """
    runs = runs[~runs["method"].isin(hidden())]
    ids, options, kept = methods_of(runs), settings_of(runs), pinned()
    usual = usual_settings(options, experiments=experiments, beside=below is not None)
    points = (
        curves
        and usual == "tuned"
        and has_curves(runs, "authors")
        and not has_curves(runs, "tuned")
    )
    usual = "authors" if points else usual
    settings = state.upcoming("settings", options, usual) if options else ALL
    names = setting_names(options)
    first = ids if below is None else best_known(ids, runs)
    first = [name for name in ids if name in first or name in kept]

    def pick_settings() -> str:
        return state.segmented(
            "Settings",
            "settings",
            options,
            default=usual,
            format_func=names.__getitem__,
            label_visibility="collapsed" if below else "visible",
        )

    if below is not None:
        with below:
            settings = pick_settings() if options else ALL
            if len(first) < len(ids) and _pick_every(ids, first):
                first = ids
    button = "Methods" if below is not None or settings == ALL else names[settings]
    with st.popover(button, icon=":material/filter_list:", width="stretch", key="pick-methods"):
        if options and below is None:
            settings = pick_settings()
        chosen = state.multiselect(
            "Methods",
            "methods",
            ids,
            default=first,
            format_func=lambda name: labels.method_names(name)[0],
        )
        _hide_and_pin()
    mine, fits = runs["method"].isin([*chosen, *kept]), has_settings(runs, settings)
    if settings == "tuned":
        with told:
            _said_of_untuned(sorted(set(runs["method"][mine]) - set(runs["method"][mine & fits])))
    if points:
        with told:
            _said_of_points(settings)
    return runs[(mine & fits) | ~runs["method"].isin(ids)]


def _said_of_untuned(methods: Sequence[str]) -> None:
    """A line that names the methods without a tuned setting here, and shows them with the
    authors'; nothing where there are none.
    """
    if not methods:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="untuned"):
        shown = units.shortened([labels.method_names(each)[0] for each in methods], 6)
        st.markdown(f":material/tune: Without a tuned setting, so not shown: {escape(shown)}.")
        st.button(
            "Show all settings",
            type="tertiary",
            on_click=state.set_param,
            args=("settings", ALL),
            help="A search found no setting that does anything on every seed at the cost that "
            "every method may take, or there has been none. Each method's page tells of its "
            "searches.",
        )


def _said_of_points(settings: str) -> None:
    """Where tuned settings have a single size of the forget set and the authors' several: which of
    them are shown, and the way to the others.
    """
    if settings == "tuned":
        text = "The authors' settings were run at several budgets, the tuned ones at one each."
        button, other = "Show the authors' settings", "authors"
    elif settings == "authors" and not state.param("settings"):
        text = (
            "Shown with the authors' settings: the tuned ones were run at one budget each, which "
            "makes no curve."
        )
        button, other = "Show the tuned settings", "tuned"
    else:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="points"):
        st.markdown(f":material/show_chart: {text}")
        st.button(button, type="tertiary", on_click=state.set_param, args=("settings", other))


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


def _pick_every(ids: Sequence[str], first: Sequence[str]) -> bool:
    """The switch from the best known methods to all; it takes back what the reader chose by
    name.
    """
    known = [name for name in first if name in KNOWN]  # what is pinned may be among the first, too
    shown = "; ".join(f"{catalog.method(name).title}, {KNOWN[name]}" for name in known)
    cheats = [card.title for card in catalog.METHODS if card.cheats and card.id in ids]
    beside = f" On: {units.joined(cheats)} as well, a baseline that cheats." if cheats else ""
    return state.toggle(
        f"All {len(ids) - len(cheats)} methods",
        "every",
        help=f"Off: {len(known)} of the best known. {shown}.{beside}",
        on_change=lambda: state.set_param("methods", None),
    )


def methods_of(runs: pd.DataFrame) -> list[str]:
    """The methods of `runs` in the order of the cards, without the references."""
    present = set(runs["method"])
    return [
        card.id for card in catalog.methods() if card.id in present and card.family != "reference"
    ]


def ran(runs: pd.DataFrame) -> int:
    """How many methods ran in the setting of `runs`, shown or not; a baseline that cheats is
    none.
    """
    first, every = runs.iloc[0], data.unlearning_runs()
    there = methods_of(every[(every[list(SETTING)] == first[list(SETTING)]).all(axis=1)])
    return len([name for name in there if not catalog.method(name).cheats])


def best_known(ids: Sequence[str], runs: pd.DataFrame) -> list[str]:
    """Those of `KNOWN` where the demo has many methods, and the one that is nearest to Retrain in
    these `runs`; all of `ids` where there are few, or the results are the reader's own.
    """
    known = [name for name in ids if name in KNOWN]
    if not known or len(ids) <= MANY_METHODS or not data.source().demo:
        return list(ids)
    near = nearest({line.keys: line for line in data.judged(runs).values()}.values())
    return [name for name in ids if name in known or name in {line.method for line in near[:1]}]


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
