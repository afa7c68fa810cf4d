"""What the popover Share of every page holds: the link to what is shown, the page as one file."""

from __future__ import annotations

import streamlit as st

from dashboard import state
from dashboard.widgets import course, take_home


def fill(page: str) -> None:
    """Called by app.py after a page, when it is known what it shows."""
    place = course.current().share
    if place is None:  # a page without a header
        with st.sidebar:
            take_home.offer(page)
        return
    with place:
        st.caption("Link to what you see")
        st.code(state.link_back(), language=None)
        take_home.offer(page)
