"""What the results say at a glance."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, frames
from dashboard.text import labels, units, verdicts
from dashboard.widgets import header, run_filters
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape
from mucore import catalog


def show(source: data.Source) -> None:
    """What the Results page opens on: what was to be forgotten, how many methods did, and three
    figures.
    """
    runs = run_filters.usual_runs(data.unlearning_runs())
    if runs[~runs["method"].isin(["original", "retrain"])].empty:
        return
    first = runs.iloc[0]
    scenario = catalog.scenario(str(first["scenario"]))
    methods = units.count(len(run_filters.methods_of(runs)), "method")
    seeds = units.count(runs["training_seed"].nunique(), "training seed")
    head, text, misled, counted, found = story(
        runs, source.name, source.change, data.chosen(runs), class_wise=scenario.class_wise
    )
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            said = f"{labels.setup_text(first)}: {methods}, {seeds}"
            st.markdown(f"**{escape(scenario.title)}** · {escape(said)}", width="stretch")
            link("results", "Read the table", icon=":material/arrow_forward:")
        if head:
            st.markdown(f"#### {escape(head)}")
            st.markdown(escape(text))
            if misled:
                st.markdown(f"**Accuracy alone proves nothing.** {escape(misled)}")
            st.caption(escape(counted))
        if len(found) > 1:  # one alone says again that no method qualifies
            header.answers(found)


@st.cache_data(show_spinner="Reading the results", max_entries=8)
def story(
    _runs: pd.DataFrame, name: str, change: int, chosen: str, *, class_wise: bool
) -> tuple[str, str, str, str, tuple[frames.Answer, ...]]:
    """`frames.story`, `frames.misled`, the count in a sentence and `frames.best_answers`; `name`,
    `change` and `chosen` say which runs.
    """
    first = _runs.iloc[0]
    values = data.metric_values(dataset=str(first["dataset"]), scenario=str(first["scenario"]))
    mine = values[values["key"].isin(_runs["key"])]
    table = frames.results_table(
        _runs, mine, view="value", class_wise=class_wise, judged=data.judged(_runs)
    )
    count = int(_runs["forget_count"].median())
    what = labels.forgotten_text(
        str(first["scenario"]), str(first["scenario_parameters"]), str(first["dataset"]), count
    )
    return (
        *frames.story(table, what, count),
        frames.misled(table),
        verdicts.count_sentence(table.methods),
        frames.best_answers(table),
    )
