"""Attacks: can anyone tell from a model, or from many, what it forgot? A tab a way to ask."""

from __future__ import annotations

from typing import Final

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import data, state
from dashboard.pages import TAB
from dashboard.sections.efficacy import page as efficacy
from dashboard.sections.membership import page as membership
from dashboard.sections.quality import page as quality
from dashboard.widgets import course, header, messages, run_filters

TABS: Final = {"membership": "Membership", "quality": "Forgetting quality", "efficacy": "Efficacy"}


def page() -> None:
    top, chips = st.container(), st.container()
    with st.container(key="tabs", horizontal=True, vertical_alignment="center", gap="medium"):
        tab = state.segmented(
            "View", TAB, list(TABS), format_func=TABS.__getitem__, label_visibility="collapsed"
        )
        beside = st.container(horizontal=True, width="content", gap="medium")
    course.steps(list(TABS), tab, lambda name: state.set_param(TAB, name))
    if tab == "quality":
        quality.show(top, chips, beside)
        return
    section = membership if tab == "membership" else efficacy
    with chips:
        runs = chosen(top, section.QUESTION)
    if runs.empty:
        return
    with top:
        header.header(section.QUESTION, section.how_to_read(runs), data.source())
    if not messages.none_chosen(runs):
        section.show(runs, beside)


def chosen(top: DeltaGenerator, question: str) -> pd.DataFrame:
    """The runs on the chips; where there are none, `top` says why."""
    runs = data.unlearning_runs()
    if runs.empty:
        with top:
            messages.no_results(question, "Each method's number against Retrain's.")
        return runs
    runs = run_filters.pick_runs(runs, first=run_filters.OPENS_ON)
    if runs.empty:
        with top:
            messages.none_finished(question, data.source())
    return runs


page()
