"""Launch: who should forget it, and with which settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from dashboard import describe, state, widgets, words
from dashboard.launching import parts, uploads
from mucore import catalog
from mucore.catalog.cards import MethodCard, Task
from mucore.errors import BadValue
from mucore.spec import Recipe, method_parameters, refuse_scenario, refuse_task

SETTINGS = {"authors": "Authors'", "tuned": "Tuned", "own": "My own"}


def refusal(card: MethodCard, scenarios: Sequence[str], task: Task) -> str:
    """Why the method cannot run at all under the chosen scenarios, "" where it can under one of them."""
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
    st.subheader("Who should forget it?", anchor=False)
    cards = [card for card in catalog.methods() if card.family != "reference"]
    reasons = {card.id: refusal(card, scenarios, task) for card in cards}
    allowed = [card.id for card in cards if not reasons[card.id]]
    unaided = [card.id for card in cards if not reasons[card.id] and not card.needs_file]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Original and Retrain are always part of it: they are what every method is compared with.", width="stretch")
        st.button("All", key="all_methods", type="tertiary", on_click=state.set_param, args=("methods", unaided))
        st.button("None", key="no_methods", type="tertiary", on_click=state.set_param, args=("methods", [""]))
    groups = {title: [card for card in cards if card.family == family] for family, title in catalog.FAMILIES.items()}
    groups = {title: members for title, members in groups.items() if members}
    chosen = set(state.choices("methods", allowed, default=[name for name in ("finetune", "gradient_ascent", "salun") if name in allowed]))
    ticked: list[str] = []
    columns = st.columns(3)
    for number, (title, members) in enumerate(groups.items()):
        with columns[number % 3], st.container(border=True):
            st.markdown(f"**{title}**")
            for card in members:
                if state.tick(card.title, "methods", card.id, card.id in chosen, help=_method_help(card), disabled=bool(reasons[card.id])):
                    ticked.append(card.id)
                if reasons[card.id]:
                    st.caption(widgets.escape(describe.with_titles(reasons[card.id], card.id)))
    for problem in catalog.plugin_problems():
        st.warning(widgets.escape(problem), icon=":material/extension_off:")
    ticked = [name for name in ticked if not reasons[name]]
    state.set_ticked("methods", ticked)
    if not ticked:
        st.caption("No method is chosen: only the original and the retrained model would be made.")
    return ticked


def _method_help(card: MethodCard) -> str:
    return f"{card.summary}  \nReads: {', '.join(sorted(card.reads)) or 'nothing'}.  \nSource: {card.source}"


def method_settings(names: Sequence[str], recipe: Recipe, scenarios: Sequence[str]) -> list[dict[str, Any]]:
    settings = state.segmented(
        "Settings",
        "settings",
        list(SETTINGS),
        format_func=SETTINGS.__getitem__,
        help="Authors': as published, epochs scaled to the recipe. Tuned: searched here. My own: every parameter.",
    )
    choices: list[dict[str, Any]] = []
    for name in names:
        card = catalog.method(name)
        choice: dict[str, Any] = {"id": name, "preset": "tuned" if settings == "tuned" and card.tuned else "authors"}
        if settings == "own" or card.needs_file:
            start = method_parameters(card, recipe, {}, scenario=scenarios[0] if len(scenarios) == 1 else None)
            moved = any(state.param(f"{name}.{parameter.name}") for parameter in card.parameters) or card.needs_file
            with st.expander(f"{card.title}: {words.count(len(card.parameters), 'parameter')}", expanded=moved):
                if len(scenarios) > 1 and (own := [s for s in scenarios if s in card.scenario_values]):
                    st.caption(" ".join(other_values(card, scenario) for scenario in own))
                form = widgets.parameter_form(card.parameters, start, name)
                parts.extend(form.problems)
                choice["parameters"] = form.changed
                for parameter in card.parameters:
                    if parameter.kind == "file":
                        uploads.weights_field(f"{name}.{parameter.name}")
        choices.append(choice)
    if settings == "tuned" and (untuned := [catalog.method(name).title for name in names if not catalog.method(name).tuned]):
        st.caption(f"No tuned values yet, so the authors' are used: {', '.join(untuned)}.")
    return choices


def other_values(card: MethodCard, scenario: str) -> str:
    """What the authors set otherwise under a scenario, which counts there for each field that is left as it is."""
    return f"Where nothing is changed, {catalog.scenario(scenario).title} has {describe.settings_text(card.scenario_values[scenario])}."
