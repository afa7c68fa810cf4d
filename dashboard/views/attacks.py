"""Attacks: can anyone tell from a model, or from many, what it forgot? A tab a way to ask."""

from __future__ import annotations

from typing import Final

import streamlit as st

from dashboard import state
from dashboard.pages import TAB
from dashboard.sections.efficacy import page as efficacy
from dashboard.sections.membership import page as membership
from dashboard.sections.quality import page as quality
from dashboard.widgets import course

SHOW: Final = {
    "membership": ("Membership", membership.show),
    "quality": ("Forgetting quality", quality.show),
    "efficacy": ("Efficacy", efficacy.show),
}


def page() -> None:
    top, chips = st.container(), st.container()
    with st.container(key="tabs", horizontal=True, vertical_alignment="center", gap="medium"):
        tab = state.segmented(
            "View",
            TAB,
            list(SHOW),
            format_func=lambda name: SHOW[name][0],
            label_visibility="collapsed",
        )
        beside = st.container(horizontal=True, width="content", gap="medium")
    course.steps(list(SHOW), tab, lambda name: state.set_param(TAB, name))
    SHOW[tab][1](top, chips, beside)


page()
