"""The table of methods, and the one that the paper prints."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard import frames, state
from dashboard.frames import Row
from dashboard.frames import identity as identity_frames
from dashboard.frames.identity import Paper
from dashboard.widgets import columns
from dashboard.widgets.markdown import escape, metric_help


def show(rows: Sequence[Row], dataset: str) -> Paper | None:
    """The table of methods, and the published one whose numbers stand in it."""
    state.toggle("Numbers of the paper", "paper")
    paper = None
    if paper_shown():
        paper = identity_frames.paper_table(pick_table(dataset))
    config = {
        head: st.column_config.Column(help=metric_help(metric))
        for head, metric in identity_frames.HEADS.items()
    }
    config["Distance"] = st.column_config.Column(help=frames.DISTANCE_MEANING)
    frame = identity_frames.table(rows, paper)
    st.dataframe(
        frame,
        hide_index=True,
        column_config=columns.aligned(frame, config),
        height="content",
        key="nomus_table",
    )
    for sentence in identity_frames.reasons(rows):
        st.caption(escape(f"Missing for {sentence}"))
    if paper is not None:
        st.caption(
            escape(
                f"{paper.title}, ResNet-18, as printed by Choi and Na. Its CF-3 stands beside "
                "CF-k, NegGrad beside gradient ascent, the second stage of UNSIR beside UNSIR."
            )
        )
    return paper


def pick_table(dataset: str) -> str:
    """The paper's table; where the reader chose none, that of the data set's kind."""
    return state.select(
        "Table of the paper",
        "table",
        list(identity_frames.TABLES),
        default=identity_frames.table_for(dataset),
        format_func=lambda name: identity_frames.TABLES[name].setting,
        help="The table of Choi and Na that stands beside these numbers.",
    )


def paper_shown() -> bool:
    return state.choice("paper", ["0", "1"]) == "1"
