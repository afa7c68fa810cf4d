"""What a page says in place of numbers: what is not here yet and where to get it, what failed, what
is wrong with a value.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager

import pandas as pd
import streamlit as st

from dashboard import access, data, state
from dashboard.widgets.header import header
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape
from mucore import unforeseen
from mucore.errors import MucoreError
from mucore.runs import REFERENCES

LAPTOP = "A small comparison takes a few minutes on a laptop."


def empty(text: str, button: str, page: str, **query: str | list[str]) -> None:
    """An empty state: what is missing, the link to the page that fills it, with URL parameters
    `query`, and the way to the demo's results; for guests without a link to a page on which they
    may do nothing.
    """
    with st.container(border=True):
        st.markdown(text)
        link(page, button, icon=":material/arrow_forward:", **query)
        if state.page() in state.KEPT and data.has_both() and not data.source().demo:
            st.button(
                "Look at the demo's",
                icon=":material/science:",
                type="tertiary",
                on_click=state.carry,
                args=("source", "demo"),
            )


def no_results(question: str, caption: str, sentence: str = "") -> None:
    """A whole page before there is any result; `sentence` says what fills it, else how long that
    takes whoever may launch it.
    """
    header(question, caption)
    sentence = sentence or LAPTOP * access.presents()
    empty(f"There are no results yet. {sentence}", "Launch a comparison", "launch")


def none_finished(question: str = "", source: data.Source | None = None) -> None:
    """What a page says while no run of the chosen comparison has finished; without `question`,
    below a head that is there already.
    """
    sentence = "No run of this comparison has finished yet."
    if question:
        header(question, sentence, source)
    else:
        st.markdown(sentence)
    link("queue", "Watch the queue", icon=":material/list_alt:")


def none_chosen(runs: pd.DataFrame, **query: str | list[str]) -> bool:
    """Whether `runs` are references alone; says so, with a link to Launch that fills in `query`."""
    if not runs["method"].isin(REFERENCES).all():
        return False
    way_out = (
        "Tick one under Methods, or launch one." if access.presents() else "Tick one under Methods."
    )
    empty(
        f"There is no method to compare with the references. {way_out}", "Launch", "launch", **query
    )
    return True


def error(sentence: str, way_out: str = "") -> None:
    st.error(access.shown(f"{sentence} {way_out}".strip()), icon=":material/error:")


def problem(sentence: str) -> None:
    """A sentence under the field that caused it."""
    st.markdown(f":red[:material/error: {escape(access.shown(sentence))}]")


@contextmanager
def kept(ticket: str, head: str = "") -> Generator[None]:
    """Keep what fails inside as a sentence behind `head`, for the page that is drawn after it: in a
    callback, or before the page is drawn anew.
    """
    try:
        yield
    except Exception as failure:
        state.set_ticket(ticket, f"{head}{unforeseen.told(failure, 'page')}")


@contextmanager
def guarded() -> Generator[None]:
    """Turn whatever fails inside into a sentence on the page; of guests' pages, a few at a time.
    Fragments rerun outside app.py's own guard and need one each.
    """
    with sentences(), access.turn():
        yield


@contextmanager
def sentences() -> Generator[None]:
    """Turn whatever fails inside into a sentence on the page."""
    try:
        yield
    except MucoreError as failure:
        error(escape(str(failure)))
    except Exception as failure:
        # the last step of this door: a reader never sees a traceback, two logs keep it
        logging.getLogger(__name__).exception("a page failed")
        sentence = unforeseen.told(failure, "page")
        error(f"This part of the page failed. {escape(str(sentence))}", "Reload the page.")
