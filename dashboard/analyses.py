"""Long analyses on a page: a button that starts one, its progress, and why it failed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from dashboard import data, widgets, words
from mucore.errors import MucoreError


def analysed(kind: str, parameters: dict[str, Any], button: str, seconds: float) -> Mapping[str, Any] | None:
    """The value of a long analysis where it is ready; else a button that starts it, its progress, or why it failed."""
    found = data.analysis(kind, parameters)
    if found.state == "ready":
        return found.value
    if found.state == "running":
        watch(kind, parameters)
        return None
    if found.state == "failed":
        widgets.error(widgets.escape(found.error))
    label = "Try again" if found.state == "failed" else f"{button} (about {words.duration(seconds)})"
    if st.button(label, key=f"start:{kind}", type="primary", icon=":material/play_arrow:"):
        try:
            data.start_analysis(kind, parameters)
        except MucoreError as problem:
            widgets.error(widgets.escape(str(problem)))
        else:
            st.rerun()
    return None


@st.fragment(run_every=1)
def watch(kind: str, parameters: dict[str, Any]) -> None:
    """Progress of an analysis, each second; the page is drawn anew once it ends."""
    with widgets.guarded():
        found = data.analysis(kind, parameters)
        if found.state != "running":
            st.rerun()
        st.progress(found.progress, text="Computing in the background; you can leave this page and come back.")
