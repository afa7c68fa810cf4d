"""Results: MUBox's table for one scenario, the trade-off beside it, and the run behind every
line.
"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import assets, data, frames, state
from dashboard.sections.results import methods_table, tradeoff
from dashboard.text import labels, units, verdicts
from dashboard.widgets import (
    course,
    figures,
    header,
    messages,
    revised_verdicts,
    run_drawer,
    run_filters,
)
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import provenance
from mucore import catalog
from mucore.store import Store

# A table with verdicts needs this much to show every column; where a window gives less beside the
# figure, the figure stands below.
ROOM = assets.style("results_room.css")


def page() -> None:
    source = data.source()
    top = st.container()
    runs = data.unlearning_runs()
    if runs.empty:
        messages.no_results(
            "Which method forgets without hurting the rest?",
            "The table of a comparison: methods in rows, what they keep and forget in columns.",
        )
        return
    runs = run_filters.pick_runs(runs, first=run_filters.OPENS_ON, extra=pick_view, beside=True)
    if runs.empty:
        with top:
            messages.none_finished("Which method forgets without hurting the rest?", source)
        return
    scenario = catalog.scenario(str(runs.iloc[0]["scenario"]))
    view = run_filters.values_or_gaps()
    sort, descending = sorting()
    values = data.metric_values(dataset=str(runs.iloc[0]["dataset"]), scenario=scenario.id)
    table = frames.results_table(
        runs,
        values[values["key"].isin(runs["key"])],
        view=view,
        class_wise=scenario.class_wise,
        sort=sort or frames.USUAL,
        descending=descending,
        judged=data.judged(runs),
        pinned=run_filters.pinned(),
    )
    with top:
        header.header(scenario.question, caption(runs), source)
        revised_verdicts.notice(source, data.unlearning_runs())
        outside = suspicious(runs, values, source.name, source.change, data.chosen(runs))
        count = flagged(source.store, source.name, source.change, tuple(runs["key"]))
        header.answers(
            frames.answers(table, flagged=count, outside=len(outside)),
            first=verdicts.count_sentence(table.methods, run_filters.ran(runs)),
        )
    st.html(ROOM)
    left, right = st.columns([63, 37], gap="medium")
    with left, st.container(key="results_numbers"):
        paper = methods_table.pick_paper(runs)
        methods_table.show(table, sort, descending, paper)
    with right, figures.sticky("results_figure"):
        near = frames.answers(table)[0]
        course.above(f"{near.label}: {near.value}", near.detail)
        figure = tradeoff.show(table)
    selected = table.row(state.param("row"))
    if selected is None:
        run_drawer.closed()
    else:
        run_drawer.row_drawer(selected, runs, outside.get(selected.id, ()))
    methods_table.show_downloads(table)
    figures.numbers(
        frames.with_paper(table, paper) if paper else table.frame, f"results-{scenario.id}", figure
    )
    provenance(runs)


def pick_view() -> None:
    run_filters.pick_values_or_gaps(label_visibility="collapsed")


@st.cache_data(show_spinner=False, max_entries=32)
def flagged(_store: Store, name: str, change: int, keys: tuple[str, ...]) -> int:
    """How many of the runs carry a sanity flag; `name` and `change` say which store, and when it
    was read.
    """
    results = _store.results(metrics=False, brief=True, keys=keys)
    return sum(bool(result.flags) for result in results)


@st.cache_data(show_spinner=False, max_entries=32)
def suspicious(
    _runs: pd.DataFrame, _values: pd.DataFrame, name: str, change: int, chosen: str
) -> dict[str, tuple[str, ...]]:
    """`frames.suspicious`; `name`, `change` and `chosen` say which runs, so that the frames need no
    hashing.
    """
    return frames.suspicious(_runs, _values)


def sorting() -> tuple[str, bool]:
    """Column id and direction from the address: `fa` from its ideal on, `-fa` the other way,
    nothing for what forgot first, the nearest to Retrain on top.
    """
    text = state.param("sort")
    return text.removeprefix("-"), text.startswith("-")


def caption(runs: pd.DataFrame) -> str:
    first = runs.iloc[0]
    mine = runs[runs["method"].isin(run_filters.methods_of(runs))]
    count, most = (each["training_seed"].nunique() for each in (mine, runs))
    seeds = units.count(count or most, "training seed")
    if 0 < count < most:  # the demo has further references, which make the bands narrower
        seeds += f" (Original and Retrain: {most})"
    forgotten = units.count(int(runs["forget_count"].median()), "sample")
    chosen = labels.forget_set_text(str(first["scenario_parameters"]), str(first["dataset"]))
    return escape(f"{labels.setup_text(first)}. {forgotten} to forget ({chosen}), {seeds}.")


page()
