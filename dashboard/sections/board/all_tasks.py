"""All tasks of a division side by side: where each method forgot, its average rank and its cost."""

from __future__ import annotations

import streamlit as st

from dashboard import state
from dashboard.charts import critical_difference
from dashboard.frames import board as board_frames
from dashboard.text import labels
from dashboard.widgets import clicks, figures, header
from dashboard.widgets.columns import aligned
from mucore.suite.board import Division

METHOD = st.column_config.TextColumn(width="medium")
NUMBERS = {
    "Method": METHOD,
    "Average rank": st.column_config.NumberColumn(
        format="%.1f",
        help="Of the methods with a score in all tasks, by distance to Retrain; 1 is nearest.",
    ),
    "Distance": st.column_config.NumberColumn(
        format="%.2f",
        help="Mean over the tasks: gaps to the Retrain of the same seed in units of how far two "
        "Retrains lie apart. About 0.8 is another seed's Retrain.",
    ),
    "Work": st.column_config.NumberColumn(
        format="%.2f", help="Samples read forward and backward, as a share of Retrain's."
    ),
}


def show(division: Division, name: str, answers: st.delta_generator.DeltaGenerator) -> None:
    with answers:
        header.statement(board_frames.overall_sentence(division))
        header.answers(board_frames.overall_answers(division))
    frame = board_frames.overall_frame(division)
    st.dataframe(frame, hide_index=True, column_config=aligned(frame, NUMBERS), height="content")
    st.caption(
        "Methods that forgot in most tasks stand first, then by average rank and work. A question "
        "mark: more seeds may change the verdict."
    )
    figure = None
    if division.ranking is not None:
        names = {each: labels.method_names(each) for each in division.ranking.ranks}
        info = critical_difference.critical_difference_info(
            division.ranking, names, board_frames.keys_of(division), division.forgot()
        )
        figure = critical_difference.draw(info, dark=state.dark(), selected=state.param("run"))
        st.subheader("Which ranks chance may explain", anchor=False)
        st.caption(
            "Only methods that share no bar differ by more than chance (Nemenyi, 95 %). Hollow: "
            "forgot in none of these tasks. Click a mark or a name for the method's first run."
        )
        clicks.chart(figure, "board_ranks", alt=critical_difference.alt_text(info))
    figures.numbers(frame, name, figure)
