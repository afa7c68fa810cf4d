"""Presenting: any page for a room, `present=1` in the address or the key P. No side bar, large
type, one figure a screen with its sentence; arrows and clickers walk through a page's figures, and
through the steps of a lesson or the views of a page.

The server marks what is a screen of its own (`slide`) and draws all of them; which one is seen,
and how large, is up to the browser (assets/presenting.js), so that the next figure is there at
once.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

import plotly.graph_objects as go
import streamlit as st

from dashboard import access, assets, state
from dashboard.pages import BY_ID, PAGES, Page
from dashboard.text import speaker_notes
from dashboard.widgets import course
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape

STYLE: Final = assets.style("presenting.css")
KEYS: Final = assets.text("presenting.js")
BUTTON: Final = assets.text("presenting.html")
LOW: Final = 430  # pixels
LOOK: Final = assets.text("presenting_button.css")


def on() -> bool:
    return state.presenting()


def begin() -> None:
    """Called by app.py before a page."""
    if on():
        st.html(STYLE)


def switch() -> None:
    """A button that starts it, for a page that is made for it."""
    if not on():
        st.button(
            "Present",
            icon=":material/slideshow:",
            key="present",
            on_click=state.present,
            args=(True,),
            help="Large type, one figure a screen, outcomes behind Reveal. The key P does the "
            "same; Esc ends it.",
        )


@contextmanager
def head() -> Generator[None]:
    """What stays on top of every screen."""
    with st.container(gap=None, key="present_head" if on() else None):
        yield


@contextmanager
def slide(name: str, *, alt: str | None = None, notes: str = "") -> Generator[None]:
    """A screen of its own. A figure has `alt`: the answer stands above it, or the first sentence of
    its description where that was said already. `notes` are for who speaks; those of
    `text/speaker_notes.py` for this name, where there are none.
    """
    if not on():
        yield
        return
    with st.container(key=f"slide-{name}"):
        if alt is not None:
            _answer(alt)
        yield
        if said := notes or speaker_notes.FIGURES.get(name, ""):
            with (
                st.container(key=f"notes-{name}"),
                st.expander("Notes for the speaker", icon=":material/speaker_notes:"),
            ):
                st.markdown(said)


def low(figure: go.Figure) -> go.Figure:
    """The figure at most `LOW` pixels high, so that it can be shown large; one that is as high as
    it has rows stays as it is.
    """
    height = figure.layout.height or 0
    rows = any(
        axis.type == "category" or axis.tickvals is not None for axis in figure.select_yaxes()
    ) or any(isinstance(each, str) for trace in figure.data for each in _first(trace, "y"))
    if height <= LOW or rows:
        return figure
    return go.Figure(figure).update_layout(height=LOW)


def _first(trace: Any, axis: str) -> list[Any]:
    found = getattr(trace, axis, None) if axis in trace else None
    return [] if found is None or not len(found) else [found[0]]


def end(page: str) -> None:
    """Called by app.py after a page: the keys, and the pages before and behind this one."""
    now = course.current()
    with st.sidebar, st.container(key="presenting", gap=None):
        for one, place in _neighbours(page) if on() else ():
            with st.container(key=f"present_{place}"):
                link(one.id, one.title)
        st.components.v2.component("mucore_presenting", html=BUTTON, css=LOOK, js=KEYS)(
            data={
                "on": on(),
                "page": page,
                "step": now.step,
                "steps": max(len(now.steps), 1),
            },
            key="present_keys",
            on_present_change=_switched,
            on_move_change=_moved,
        )


def _answer(alt: str) -> None:
    said = course.current()
    first = alt.partition(". ")[0].rstrip(".")
    st.markdown(f"**{escape(said.sentence)}**" if said.sentence else f"**{escape(first)}.**")
    if said.detail:
        st.caption(escape(said.detail))
    said.sentence = said.detail = ""


def _neighbours(page: str) -> list[tuple[Page, str]]:
    shown = [one for one in PAGES if access.presents() or not one.works]
    if page not in BY_ID or BY_ID[page] not in shown:
        return []
    here = shown.index(BY_ID[page])
    before = [(shown[here - 1], "before")] if here else []
    return before + ([(shown[here + 1], "behind")] if here + 1 < len(shown) else [])


def _switched() -> None:
    state.present(bool(state.told("present_keys", "present")))


def _moved() -> None:
    now, by = course.current(), state.told("present_keys", "move")
    if now.go is not None and by in (-1, 1) and 1 <= now.step + by <= len(now.steps):
        state.set_param(state.FIGURE, None)
        now.go(now.steps[now.step + by - 1])
