"""Launch: choose data, what to forget and who should forget it; see what that means before anything
starts.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard import state
from dashboard.pages import TAB
from dashboard.sections.forget_sets import page as forget_sets
from dashboard.sections.launch import judge, own_method, search
from dashboard.sections.launch.dataset import choose_data
from dashboard.sections.launch.methods import choose_methods, method_settings
from dashboard.sections.launch.plan import choose_models, choose_seeds, plan_of, summary
from dashboard.sections.launch.recipe import say_changes
from dashboard.sections.launch.scenarios import choose_scenarios, in_sequence
from dashboard.sections.launch.sweeps import choose_sensitivity
from dashboard.widgets import fields, figures, header
from mucore import catalog
from mucore.userfiles import datasets

TABS = {"comparison": "Comparison", "judge": "Judge my model", "forget_sets": "Forget sets"}


def page() -> None:
    header.header(
        "What do you want to compare?",
        "Choose data, what to forget, and methods; the address holds the whole selection. Runs "
        "that you already have are not computed again.",
    )
    tab = state.segmented(
        "View", TAB, list(TABS), format_func=TABS.__getitem__, label_visibility="collapsed"
    )
    if tab == "forget_sets":
        forget_sets.show()
    elif tab == "judge":
        judge.show()
    else:
        form()


def form() -> None:
    own_method.said()
    left, right = st.columns([7, 3], gap="large")
    with left:
        basis, place = choose_data()
        task = datasets.task_of(basis.dataset)
        unread = catalog.dataset(basis.dataset).takes_path and basis.facts is None
        classes = () if unread else datasets.class_names(basis.dataset)
        scenarios = choose_scenarios(classes, task, basis)
        say_changes(place, catalog.preset(basis.preset), basis.changes)
        names = list(dict.fromkeys(one["id"] for one in scenarios))
        sequence = in_sequence(scenarios)
        methods = method_settings(choose_methods(names, task), basis, scenarios)
        if state.param("settings") == "tuned":
            search.offer({**basis.content(), "scenarios": scenarios, "methods": methods})
        methods, sensitivity = choose_sensitivity(methods, basis, names)
        seeds = choose_seeds()
        models = choose_models()
    content: dict[str, Any] = {
        **basis.content(),
        "scenarios": scenarios,
        "methods": methods,
        "sequence": sequence,
        **sensitivity,
        **seeds,
    }
    with right, figures.sticky("outcome"):
        plan = plan_of(content, models) if scenarios and not fields.problems() else None
        summary(plan, content, models)


fields.begin()
if own_method.opened():
    own_method.write_method()
else:
    page()
