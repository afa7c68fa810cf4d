"""Where to begin: lessons, and the three steps of a comparison."""

from __future__ import annotations

import streamlit as st

from dashboard import access, playroom
from dashboard.lessons import LESSONS
from dashboard.widgets.links import link

STORIES = ("forget-one-class", "one-metric", "backdoor")


def show_stories() -> None:
    """Where somebody begins who is new to the subject: what to do first, and what next."""
    if access.served():
        playroom.room()  # its process loads PyTorch while they read this
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown("**New here?** Watch a model forget:")
        link("playground", "Playground", icon=":material/bubble_chart:")
        st.markdown("Then read:")
        for name in STORIES:
            icon = ":material/cast_for_education:"
            link("lessons", LESSONS[name].title, icon=icon, lesson=name, step="1")
        link("lessons", "All six", icon=":material/arrow_forward:")


def show_next_steps() -> None:
    steps = (
        (
            "1 · Launch a comparison",
            "Choose data, a model, what to forget and which methods should forget it.",
            "launch",
            "Choose and start",
        ),
        (
            "2 · Watch it run",
            "Progress, loss curve and time left of every run; cancel or retry at any time.",
            "queue",
            "Open the queue",
        ),
        (
            "3 · Read the table",
            (
                "How near each method comes to a model retrained without the forgotten data, and "
                "at what price."
            ),
            "results",
            "Read the results",
        ),
    )
    for column, (title, text, page, label) in zip(st.columns(3), steps, strict=True):
        with column, st.container(border=True, height="stretch"):
            st.markdown(f"**{title}**  \n{text}")
            link(page, label, icon=":material/arrow_forward:")
