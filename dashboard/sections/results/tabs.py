"""The tabs of Results, at the end of the line that answers its question."""

from __future__ import annotations

from typing import Final

import streamlit as st

from dashboard import state
from dashboard.pages import TAB
from dashboard.widgets import header

TABS: Final = {"table": "Table", "board": "Board", "statistics": "Statistics"}


def now() -> str:
    return state.choice(TAB, list(TABS))


def answer(sentence: str) -> None:
    """The answer, and the tabs beside it."""
    with st.container(key="answer_line", horizontal=True, vertical_alignment="center"):
        with st.container(width="stretch"):
            if sentence:
                header.answer(sentence)
        pick()


def pick() -> None:
    state.segmented(
        "View", TAB, list(TABS), format_func=TABS.__getitem__, label_visibility="collapsed"
    )
