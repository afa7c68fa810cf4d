"""Budget curves: what every method keeps and forgets as the forget set grows (MUBox, Figures 3 and
4).
"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.frames import budget as budget_frames
from dashboard.sections.budget import curves, printed, reading
from dashboard.text import labels, units
from dashboard.widgets import figures, header, messages, run_drawer, run_filters
from dashboard.widgets.markdown import escape, metric_help
from dashboard.widgets.provenance import provenance
from mucore import catalog

QUESTION = "Do methods keep forgetting as the request grows?"
FIGURES = {"one_class": "MUBox, Figure 3", "all_classes": "MUBox, Figure 4"}
ALWAYS = ("ta", "fa")
NONE = "none"


def page() -> None:
    source = data.source()
    top = st.container()
    runs = data.summaries()
    runs = runs[runs["scenario"].isin(budget_frames.scenarios())]
    if runs.empty:
        with top:
            header.header(
                QUESTION,
                "Accuracy against the number of samples to forget, one line a method.",
                source,
            )
        messages.empty(
            "No run has a forget set whose size can be chosen. Launch one scenario with several "
            "budgets, such as 0.02, 0.05, 0.1 and 0.2.",
            "Launch a comparison",
            "launch",
            scenarios="one_class",
            **{
                "one_class.budget": ",".join(
                    units.plain(share) for share in budget_frames.MUBOX_BUDGETS
                )
            },
        )
        return
    runs = run_filters.pick_runs(
        runs, scenarios=budget_frames.scenarios(), varying=budget_frames.AMOUNTS, curves=True
    )
    if runs.empty:
        with top:
            messages.none_finished(QUESTION, source)
        return
    scenario = str(runs.iloc[0]["scenario"])
    every = runs["training_seed"].nunique()
    runs, aside = budget_frames.alike(runs)
    values = data.metric_values(dataset=str(runs.iloc[0]["dataset"]), scenario=scenario)
    above = st.container()
    left, middle, right = st.columns([36, 30, 34], gap="medium", vertical_alignment="bottom")
    with left:
        run_filters.pick_values_or_gaps()
    with middle:
        names = {"all": "All", "near": "Near Retrain"}
        state.segmented("Range", "zoom", list(names), format_func=names.__getitem__)
    with right:
        third = pick_metric(values, runs, source)
    found = computed(runs, values, source.name, source.change, data.chosen(runs), (*ALWAYS, *third))
    with top:
        header.header(QUESTION, caption(runs, scenario), source)
        if sentence := budget_frames.growth_sentence(found):
            header.statement(sentence)
        header.answers(budget_frames.answers(found))
    with above:
        reading.show_reading(found, runs, scenario)
    ghosts = printed.pick_ghosts(found, runs)
    figure = (
        curves.show(found, ghosts) if curves.measured(found) else curves.show_nothing_measured()
    )
    reading.show_verdicts(found)
    reading.show_left_out(aside, runs["training_seed"].nunique(), every)
    run_drawer.run_drawer(budget_frames.beside(runs, state.param("run")))
    figures.numbers(
        pd.concat([budget_frames.numbers(found), printed.ghost_numbers(found, ghosts)]),
        f"budget-{scenario}",
        figure,
    )
    provenance(runs)


def pick_metric(values: pd.DataFrame, runs: pd.DataFrame, source: data.Source) -> tuple[str, ...]:
    """The metric of the third panel, if the reader asked for one."""
    there = present(values, runs, source.name, source.change, data.chosen(runs))
    options = [name for name in there if name not in ALWAYS]
    title = {
        NONE: "None",
        **{name: f"{catalog.metric(name).short}: {catalog.metric(name).title}" for name in options},
    }
    metric = state.choice("metric", [NONE, *options])
    meaning = (
        metric_help(metric)
        if metric != NONE
        else "Any other number that these runs have, in a panel of its own."
    )
    chosen = state.select(
        "Third panel", "metric", [NONE, *options], format_func=title.__getitem__, help=meaning
    )
    return () if chosen == NONE else (chosen,)


@st.cache_data(show_spinner=False, max_entries=32)
def present(
    _values: pd.DataFrame, _runs: pd.DataFrame, name: str, change: int, chosen: str
) -> tuple[str, ...]:
    """`budget_frames.measured`, cached as `computed` is: a run's metrics change when it is measured
    anew, and its key does not.
    """
    return budget_frames.measured(_values[_values["key"].isin(_runs["key"])])


@st.cache_data(show_spinner=False, max_entries=32)
def computed(
    _runs: pd.DataFrame,
    _values: pd.DataFrame,
    name: str,
    change: int,
    chosen: str,
    metrics: tuple[str, ...],
) -> budget_frames.Curves:
    """`budget_frames.curves`; `name`, `change` and `chosen` say which runs, so that the frames need
    no hashing.
    """
    return budget_frames.curves(_runs, _values, metrics, judged=data.judged(_runs))


def caption(runs: pd.DataFrame, scenario: str) -> str:
    first = runs.iloc[0]
    sizes = units.count(runs["forget_count"].nunique(), "budget")
    seeds = units.count(runs["training_seed"].nunique(), "training seed")
    figure = FIGURES.get(scenario, "")
    paper = f" After {figure}, which prints numbers for one budget alone." if figure else ""
    return escape(f"{labels.setup_text(first)}. {sizes}, {seeds}.{paper}")


page()
