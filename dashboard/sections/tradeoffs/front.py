"""The front: the methods that no other beats in every goal at once."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.charts import goal_lines, pareto
from dashboard.frames import Answer
from dashboard.frames import budget as budget_frames
from dashboard.frames import tradeoffs as tradeoffs_frames
from dashboard.frames.table import DISTANCE_MEANING
from dashboard.frames.tradeoffs import Contest, Scored
from dashboard.sections.tradeoffs import goals, scatter
from dashboard.text import verdicts
from dashboard.widgets import clicks, columns, figures, header, messages, run_drawer, run_filters
from dashboard.widgets.markdown import escape, metric_help


def show(
    source: data.Source, runs: pd.DataFrame, answers: st.delta_generator.DeltaGenerator
) -> pd.DataFrame:
    """One setting's methods, as wished for above; gives the runs that are shown."""
    runs = run_filters.pick_runs(runs, first=run_filters.OPENS_ON)
    goals.pick_rivals()
    if runs.empty:
        messages.none_finished()
        return runs
    if messages.none_chosen(runs, **budget_frames.launch_query(runs, ())):
        return runs
    rows, metrics = scores(runs, source.name, source.change, data.chosen(runs))
    wanted, limits, least = goals.pick(metrics)
    if len(wanted) < 2:
        sentence = (
            "A trade-off needs two goals at least. Choose them above, or launch a "
            "comparison that measures them."
        )
        messages.empty(sentence, "Launch", "launch", **budget_frames.launch_query(runs, ()))
        return runs
    found = tradeoffs_frames.contest(
        rows, wanted, limits, least, everyone=state.choice(goals.RIVALS, ["0", "1"]) == "1"
    )
    if not found.entrants:
        show_left_out(found)
        sentence = (
            "No method is left to compare: loosen the limits above, or launch Retrain and "
            "methods with it."
        )
        messages.empty(sentence, "Launch", "launch", **budget_frames.launch_query(runs, ()))
        return runs
    with answers:
        header.statement(
            tradeoffs_frames.front_sentence(found), verdicts.count_sentence(found.lines)
        )
        header.answers([how_sure(found)])
    left, right = st.columns(2, gap="medium")
    with left:
        figure = scatter.show(found, runs, metrics)
    with right:
        some = (
            f", the lowest {pareto.NAMED} of {len(found.front)}"
            if len(found.front) > pareto.NAMED
            else ""
        )
        colour = f" In colour: no other beats it{some}." if found.front else ""
        info = goal_lines.goal_lines_info(found)
        strip = " Grey area: the 95 % band of Retrains." if any(info.noise) else ""
        st.caption(
            f"Every goal at once: lower is better.{colour}{strip} Point at a grey line for its "
            "name."
        )
        lines = goal_lines.draw(info, dark=state.dark(), selected=state.param("run"))
        clicks.chart(lines, "goals", alt=goal_lines.alt_text(info))
    frame = show_table(found)
    show_left_out(found)
    run_drawer.run_drawer(runs)
    figures.numbers(frame, "trade-offs", figure, of="the scatter")
    figures.numbers(
        tradeoffs_frames.lines_frame(found), "trade-offs-all-goals", lines, of="every goal at once"
    )
    return runs


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


def how_sure(found: Contest) -> Answer:
    """How far to trust the front."""
    seeds = {row.seeds for row in found.entrants}
    if seeds == {1}:
        why = "verdicts and small differences may be chance; run more training seeds"
        return Answer("How sure", "One seed", why)
    least, most = min(seeds), max(seeds)
    return Answer(
        "How sure",
        f"{least if least == most else f'{least} to {most}'} seeds",
        "means over training seeds are compared; small differences may be chance",
    )


def show_table(found: Contest) -> pd.DataFrame:
    frame = tradeoffs_frames.contest_frame(found)
    st.caption(
        "Nearest to Retrain first: those that no other beats, the beaten, and those that do not "
        "compete. Distance and gaps in points. Click a line for its run."
    )
    # The columns of text take what they need, so that none is cut; heads of numbers are short for
    # it.
    help_of = {tradeoffs_frames.goal_head(goal): metric_help(goal.id) for goal in found.goals}
    help_of[tradeoffs_frames.DISTANCE_HEAD] = DISTANCE_MEANING
    settings = {
        name: st.column_config.Column(name.removesuffix(" (points)"), help=text)
        for name, text in help_of.items()
    }
    # what holds words is as wide as its longest, or the table would cut them
    settings["Method"] = st.column_config.Column(width=140)
    settings["Verdict"] = st.column_config.Column(
        width=125, help="What happened to the method, in one word; ? where it is an indication."
    )
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
