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

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import access, assets, state
from dashboard.pages import BY_ID, PAGES, Page
from dashboard.text.labels import MISSING
from dashboard.widgets import course
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape

STYLE: Final = assets.style("presenting.css")
KEYS: Final = assets.text("presenting.js")
BUTTON: Final = assets.text("presenting.html")
LOW: Final = 430  # pixels of a figure before it is enlarged
LINES: Final = 15  # that it has room for then
ROWS: Final = 10  # of a table
ELSEWHERE: Final = "Esc leads to the page, which has the others."
LOOK: Final = assets.text("presenting_button.css")


def on() -> bool:
    return state.presenting()


def begin() -> None:
    """Called by app.py before a page."""
    if on():
        st.html(STYLE)


def offered() -> bool:
    """Whether a page has a button that starts it: not the phone of somebody who follows a talk."""
    return access.presents() or state.param("follow") != "1"


@contextmanager
def head() -> Generator[None]:
    """What stays on top of every screen."""
    with st.container(gap=None, key="present_head" if on() else None):
        yield


@contextmanager
def slide(name: str, *, alt: str | None = None, rest: str = "", notes: str = "") -> Generator[None]:
    """A screen of its own. A figure has `alt`: the answer stands above it, or the first sentence of
    its description where that was said already; and `rest`, what of it is not shown. `notes` are
    for who speaks.
    """
    if not on():
        yield
        return
    with st.container(key=f"slide-{name}"):
        if alt is not None:
            _answer(alt)
        if rest:
            st.caption(rest)
        yield
        if notes:
            with (
                st.container(key=f"notes-{name}"),
                st.expander("Notes (N)", icon=":material/speaker_notes:"),
            ):
                st.markdown(notes)


def lower(figure: go.Figure) -> tuple[go.Figure, str]:
    """The figure at most `LOW` pixels high, so that it can be shown large. Of one with more lines
    than `LINES` the first, and a sentence that says so.
    """
    if (figure.layout.height or 0) <= LOW:
        return figure, ""
    made, most = _lower(figure), 0
    for axis in made.select_yaxes():
        count = _lines(made, axis)
        most = max(most, count)
        if count > LINES:
            ends = axis.range or (0, 1)
            first_on_top = axis.autorange == "reversed" or ends[0] > ends[1]
            shown = (LINES, 0) if first_on_top else (count - LINES, count)
            axis.update(autorange=False, range=[place - 0.5 for place in shown])
    return made, first_of(LINES, most) if most > LINES else ""


def _lower(figure: go.Figure) -> go.Figure:
    """A copy that is `LOW` pixels high, its legend as many pixels above or below the axes as
    before; of axes with one scale, which leave room there, at the right.
    """
    # what is copied is not looked at again: that took a quarter of a page's time
    made, margin = go.Figure(figure, _validate=False), figure.layout.margin
    around = (60 if margin.t is None else margin.t) + (80 if margin.b is None else margin.b)
    ratio = max(1.0, (figure.layout.height - around) / (LOW - around))
    if (place := figure.layout.legend.y) is not None and not 0 <= place <= 1:
        end = float(place > 1)
        made.update_layout(legend_y=max(-2.0, min(3.0, end + (place - end) * ratio)))
    if any(axis.scaleanchor for axis in made.select_yaxes()):
        beside = {"orientation": "v", "x": 1.02, "xanchor": "left", "y": 1, "yanchor": "top"}
        made.update_layout(legend=beside)
    return made.update_layout(height=LOW)


def dataframe(frame: pd.DataFrame, name: str, *, alt: str, **look: Any) -> Any:
    """`st.dataframe`, or before a room a screen of its own with the first lines; `look` goes
    there.
    """
    look = {"placeholder": MISSING} | look
    if not on():
        return st.dataframe(frame, **look)
    rest = first_of(ROWS, len(frame)) if len(frame) > ROWS else ""
    look["height"] = "content"
    with slide(name, alt=alt, rest=rest):
        return st.dataframe(frame.head(ROWS), **look)


def first_of(shown: int, count: int) -> str:
    """What a room is told of lines that have no room."""
    return f"The first {shown} of {count} lines. {ELSEWHERE}"


def _lines(figure: go.Figure, axis: Any) -> int:
    """How many lines a figure has along this axis, a line a name; 0 where it counts or measures."""
    places = list(axis.tickvals or ())
    if len(places) > 1 and places == list(range(len(places))):
        return len(places)
    if axis.categoryarray is not None:
        return len(axis.categoryarray)
    mine = axis.plotly_name.replace("axis", "")
    names = [
        name
        for trace in figure.data
        if "yaxis" in trace and (trace.yaxis or "y") == mine and trace.y is not None
        for name in trace.y
    ]
    return len(dict.fromkeys(names)) if any(isinstance(name, str) for name in names) else 0


def end(page: str) -> None:
    """Called by app.py after a page: the keys, and the pages before and behind this one."""
    now = course.current()
    with st.sidebar, st.container(key="presenting", gap=None):
        for one, place in _neighbours(page) if on() else ():
            with st.container(key=f"present_{place}"):
                link(one.id, one.title)
        # one name has one content, whoever else's page is drawn at the same moment
        name, html = ("presenting", BUTTON) if offered() else ("keys", "<span></span>")
        st.components.v2.component(f"mucore_{name}", html=html, css=LOOK, js=KEYS)(
            data={"on": on(), "page": page, "step": now.step, "steps": max(len(now.steps), 1)},
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
