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
    """The steps of a comparison; guests have no Launch, and cancel nothing."""
    mine = access.presents()
    progress = "Progress, loss curve and time left of every run"
    launching = (
        "Launch a comparison",
        "Choose data, a model, what to forget and which methods should forget it.",
        "launch",
        "Choose and start",
    )
    steps = (
        *([launching] if mine else []),
        (
            "Watch it run" if mine else "Watch the runs",
            f"{progress}; cancel or retry at any time." if mine else f"{progress}.",
            "queue",
            "Open the queue",
        ),
        (
            "Read the table",
            (
                "How near each method comes to a model retrained without the forgotten data, and "
                "at what price."
            ),
            "results",
            "Read the results",
        ),
    )
    columns = st.columns(len(steps))
    for number, (title, text, page, label) in enumerate(steps, start=1):
        with columns[number - 1], st.container(border=True, height="stretch"):
            st.markdown(f"**{number} · {title}**  \n{text}")
            link(page, label, icon=":material/arrow_forward:")
