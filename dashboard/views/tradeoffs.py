"""Trade-offs: the methods that forgot and that no other beats, and what many requests take."""

from __future__ import annotations

import streamlit as st

from dashboard import data, state
from dashboard.frames import budget as budget_frames
from dashboard.pages import TAB
from dashboard.sections.tradeoffs import front, upkeep
from dashboard.widgets import header, messages, run_filters
from dashboard.widgets.provenance import provenance

TABS = {"front": "Front", "requests": "Many requests"}
QUESTIONS = {
    "front": "Which methods offer the best trade-offs?",
    "requests": "When does preparing for requests pay?",
}
HOW = {
    "front": """**Pareto front**: no competing method is better on every goal. These are named.  
**Competing**: methods shown to have forgotten in outputs and features; if none, the next best.  
**Grey**: the 95 % band of Retrains of other seeds. **Arrow**: outside the window.""",
    "requests": """Some methods keep records of the training, or train networks of their own. That
is spent once, and its share falls with each request.  
In colour: methods that prepare something, or are cheapest at some point.""",
}


def page() -> None:
    source = data.source()
    runs = data.unlearning_runs()
    tab = state.choice(TAB, list(TABS))
    if runs.empty:
        messages.no_results(QUESTIONS[tab], HOW[tab])
        return
    header.header(QUESTIONS[tab], HOW[tab], source)
    runs = run_filters.pick_runs(runs, first=run_filters.OPENS_ON)
    answer = st.container()
    line = st.container(horizontal=True, vertical_alignment="center", gap="small")
    with line:
        header.tabs(TABS)
    if runs.empty:
        messages.none_finished()
    elif not messages.none_chosen(runs, **budget_frames.launch_query(runs, ())):
        (front.show if tab == "front" else upkeep.show)(source, runs, answer, line)
        provenance(runs)


page()
