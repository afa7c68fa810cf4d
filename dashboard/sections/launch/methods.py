"""Launch: who should forget it, and with which settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import queue_data, state
from dashboard.sections.launch import own_method
from dashboard.sections.launch.dataset import Basis, check_weights
from dashboard.text import labels, units
from dashboard.widgets import fields, forms, uploads
from dashboard.widgets.markdown import escape
from mucore import catalog
from mucore.catalog import tuning
from mucore.catalog.cards import MethodCard, Task
from mucore.errors import BadValue, MucoreError
from mucore.runner.grid import parse_grid, tuning_tasks
from mucore.runs import method_parameters, refuse_scenario, refuse_task, stated

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
            reasons.append(labels.with_titles(str(failure), card.id))
    return " ".join(dict.fromkeys(reasons))


def choose_methods(scenarios: Sequence[str], task: Task) -> list[str]:
    st.subheader("Which methods should forget it?", anchor=False)
    families = list(catalog.FAMILIES)
    cards = sorted(
        (card for card in catalog.methods() if card.family != "reference"),
        key=lambda card: families.index(card.family),
    )
    refused = {card.id: reason for card in cards if (reason := refusal(card, scenarios, task))}
    allowed = [card.id for card in cards if card.id not in refused]
    honest = {card.id for card in catalog.all_methods()}  # of its own accord no one runs a cheat
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Original and Retrain always run as well.", width="stretch")
        st.button(
            "Write your own",
            key="enter_own:method",
            icon=":material/code:",
            type="tertiary",
            on_click=state.set_param,
            args=("own", "method"),
        )
        for label, names in (("All", [each for each in allowed if each in honest]), ("None", [])):
            st.button(
                label,
                key=f"{label.lower()}_methods",
                type="tertiary",
                on_click=state.set_param,
                args=("methods", names or [""]),
            )
    chosen = state.multiselect(
        "Methods",
        "methods",
        allowed,
        default=[name for name in own_method.FIRST_METHODS if name in allowed],
        format_func=lambda name: labels.method_names(name)[0],
        pills=True,
        label_visibility="collapsed",
    )
    if refused:
        names = ", ".join(labels.method_names(name)[0] for name in refused)
        st.caption(f"Not here: {escape(names)}", help="  \n".join(map(escape, refused.values())))
    for problem in catalog.plugin_problems():
        st.warning(escape(problem), icon=":material/extension_off:")
    return chosen


def method_settings(
    names: Sequence[str], basis: Basis, requests: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """The methods of a grid with what a person changed, under the scenarios `requests`. What the
    preset's paper sets for them comes in when runs are made, and is shown under "My own".
    """
    scenarios = {str(each["id"]) for each in requests}
    scenario = next(iter(scenarios)) if len(scenarios) == 1 else None
    settings = state.segmented(
        "Settings",
        "settings",
        list(SETTINGS),
        format_func=SETTINGS.__getitem__,
        help="Authors': as published, with epochs scaled to the recipe, or what a paper's preset "
        "sets. Tuned: found by our search. My own: set every parameter yourself.",
    )
    choices: list[dict[str, Any]] = []
    for name in names:
        card = catalog.method(name)
        preset = "tuned" if settings == "tuned" and queue_data.is_tuned(name) else "authors"
        choice: dict[str, Any] = {"id": name, "preset": preset}
        if settings == "own" or card.needs_file:
            choice["parameters"] = own_settings(card, basis, scenario)
        choices.append(choice)
    if settings == "tuned":
        say_untuned(names, basis, requests)
    return choices


def own_settings(card: MethodCard, basis: Basis, scenario: str | None) -> dict[str, Any]:
    """An expander with a field for each parameter; the values that a person changed."""
    start = method_parameters(card, basis.recipe, {}, scenario=scenario, paper=basis.preset)
    theirs = stated(card, basis.recipe, scenario, basis.preset)
    moved = any(state.param(f"{card.id}.{parameter.name}") for parameter in card.parameters)
    title = labels.method_names(card.id)[0]
    with st.expander(
        f"{title}: {units.count(len(card.parameters), 'parameter')}",
        expanded=moved or card.needs_file,
    ):
        form = forms.parameter_form(
            card.parameters, start, card.id, owner=card.title, origin="authors'", preset=theirs
        )
        fields.extend(form.problems)
        for parameter in card.parameters:
            if parameter.kind == "file":
                uploads.weights_field(f"{card.id}.{parameter.name}")
                check_weights(form.values.get(parameter.name, ""), basis)
    return form.changed


def say_untuned(names: Sequence[str], basis: Basis, requests: Sequence[Mapping[str, Any]]) -> None:
    """Which methods run with the authors' settings, and which with those of another task."""
    untuned = [name for name in names if not queue_data.is_tuned(name)]
    try:
        tasks = tuning_tasks(parse_grid({**basis.content(), "scenarios": requests, "methods": []}))
        elsewhere = [name for found in tuning.borrowed(names, tasks) for name in found.methods]
    except MucoreError:  # which stands beside the plan
        elsewhere = []
    for label, found in (
        ("Not tuned (authors' settings)", untuned),
        ("Tuned on another task", elsewhere),
    ):
        if found:
            titles = dict.fromkeys(labels.method_names(name)[0] for name in found)
            st.caption(f"{label}: {escape(', '.join(titles))}")
