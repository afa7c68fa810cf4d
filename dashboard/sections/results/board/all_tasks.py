"""All tasks of a division side by side: where each method forgot, its average rank and its cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import state
from dashboard.charts import critical_difference
from dashboard.frames import board as board_frames
from dashboard.sections.results import tabs
from dashboard.text import labels
from dashboard.widgets import clicks, figures, presenting, run_filters
from dashboard.widgets.columns import aligned, text_width
from mucore.suite import frames
from mucore.suite.board import Division

DISTANCE = (
    "Gaps to the Retrain of the same seed, in units of how far two Retrains are apart, at most 100 "
    "for each number."
)
WORK = "Samples read forward and backward, as a share of Retrain's."
# heads are short, or the last columns had no room on a small screen
NUMBERS = {
    "Average rank": st.column_config.NumberColumn(
        "Rank",
        format="%.1f",
        help="Average rank by distance over the tasks with a verdict, for methods with a distance "
        "in all of them; 1 is nearest.",
    ),
    "Distance, spreads": st.column_config.NumberColumn(
        "Distance",
        format="%.2f",
        help=f"{DISTANCE} Mean over the tasks with a verdict, where the method has a distance in "
        "each.",
    ),
    "Work": st.column_config.NumberColumn(
        format="%.2f", help=f"{WORK} Mean over the tasks with a verdict that the method ran in."
    ),
}

MISSING = {
    "Method": st.column_config.TextColumn(width="medium", pinned=True),
    "Why": st.column_config.TextColumn(width="large"),
}


def words(frame: pd.DataFrame, verdicts: Sequence[str]) -> dict[str, Any]:
    """The columns of a frame that hold a method and, by name, verdicts: as wide as their words."""
    return {
        name: st.column_config.TextColumn(width=text_width(frame, name), pinned=name == "Method")
        for name in ("Method", *verdicts)
        if name in frame
    }


def show_missing(missing: pd.DataFrame) -> None:
    if len(missing):
        with st.expander(f"Missing results: {len(missing)}", icon=":material/block:"):
            st.dataframe(missing, hide_index=True, column_config=MISSING)


def show(division: Division, name: str) -> None:
    tabs.answer(board_frames.overall_sentence(division))
    frame = frames.overall(division, run_filters.pinned())
    presenting.dataframe(
        frame,
        "board",
        alt="Methods shown to have forgotten in most tasks first.",
        hide_index=True,
        column_config=aligned(
            frame,
            NUMBERS
            | words(frame, [labels.scenario_title(t.task.scenario) for t in division.tables]),
        ),
        height="content",
    )
    show_missing(frames.missing(*division.tables))
    figure, ranking = None, division.ranking
    if ranking is not None:
        st.subheader("Critical-difference diagram", anchor=False)
        names = {each: labels.method_names(each)[0] for each in ranking.ranks}
        figure = critical_difference.draw(
            ranking,
            names,
            board_frames.keys_of(division),
            division.forgot(),
            dark=state.dark(),
            selected=state.param("run"),
        )
        clicks.chart(figure, "board_ranks", alt=critical_difference.alt_text(ranking, names))
        st.caption("A bar joins ranks that may differ by chance. Grey: forgot in no task.")
    figures.numbers(frame, name, figure)
