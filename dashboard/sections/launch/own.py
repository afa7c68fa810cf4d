"""Launch: what a reader brings, each with a room of its own: parameter `own` of the address says
which is open. The form's choices stay in the address meanwhile.
"""

from __future__ import annotations

import streamlit as st

from dashboard import state
from dashboard.sections.launch.own_method import write_method
from dashboard.widgets import header

ROOMS = {
    "method": (
        "Method",
        "What would you do to forget?",
        "Write a method in Python. The check runs it on two small problems, in a process of its "
        "own; then it can be compared like any other.",
        write_method,
    )
}


def room() -> str:
    """The open one, "" for the form."""
    return state.param("own") if state.param("own") in ROOMS else ""


def show() -> None:
    _, question, caption, draw = ROOMS[room()]
    header.header(question, caption)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            "Back to the comparison",
            key="leave_own",
            icon=":material/arrow_back:",
            on_click=state.set_param,
            args=("own", None),
        )
        if len(ROOMS) > 1:
            state.segmented(
                "What you bring",
                "own",
                list(ROOMS),
                format_func=lambda name: ROOMS[name][0],
                label_visibility="collapsed",
            )
    draw()
