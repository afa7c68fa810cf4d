"""Long analyses on a page: a button that starts one, its progress, and why it failed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.text import units
from dashboard.widgets import course, guests, messages
from dashboard.widgets.markdown import escape
from mucore import analysis
from mucore.errors import MucoreError


def analysed(
    kind: str, parameters: dict[str, Any], button: str, seconds: float, of: str = ""
) -> Mapping[str, Any] | None:
    """The value of a long analysis where it is ready; else a button that starts it, its progress,
    or why it failed.

    `of` tells apart several analyses of a kind on one page.
    """
    found = data.analysis(kind, parameters)
    if found.state == "ready":
        return found.value
    course.want(kind, parameters, data.pack())
    if found.state == "running":
        watch(kind, parameters)
        return None
    if found.state == "failed":
        messages.error(escape(found.error))
    if not guests.may("compute this for everybody"):
        return None
    label = (
        "Try again" if found.state == "failed" else f"{button} (about {units.duration(seconds)})"
    )
    if st.button(label, key=f"start:{kind}{of}", type="primary", icon=":material/play_arrow:"):
        try:
            data.start_analysis(kind, parameters)
        except MucoreError as problem:
            messages.error(escape(str(problem)))
        else:
            st.rerun()
    return None


def ready(kind: str, runs: pd.DataFrame) -> tuple[str, ...]:
    """The keys of those of `runs`, lines of `data.summaries`, that have an analysis of `kind` with
    the parameters it has by default.
    """
    homes = data.analysis_homes()
    files = frozenset(path.stem for home in homes for path in analysis.folder(home).glob("*.npz"))
    return _ready(runs["key"], data.chosen(runs), kind, files) if files else ()


@st.cache_data(show_spinner=False, max_entries=16)
def _ready(_keys: pd.Series, name: str, kind: str, files: frozenset[str]) -> tuple[str, ...]:
    """`name` stands for the keys, which take longer to hash than to read."""
    return tuple(key for key in _keys if analysis.key(kind, {"key": key}) in files)


@guests.live(1.0)
def watch(kind: str, parameters: dict[str, Any]) -> None:
    """Progress of an analysis, each second; the page is drawn anew once it ends."""
    with messages.guarded():
        found = data.analysis(kind, parameters)
        if found.state != "running":
            st.rerun()
        st.progress(
            found.progress,
            text="Computing in the background; you can leave this page and come back.",
        )
