"""Reference: what the methods do, what the words mean, and what the papers print."""

from __future__ import annotations

import streamlit as st

from dashboard import state
from dashboard.pages import TAB
from dashboard.sections.reference import methods, papers, words

TABS = {
    "methods": ("Methods", methods.show),
    "words": ("Metrics and words", words.show),
    "papers": ("Papers", papers.show),
}


def page() -> None:
    top = st.container()
    tab = state.segmented(
        "View",
        TAB,
        list(TABS),
        format_func=lambda name: TABS[name][0],
        label_visibility="collapsed",
    )
    TABS[tab][1](top)


page()
