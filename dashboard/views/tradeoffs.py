"""Trade-offs: the methods that forgot and that no other beats, what many requests take, average
ranks over scenarios, and where metrics disagree.
"""

from __future__ import annotations

import streamlit as st

from dashboard import data
from dashboard.sections.tradeoffs import across_scenarios, front, upkeep
from dashboard.widgets import header, messages
from dashboard.widgets.provenance import provenance

VIEWS = {
    "front": "Front",
    "requests": "Many requests",
    "ranks": "Ranks",
    "agreement": "Agreement of metrics",
    "tests": "Tests",
}
QUESTIONS = {
    "front": "Which methods offer the best trade-offs?",
    "requests": "When does preparing for requests pay?",
    "ranks": "Does one method rank first across all scenarios?",
    "agreement": "Do the metrics agree on which method is better?",
    "tests": "Which differences between methods are more than chance?",
}
CAPTIONS = {
    "front": (
        "One method beats another if it is as good in every goal and better in one. What no other "
        "beats is a choice, not a winner."
    ),
    "requests": (
        "Some methods keep records of the training, or train other networks than the original. "
        "That is spent once, and its share falls with each request."
    ),
    "ranks": (
        "Rank 1 is the best in a scenario. Methods under one bar cannot be told apart. Not in the "
        "papers; after Demšar (2006)."
    ),
    "agreement": (
        "τ = 1: two metrics rank the methods alike; 0: no relation; −1: in reverse order. Not in "
        "the papers."
    ),
    "tests": (
        "Two methods on the same scenarios and training seeds: Wilcoxon's signed-rank test, "
        "corrected by Holm for all pairs."
    ),
}


def page() -> None:
    source = data.source()
    top = st.container()
    runs = data.unlearning_runs()
    if runs.empty:
        messages.no_results(
            QUESTIONS["front"],
            CAPTIONS["front"],
            "A comparison of three methods or more fills this page.",
        )
        return
    view, answers = header.pick_view(VIEWS, QUESTIONS, CAPTIONS, source, top)
    if view == "front":
        runs = front.show(source, runs, answers)
    elif view == "requests":
        runs = upkeep.show(runs, answers)
    else:
        runs = across_scenarios.show(source, runs, view, answers)
    provenance(runs)


page()
