"""The table of methods, and the one that the paper prints."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import frames, state
from dashboard.frames import Row
from dashboard.frames import identity as identity_frames
from dashboard.widgets import columns
from dashboard.widgets.markdown import escape, metric_help


def show(rows: Sequence[Row], dataset: str) -> pd.DataFrame:
    """The table, with the published one beside it where the reader wants it."""
    paper = None
    if state.toggle("Numbers of the paper", "paper"):
        name = pick_table(dataset)
        paper = identity_frames.paper_table(name)
        st.caption(
            escape(
                f"{identity_frames.TABLES[name].setting}, ResNet-18, as printed by Choi and Na. "
                "CF-3 is shown beside CF-k, NegGrad beside gradient ascent, the second stage of "
                "UNSIR beside UNSIR."
            )
        )
    frame = identity_frames.table(rows, paper)
    config = {
        head: st.column_config.Column(help=metric_help(metric))
        for metric, head in identity_frames.HEADS.items()
    }
    config["Distance"] = st.column_config.Column(help=frames.DISTANCE_MEANING)
    st.dataframe(
        frame,
        hide_index=True,
        column_config=columns.aligned(frame, config),
        height=540,
        key="nomus_table",
    )
    return frame


def pick_table(dataset: str) -> str:
    """The paper's table; where the reader chose none, that of the data set's kind."""
    return state.select(
        "Table of the paper",
        "table",
        list(identity_frames.TABLES),
        default=identity_frames.table_for(dataset),
        format_func=lambda name: identity_frames.TABLES[name].setting,
        label_visibility="collapsed",
    )
