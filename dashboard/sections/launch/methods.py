"""Launch: who should forget it, and with which settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import queue_data, state
from dashboard.sections.launch.dataset import Basis
from dashboard.sections.launch.entrance import entrance
from dashboard.text import labels, units
from dashboard.widgets import fields, forms, uploads
from dashboard.widgets.markdown import escape
from dashboard.widgets.own_files import check_weights
from mucore import catalog
from mucore.catalog import tuning
from mucore.catalog.cards import MethodCard, Task
from mucore.errors import BadValue, MucoreError
from mucore.runner.plan import parse_grid, tuning_tasks
from mucore.spec import method_parameters, refuse_scenario, refuse_task, stated

# ticked at first: quick ones, each of another family
FIRST_METHODS = ("gradient_ascent", "scrub", "random_labels", "finetune", "duck")
SETTINGS = {"authors": "Authors'", "tuned": "Tuned", "own": "My own"}


def refusal(card: MethodCard, scenarios: Sequence[str], task: Task) -> str:
    """Why the method cannot run at all under the chosen scenarios, "" where it can under one of
    them.
    """
    reasons = []
    for scenario in scenarios:
        try:
            refuse_task(card, task)
            refuse_scenario(card, scenario)
            return ""
        except BadValue as failure:
            reasons.append(str(failure))
    return " ".join(dict.fromkeys(reasons))


def choose_methods(scenarios: Sequence[str], task: Task) -> list[str]:
    st.subheader("Which methods should forget it?", anchor=False)
    cards = [card for card in catalog.methods() if card.family != "reference"]
    reasons = {card.id: refusal(card, scenarios, task) for card in cards}
    allowed = [card.id for card in cards if not reasons[card.id]]
    every = [card.id for card in catalog.all_methods() if not reasons.get(card.id, "reference")]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Original and Retrain always run as well, to compare with.", width="stretch")
        entrance("Write your own", "method", "code")
        st.button(
            "All",
            key="all_methods",
            type="tertiary",
            on_click=state.set_param,
            args=("methods", every),
        )
        st.button(
            "None",
            key="no_methods",
            type="tertiary",
            on_click=state.set_param,
            args=("methods", [""]),
        )
    groups = {
        title: [card for card in cards if card.family == family]
        for family, title in catalog.FAMILIES.items()
    }
    groups = {title: members for title, members in groups.items() if members}
    usual = [card.id for card in cards if card.id in FIRST_METHODS and card.id in allowed]
    chosen = set(state.choices("methods", allowed, default=usual))
    ticked: list[str] = []
    columns = st.columns(3)
    for number, (title, members) in enumerate(groups.items()):
        with columns[number % 3], st.container(border=True):
            st.markdown(f"**{title}**")
            for card in members:
                if state.tick(
                    labels.method_names(card.id)[0],
                    "methods",
                    card.id,
                    card.id in chosen,
                    help=_method_help(card),
                    disabled=bool(reasons[card.id]),
                ):
                    ticked.append(card.id)
                if reasons[card.id]:
                    st.caption(escape(labels.with_titles(reasons[card.id], card.id)))
    for problem in catalog.plugin_problems():
        st.warning(escape(problem), icon=":material/extension_off:")
    ticked = [name for name in ticked if not reasons[name]]
    state.set_ticked("methods", [card.id for card in cards if card.id in ticked], usual)
    if not ticked:
        st.caption(
            "No method is chosen, so only the original and the retrained model would be trained."
        )
    return ticked


def _method_help(card: MethodCard) -> str:
    return (
        f"{card.summary}  \n"
        f"Reads: {', '.join(sorted(card.reads)) or 'nothing'}.  \n"
        f"Source: {card.source}"
    )


def method_settings(
    names: Sequence[str], basis: Basis, requests: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """The methods of a grid with what a person changed, under the scenarios `requests`. What the
    preset's paper sets for them comes in when runs are made, and is shown.
    """
    scenarios = list(dict.fromkeys(str(each["id"]) for each in requests))
    scenario = scenarios[0] if len(scenarios) == 1 else None
    settings = state.segmented(
        "Settings",
        "settings",
        list(SETTINGS),
        format_func=SETTINGS.__getitem__,
        help="Authors': as published, with epochs scaled to the recipe. Tuned: found by our "
        "search. My own: set every parameter yourself.",
    )
    _say_one_of(names)
    choices: list[dict[str, Any]] = []
    for name in names:
        card = catalog.method(name)
        choice: dict[str, Any] = {
            "id": name,
            "preset": "tuned" if settings == "tuned" and queue_data.is_tuned(name) else "authors",
        }
        if settings == "own" or card.needs_file:
            start = method_parameters(card, basis.recipe, {}, scenario=scenario, paper=basis.preset)
            theirs = stated(card, basis.recipe, scenario, basis.preset)
            moved = (
                any(state.param(f"{name}.{parameter.name}") for parameter in card.parameters)
                or card.needs_file
            )
            of_preset = f", {len(theirs)} from the preset" if theirs else ""
            with st.expander(
                f"{labels.method_names(name)[0]}: "
                f"{units.count(len(card.parameters), 'parameter')}{of_preset}",
                expanded=moved,
            ):
                if len(scenarios) > 1 and (
                    own := [s for s in scenarios if s in card.scenario_values]
                ):
                    st.caption(" ".join(other_values(card, each) for each in own))
                form = forms.parameter_form(
                    card.parameters, start, name, owner=card.title, origin="authors'", preset=theirs
                )
                fields.extend(form.problems)
                choice["parameters"] = form.changed
                for parameter in card.parameters:
                    if parameter.kind == "file":
                        uploads.weights_field(f"{name}.{parameter.name}")
                        if given_file := form.values.get(parameter.name):
                            fields.checked(
                                lambda text=given_file: check_weights(
                                    text,
                                    basis.dataset,
                                    basis.model,
                                    basis.preset,
                                    basis.changes,
                                    basis.facts,
                                ),
                                None,
                            )
        choices.append(choice)
    if settings == "authors":
        say_preset(names, basis, scenarios)
    if settings == "tuned" and (
        untuned := [labels.method_names(name)[0] for name in names if not queue_data.is_tuned(name)]
    ):
        st.caption(
            "There are no tuned values yet for these, so the authors' are used: "
            f"{', '.join(untuned)}."
        )
    if settings == "tuned":
        _say_borrowed(names, basis, requests)
    return choices


def _say_one_of(names: Sequence[str]) -> None:
    """For which methods the link that led here has one setting of several."""
    if one_of := [labels.method_names(name)[0] for name in names if name in state.params("one_of")]:
        st.caption(
            escape(
                f"Of {units.joined(one_of)}, the runs that this link came from had several "
                "settings. A comparison takes one of each method: the tuned one, or else that of "
                "most runs. “Parameters to sweep” below runs several."
            )
        )


def _say_borrowed(
    names: Sequence[str], basis: Basis, requests: Sequence[Mapping[str, Any]]
) -> None:
    """Which tuned settings were found for another task than the one they are to run in."""
    if not requests:
        return
    try:
        tasks = tuning_tasks(parse_grid({**basis.content(), "scenarios": requests, "methods": []}))
    except MucoreError:  # which stands beside the plan
        return
    for each in tuning.borrowed(names, tasks):
        st.caption(labels.borrowed_text(each))


def say_preset(names: Sequence[str], basis: Basis, scenarios: Sequence[str]) -> None:
    """What the paper of the preset sets for the chosen methods in the place of their authors'
    values.
    """
    found = []
    for name in names:
        card = catalog.method(name)
        values = {
            scenario: stated(card, basis.recipe, scenario, basis.preset) for scenario in scenarios
        }
        for text in dict.fromkeys(labels.settings_text(each) for each in values.values() if each):
            where = [
                catalog.scenario(each).title
                for each in scenarios
                if values[each] and labels.settings_text(values[each]) == text
            ]
            found.append(
                f"{labels.method_names(card.id)[0]}: {text}"
                + (f" ({', '.join(where)})" if len(where) < len(scenarios) else "")
            )
    if found:
        st.caption(f":blue-badge[From the preset] {escape('; '.join(found))}.")


def other_values(card: MethodCard, scenario: str) -> str:
    """What the authors set otherwise under a scenario, which counts there for each field that is
    left as it is.
    """
    return (
        f"Unless you change it, {catalog.scenario(scenario).title} uses "
        f"{labels.settings_text(card.scenario_values[scenario])}."
    )
