"""Launch: what should be forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from dashboard import state
from dashboard.sections.launch.dataset import Basis
from dashboard.widgets import fields
from dashboard.widgets.scenario_form import scenario_form
from mucore import catalog
from mucore.catalog.cards import Task
from mucore.runs import FIRST, fill


def choose_scenarios(class_names: Sequence[str], task: Task, basis: Basis) -> list[dict[str, Any]]:
    """The chosen scenarios; one with several budgets counts once for each. Those that do not serve
    the task are not offered.

    Scenarios and parameters that nobody touched are those of the preset, where it names some.
    """
    st.subheader("What should be forgotten?", anchor=False)
    cards = {card.id: card for card in catalog.scenarios() if task in card.tasks}
    preset = catalog.preset(basis.preset)
    usual = [name for name in fill(basis.preset, otherwise=FIRST).scenarios if name in cards] or [
        "all_classes"
    ]
    several = state.toggle(
        "Several scenarios",
        "several",
        default=[""] == state.params("scenarios") or len(state.params("scenarios") or usual) > 1,
        help="Off: a click replaces the scenario that was chosen.",
    )
    look: dict[str, Any] = {"format_func": lambda name: cards[name].title}
    if several:
        chosen = state.multiselect(
            "Scenarios", "scenarios", list(cards), default=usual, pills=True, **look
        )
    else:
        chosen = [
            state.segmented(
                "Scenario", "scenarios", list(cards), default=usual[0], wrap=True, **look
            )
        ]
    if not chosen:
        fields.tell("Choose at least one scenario.")
    choices: list[dict[str, Any]] = []
    for name in chosen:
        with st.container(border=True):
            st.markdown(
                f"**{cards[name].title}**",
                help=f"{cards[name].meaning} Source: {cards[name].source}",
            )
            st.caption(cards[name].question)
            choices += scenario_form(
                cards[name], class_names, basis.dataset, preset.scenarios.get(name, {})
            )
    return choices


def in_sequence(choices: Sequence[dict[str, Any]]) -> bool:
    """Whether the chosen scenarios are requests made one after another; asked where there are
    several.
    """
    return len(choices) > 1 and state.toggle(
        "One after another",
        "sequence",
        help="Each scenario is a request to the result of the one before, in this order. "
        "Otherwise each starts from the original.",
    )
