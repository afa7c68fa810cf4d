"""Links from page to page, and where those lead that a page works out from what it shows."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import access, data, state
from dashboard.frames import budget as budget_frames
from dashboard.pages import BY_ID, MOVED, TAB


def link(page: str, label: str, *, icon: str | None = None, **query: str | list[str]) -> None:
    """A link to a page by its id; `query` are its URL parameters, a list for one that is repeated.
    Without any, the filters go along. Guests get none to a page on which they may do nothing.
    """
    page, tab = MOVED.get(page, (page, ""))
    if BY_ID[page].works and not access.presents():
        return
    found = {**(state.along() if query else state.going(page)), **query}
    if tab:
        found[TAB] = tab
    st.page_link(BY_ID[page].file, label=label, icon=icon, query_params=found or None)


def anew(runs: pd.DataFrame) -> dict[str, str | list[str]]:
    """The parameters of Launch's address that make runs such as `runs` once more, with a training
    seed that no run has yet.
    """
    return budget_frames.launch_query(runs, ()) | {
        "training_seeds": str(1 + int(data.unlearning_runs()["training_seed"].max()))
    }
