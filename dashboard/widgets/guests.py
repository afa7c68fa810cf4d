"""What pages say to who only reads, and how somebody logs in."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import streamlit as st

from dashboard import access
from dashboard.pages import Page
from dashboard.widgets import course
from dashboard.widgets.header import header
from dashboard.widgets.links import link


def may(what: str) -> bool:
    """Whether this session may do something; who may not reads in its place that the presenter may
    `what`, an infinitive such as "start it".
    """
    if access.presents():
        return True
    st.caption(f":material/visibility: You are reading along; the presenter can {what}.")
    return False


def not_for_you(page: Page) -> None:
    """A whole page that is there to start and change things."""
    how = f"{access.READS} You can follow the runs, and read what comes of them."
    header(f"{page.title} is for the presenter", how)
    st.markdown(how)
    link("queue", "Follow the runs", icon=":material/list_alt:")
    link("results", "Read the results", icon=":material/table_chart:")


def log_in() -> None:
    """All that a stranger sees where people log in."""
    st.title("Who are you?", anchor=False)
    st.markdown(
        "These pages are for people who log in. Whether you may start and change things here, or "
        "only read, is up to the people who run this server."
    )
    st.button("Log in", icon=":material/login:", type="primary", on_click=st.login)


def log_out() -> None:
    """Where people log in, the button that ends it."""
    if access.terms() == "login":
        st.sidebar.button(
            "Log out", icon=":material/logout:", key="log_out", type="tertiary", on_click=st.logout
        )


def live(seconds: float) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A part of a page that draws itself anew each `seconds`, for guests less often."""

    def made(draw: Callable[..., None]) -> Callable[..., None]:
        @wraps(draw)
        def drawn(*arguments: Any, **named: Any) -> None:
            mine: set[course.Key] = set()

            @wraps(draw)
            def part(*arguments: Any, **named: Any) -> None:
                with course.part(mine):
                    draw(*arguments, **named)

            st.fragment(part, run_every=access.every(seconds))(*arguments, **named)

        return drawn

    return made
