"""The front: the methods that no other beats in every goal at once."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, frames, state
from dashboard.charts import trade_offs
from dashboard.frames import tradeoffs as tradeoffs_frames
from dashboard.frames.budget import launch_query
from dashboard.frames.results import DISTANCE_MEANING
from dashboard.frames.tradeoffs import Front
from dashboard.sections.tradeoffs import goals
from dashboard.widgets import clicks, columns, figures, header, messages, run_drawer
from dashboard.widgets.markdown import escape, metric_help
from mucore.runs import REFERENCES

RANGES = {"near": "Near Retrain", "all": "All"}


def show(
    source: data.Source,
    runs: pd.DataFrame,
    answer: st.delta_generator.DeltaGenerator,
    line: st.delta_generator.DeltaGenerator,
) -> None:
    """One setting's methods, as wished for in the popover of the switches' `line`."""
    rows, scored = scores(runs, source.name, source.change, data.chosen(runs))
    metrics = [*scored]
    with line:
        near = state.segmented(
            "Range",
            "zoom",
            list(RANGES),
            format_func=RANGES.__getitem__,
            label_visibility="collapsed",
        )
        with st.popover("Axes and goals", icon=":material/tune:"):
            left, right = st.columns(2)
            with left:
                across = state.select("Across", "x", metrics, default="fa", format_func=goals.title)
            with right:
                up = state.select("Up", "y", metrics, default="ta", format_func=goals.title)
            wanted = goals.pick(metrics)
    found = tradeoffs_frames.front(rows, scored, wanted)
    with answer:
        header.answer(tradeoffs_frames.front_sentence(found))
        header.verdict_bar(rows)
    if not found.rows or len(wanted) < 2:
        show_left_out(found)
        messages.empty(
            "Nothing to compare: choose two goals, or launch more methods.",
            "Launch",
            "launch",
            **launch_query(runs, ()),
        )
        return
    axes = tradeoffs_frames.measure(across), tradeoffs_frames.measure(up)
    figure = trade_offs.draw(
        found,
        *axes,
        scored,
        [row for row in rows if row.reference],
        dark=state.dark(),
        near=near == "near",
        selected=state.param("run"),
    )
    clicks.chart(figure, "front", alt=trade_offs.alt_text(found, *axes))
    show_left_out(found)
    frame = show_table(found, scored)
    run_drawer.run_drawer(runs)
    figures.numbers(frame, "trade-offs", figure)


@st.cache_data(show_spinner=False, max_entries=16)
def scores(
    _runs: pd.DataFrame, name: str, change: int, chosen: str
) -> tuple[list[frames.Row], pd.DataFrame]:
    """The rows and their scores in every metric that has better and worse values; `name`, `change`
    and `chosen` say which runs.
    """
    first = _runs.iloc[0]
    values = data.metric_values(dataset=str(first["dataset"]), scenario=str(first["scenario"]))
    methods = _runs.loc[~_runs["method"].isin(REFERENCES), "key"]
    metrics = tradeoffs_frames.scored_metrics(values[values["key"].isin(methods)])
    rows = frames.metric_rows(_runs, values, metrics, judged=data.judged(_runs))
    return [*rows], tradeoffs_frames.scores(rows, _runs, values, metrics)


def show_table(found: Front, scored: pd.DataFrame) -> pd.DataFrame:
    """A line a method; a click opens its first run."""
    frame = tradeoffs_frames.front_frame(found, scored)
    help_of = {tradeoffs_frames.goal_head(goal): metric_help(goal.id) for goal in found.goals}
    help_of[tradeoffs_frames.DISTANCE_HEAD] = DISTANCE_MEANING
    settings = {
        name: st.column_config.Column(name.removesuffix(" (points)"), help=text)
        for name, text in help_of.items()
    }
    event = st.dataframe(
        frame,
        hide_index=True,
        column_config=columns.aligned(frame, settings),
        key="front_table",
        on_select="rerun",
        selection_mode="single-row",
    )
    keys = {row.title: row.keys[0] for row in found.rows}
    lines = [place for place in event["selection"]["rows"] if place < len(frame)]
    clicks.open_new([keys[frame.at[place, "Method"]] for place in lines], "front_table")
    return frame


def show_left_out(found: Front) -> None:
    said = [f"{reason}: {', '.join(names)}." for reason, names in found.left_out.items() if names]
    if said:
        st.caption(escape(" ".join(said)))
