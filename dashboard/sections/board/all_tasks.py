"""All tasks of a division side by side: where each method forgot, its average rank and its cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import state
from dashboard.charts import critical_difference
from dashboard.frames import board as board_frames
from dashboard.text import labels, units
from dashboard.widgets import clicks, figures, header, presenting, rank_bars, run_filters
from dashboard.widgets.columns import aligned, text_width
from mucore.suite.tables import Division

DISTANCE = (
    "Gaps to the Retrain of the same seed, in units of how far two Retrains lie apart, at most 100 "
    "for each number."
)
WORK = "Samples read forward and backward, as a share of Retrain's."
# heads are short, or the last columns had no room on a small screen
NUMBERS = {
    "Average rank": st.column_config.NumberColumn(
        "Rank",
        format="%.1f",
        help="Average over the tasks that say who forgot, of the methods with a distance in all of "
        "these, by distance; 1 is the least.",
    ),
    "Distance, spreads": st.column_config.NumberColumn(
        "Distance",
        format="%.2f",
        help=f"{DISTANCE} Mean over the tasks that say who forgot, where the method has a distance "
        "in each.",
    ),
    "Work": st.column_config.NumberColumn(
        format="%.2f",
        help=f"{WORK} Mean over the tasks that say who forgot and that the method ran in.",
    ),
}

MISSING = {
    "Method": st.column_config.TextColumn(width="medium", pinned=True),
    "Why": st.column_config.TextColumn(width="large"),
}
NO_RANK = (
    " No rank: in a task that says who forgot the method has no distance, or fewer than three "
    "seeds. What is missing, below, says why."
)
CHEATS = (
    " A baseline that cheats stands last and is not ranked: it shows what a metric must not be "
    "fooled by."
)


def words(frame: pd.DataFrame, verdicts: Sequence[str]) -> dict[str, Any]:
    """The columns of a frame that hold a method and, by name, verdicts: as wide as their words."""
    return {
        name: st.column_config.TextColumn(width=text_width(frame, name), pinned=name == "Method")
        for name in ("Method", *verdicts)
        if name in frame
    }


def show(division: Division, name: str, answers: st.delta_generator.DeltaGenerator) -> None:
    frame = board_frames.overall_frame(division, run_filters.pinned())
    # the reasons are long and stand below
    shown = frame.drop(columns=board_frames.NO_RANK, errors="ignore")
    presenting.dataframe(
        shown,
        "board",
        alt="Methods shown to have forgotten in most tasks first.",
        hide_index=True,
        column_config=aligned(
            shown,
            NUMBERS
            | words(shown, [labels.scenario_title(t.task.scenario) for t in division.tables]),
        ),
        height="content",
    )
    st.caption(
        "Verdicts here rest on the Retrains of the suite's seeds; the page Results takes all there "
        "are, so the two may differ. A question mark: more seeds of the method may change the "
        "verdict; more Retrains may change any. “Shown in” counts the tasks where the method is "
        "shown to have forgotten, of those that say who forgot and that it ran in, “Indicated in” "
        "those where it seems to; “unsound”, where runs did not end as planned, counts in neither. "
        "Distance, to Retrain, is in units of how far two Retrains lie apart; work is a share of "
        "Retrain's. "
        "Methods shown in most stand first, then by indications, average rank, distance and work."
        f"{NO_RANK if len(shown.columns) < len(frame.columns) else ''}"
        f"{CHEATS if division.baselines else ''}"
    )
    gaps = board_frames.gaps_frame(division)
    if len(gaps):
        with st.expander(
            f"What is missing: {units.count(len(gaps), 'line')}", icon=":material/block:"
        ):
            st.dataframe(gaps, hide_index=True, column_config=MISSING)
    figure, ranking = None, division.ranking
    if ranking is not None:
        st.subheader("Which ranks chance may explain", anchor=False)
        tests = ((pair.first, pair.second, pair.p_holm) for pair in division.pairs)
        ranking, in_pairs = rank_bars.pick(ranking, tests)
        names = {each: labels.method_names(each) for each in ranking.ranks}
        info = critical_difference.critical_difference_info(
            ranking, names, board_frames.keys_of(division), division.forgot(), in_pairs=in_pairs
        )
        figure = critical_difference.draw(info, dark=state.dark(), selected=state.param("run"))
        by = board_frames.tests_sentence(division) if in_pairs else "Nemenyi's test, 95 %."
        dots = "" if info.whole else " A bar joins only the methods at its dots."
        st.caption(
            f"Only methods that share no bar differ by more than chance. {by}{dots} Hollow: forgot "
            "in none of these tasks. Click a mark or a name for the method's first run."
        )
        clicks.chart(figure, "board_ranks", alt=critical_difference.alt_text(info))
    with answers:
        header.statement(board_frames.overall_sentence(division))
        header.answers(board_frames.overall_answers(division, ranking))
    figures.numbers(frame, name, figure)
