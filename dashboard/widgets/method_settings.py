"""The settings of one method of the playground, in a window over the page: the fields of Launch,
starting at what the playground plays.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dashboard import state
from dashboard.frames import playground as frames
from dashboard.widgets import forms
from mucore import catalog
from mucore.playground.scene import SETTINGS

SEARCHED = "Without changes it runs with what a search found to work on points like these."
UNSEARCHED = "Without changes it runs with its authors' values, which were made for images."
THEN = "A change shows after the next Forget."


def show(draft: frames.Draft, method: str, *, closed: Callable[[], None]) -> None:
    """Open the window; what a visitor changes stands in the address. `closed` is called when it is
    closed, before the page is drawn anew.
    """
    title = f"Settings of {catalog.method(method).title}"
    st.dialog(title, width="medium", on_dismiss=closed)(_fields)(draft, method)


def _fields(draft: frames.Draft, method: str) -> None:
    card, usual = catalog.method(method), frames.usual(draft, method)
    searched = frames.kind(draft) in SETTINGS.get(method, {})
    st.caption(f"{SEARCHED if searched else UNSEARCHED} {THEN}")
    form = forms.parameter_form(
        card.parameters, usual, method, owner=card.title, origin="playground's"
    )
    if form.changed != draft["settings"].get(method, {}):
        state.set_param("played", None)  # it was played with others
    st.button(
        "Back to the playground's settings",
        on_click=state.forget,
        args=([f"{method}.{parameter.name}" for parameter in card.parameters],),
        disabled=not form.changed and not form.problems,
    )
    state.leave("playground")
