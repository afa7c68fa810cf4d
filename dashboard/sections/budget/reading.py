"""What to look for, what happened at each budget, and what is left out."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard.frames import budget as budget_frames
from dashboard.frames.table import DISTANCE_MEANING
from dashboard.text import units
from dashboard.widgets import columns
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape, metric_help
from mucore import catalog


def show_reading(found: budget_frames.Curves, runs: pd.DataFrame, scenario: str) -> None:
    """What to look for; with one budget, that it takes two, and where to get them."""
    if len(found.sizes) > 1:
        st.caption(
            "Look for lines that stay with Retrain's dashed one all the way; a flat line may also "
            "be a method that does nothing at any budget. In MUBox, SSD, Amnesiac and Fisher "
            "change most with the budget.",
            help=f"{metric_help('ta')}  \n\n{metric_help('fa')}",
        )
        return
    several = any(parameter.kind == "budget" for parameter in catalog.scenario(scenario).parameters)
    budgets = (
        budget_frames.MUBOX_POISONS
        if catalog.scenario(scenario).poisons
        else budget_frames.MUBOX_BUDGETS
    )
    with st.container(gap=None):
        size = units.count(next(iter(found.sizes)), "sample")
        st.markdown(
            f"These runs have only one budget, {size}, so there are points and no curves. A curve "
            "needs two budgets or more."
        )
        label = (
            "Launch these methods with several budgets"
            if several
            else "Launch these methods with another share"
        )
        link(
            "launch",
            label,
            icon=":material/arrow_forward:",
            **budget_frames.launch_query(runs, budgets),
        )


def show_verdicts(found: budget_frames.Curves) -> None:
    """What happened at each budget, one line a method."""
    frame = budget_frames.verdict_frame(found)
    if frame.empty:
        return
    st.caption(
        "What happened to each method at each budget, nearest to Retrain first; ? where more "
        "seeds may change the word."
    )
    meaning = st.column_config.Column(help=f"{DISTANCE_MEANING} Here the mean over the budgets.")
    st.dataframe(
        frame, hide_index=True, column_config=columns.aligned(frame, {frame.columns[-1]: meaning})
    )


def show_left_out(aside: Sequence[str], seeds: int, every: int) -> None:
    """Methods that were run at one budget alone, and training seeds that not every budget has."""
    if said := budget_frames.left_out(aside, seeds, every):
        st.caption(escape(said))
