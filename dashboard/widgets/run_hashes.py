"""Which content of the user's own data and files of weights a page's runs are on, where there are
several under the same names.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import state
from dashboard.text import labels
from dashboard.widgets.provenance import local_time
from mucore.statistics import told_apart


def pick_hashes(runs: pd.DataFrame, leader: pd.DataFrame) -> pd.DataFrame:
    """The runs on one content of the user's own data and files of weights. Where the runs have
    several under the same names, a box says which: their numbers are of different experiments.
    """
    every = newest_hashes(runs, leader)
    if len(every) < 2:
        return runs
    names = dict(zip(every, _hashes_names(runs, every), strict=True))
    ids = {labels.short_id(text): text for text in every}
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(
            f":material/difference: These runs are on {len(every)} versions of data or weights of "
            "the same name, which are never averaged."
        )
        chosen = state.select(
            "Version of data or weights",
            "hashes",
            list(ids),
            format_func=lambda name: names[ids[name]],
            label_visibility="collapsed",
            width=420,
        )
    return runs[runs["hashes"] == ids[chosen]]


def newest_hashes(runs: pd.DataFrame, leader: pd.DataFrame | None = None) -> list[str]:
    """The distinct `hashes` of runs, that of the run `leader` first, then that of the newest
    run.
    """
    newest = runs.groupby("hashes")["finished"].max().sort_values(ascending=False, kind="stable")
    led = [] if leader is None else [text for text in leader["hashes"] if text in newest.index]
    return list(dict.fromkeys([*led, *map(str, newest.index)]))


def _hashes_names(runs: pd.DataFrame, hashes: Sequence[str]) -> list[str]:
    """What a reader can choose among `hashes` by: what differs in them, and when the newest of the
    runs ended.
    """
    newest = local_time(runs.groupby("hashes")["finished"].max())
    told = told_apart([""] * len(hashes), hashes)
    return [
        f"{name.removeprefix(' · ') or 'no file of weights'}, last run "
        f"{newest[text]:%Y-%m-%d %H:%M}"
        for name, text in zip(told, hashes, strict=True)
    ]
