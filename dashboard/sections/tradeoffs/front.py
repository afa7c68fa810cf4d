"""The front: the methods that no other beats in every goal at once."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.charts import trade_offs
from dashboard.frames import budget as budget_frames
from dashboard.frames import tradeoffs as tradeoffs_frames
from dashboard.frames.table import DISTANCE_MEANING
from dashboard.frames.tradeoffs import Contest, Scored
from dashboard.sections.tradeoffs import goals
from dashboard.widgets import clicks, columns, figures, header, messages, run_drawer
from dashboard.widgets.markdown import escape, metric_help


def show(
    source: data.Source,
    runs: pd.DataFrame,
    answer: st.delta_generator.DeltaGenerator,
    line: st.delta_generator.DeltaGenerator,
) -> None:
    """One setting's methods, as wished for in the popover of the switches' `line`."""
    rows, metrics = scores(runs, source.name, source.change, data.chosen(runs))
    with line:
        near = pick_range() == "near"
        with st.popover("Axes and goals", icon=":material/tune:"):
            left, right = st.columns(2)
            with left:
                across = state.select("Across", "x", metrics, default="fa", format_func=goals.title)
            with right:
                up = state.select("Up", "y", metrics, default="ta", format_func=goals.title)
            goals.pick_rivals()
            wanted, limits, least = goals.pick(metrics)
    everyone = state.choice(goals.RIVALS, ["0", "1"]) == "1"
    found = tradeoffs_frames.contest(rows, wanted, limits, least, everyone=everyone)
    with answer:
        header.answer(tradeoffs_frames.front_sentence(found))
        header.verdict_bar(found.lines)
    info = trade_offs.trade_offs_info(
        found, tradeoffs_frames.measure(across), tradeoffs_frames.measure(up)
    )
    if not info.dots or len(wanted) < 2:
        show_left_out(found)
        messages.empty(
            "Nothing to compare: choose two goals, loosen the ranges, or launch more methods.",
            "Launch",
            "launch",
            **budget_frames.launch_query(runs, ()),
        )
        return
    figure = trade_offs.draw(info, dark=state.dark(), near=near, selected=state.param("run"))
    clicks.chart(figure, "front", alt=trade_offs.alt_text(info))
    frame = show_table(found)
    show_left_out(found)
    run_drawer.run_drawer(runs)
    figures.numbers(frame, "trade-offs", figure)


def pick_range() -> str:
    names = {"near": "Near Retrain", "all": "All"}
    return state.segmented(
        "Range", "zoom", list(names), format_func=names.__getitem__, label_visibility="collapsed"
    )


@st.cache_data(show_spinner=False, max_entries=16)
def scores(
    _runs: pd.DataFrame, name: str, change: int, chosen: str
) -> tuple[tuple[Scored, ...], list[str]]:
    """Scores of every row in every metric that has better and worse values; `name`, `change` and
    `chosen` say which runs.
    """
    first = _runs.iloc[0]
    values = data.metric_values(dataset=str(first["dataset"]), scenario=str(first["scenario"]))
    values = values[values["key"].isin(_runs["key"])]
    methods = _runs.loc[~_runs["method"].isin(["original", "retrain"]), "key"]
    metrics = tradeoffs_frames.scored_metrics(values[values["key"].isin(methods)])
    return tradeoffs_frames.scored(_runs, values, metrics, data.judged(_runs)), metrics


def show_table(found: Contest) -> pd.DataFrame:
    frame = tradeoffs_frames.contest_frame(found)
    # The columns of text take what they need, so that none is cut; heads of numbers are short for
    # it.
    help_of = {tradeoffs_frames.goal_head(goal): metric_help(goal.id) for goal in found.goals}
    help_of[tradeoffs_frames.DISTANCE_HEAD] = DISTANCE_MEANING
    settings = {
        name: st.column_config.Column(name.removesuffix(" (points)"), help=text)
        for name, text in help_of.items()
    }
    settings["Method"] = st.column_config.Column(width=140)
    settings["Verdict"] = st.column_config.Column(width=125)
    settings["Beaten by"] = st.column_config.Column(width=190)
    event = st.dataframe(
        tradeoffs_frames.contest_frame(found, most=1),
        hide_index=True,
        column_config=columns.aligned(frame, settings),
        key="front_table",
        on_select="rerun",
        selection_mode="single-row",
    )
    keys = {row.title: row.key for row in found.entrants}
    clicks.open_new(
        [
            keys[title]
            for place in event["selection"]["rows"]
            if place < len(frame) and (title := str(frame.iloc[place]["Method"])) in keys
        ],
        "front_table",
    )
    return frame


def show_left_out(found: Contest) -> None:
    left_out = {
        "Outside a range": found.over,
        "Without a number in some goal": found.incomplete,
        "Not counted": found.unsound,
    }
    said = [f"{reason}: {', '.join(names)}." for reason, names in left_out.items() if names]
    if said:
        st.caption(escape(" ".join(said)))
