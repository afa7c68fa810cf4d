"""Ranks, agreement and tests: one choice of runs and metrics for the three."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.frames import budget as budget_frames
from dashboard.frames import tradeoffs as tradeoffs_frames
from dashboard.sections.tradeoffs import agreement, paired_tests, ranks, shared
from dashboard.text import units
from dashboard.widgets import messages, run_drawer, run_filters
from dashboard.widgets.markdown import escape
from mucore import catalog
from mucore.statistics import Statistics, statistics_of, usual_metrics


def show(
    source: data.Source, runs: pd.DataFrame, view: str, answers: st.delta_generator.DeltaGenerator
) -> pd.DataFrame:
    """The `view` of the runs of one data set, model and recipe; gives the runs that are shown."""
    chips = run_filters.chip_line("data", "methods", "settings", "seeds")
    with chips["data"]:
        runs = run_filters.pick_data(runs)
    runs = run_filters.pick_methods(runs, chips)
    places = st.columns([2.4, 3], vertical_alignment="bottom", gap="small")
    if runs.empty:
        messages.none_finished()
        return runs
    if messages.none_chosen(runs, **budget_frames.launch_query(runs, ())):
        return runs
    chosen_runs = data.chosen(runs)
    metrics, usual = measured(runs, source.name, source.change, chosen_runs)
    if not metrics:
        messages.empty(
            "No method of this selection has a number yet.",
            "Launch a comparison",
            "launch",
            **budget_frames.launch_query(runs, ()),
        )
        return runs
    metric, chosen = "fa" if "fa" in metrics else metrics[0], usual
    with places[0]:
        if view == "agreement":
            with st.popover("Metrics", icon=":material/checklist:", width="stretch"):
                chosen = state.multiselect(
                    "Metrics",
                    "metrics",
                    metrics,
                    default=usual,
                    format_func=tradeoffs_frames.short_name,
                )
        else:
            metric = state.select(
                "Metric",
                "metric",
                metrics,
                default=metric,
                format_func=lambda name: catalog.metric(name).title,
            )
    compared = tuple(chosen or usual) if view == "agreement" else (metric,)
    found = computed(runs, source.name, source.change, chosen_runs, metric, compared)
    {"ranks": ranks.show, "agreement": agreement.show, "tests": paired_tests.show}[view](
        found, runs, answers
    )
    show_notes(
        [
            note
            for note in found.notes
            if view == "agreement" or not note.startswith("No rank agreement")
        ]
    )
    run_drawer.run_drawer(runs)
    return runs


@st.cache_data(show_spinner=False, max_entries=16)
def measured(
    _runs: pd.DataFrame, name: str, change: int, chosen: str
) -> tuple[list[str], list[str]]:
    """The metrics that can rank methods, and those whose rankings are usually compared."""
    values = shared.values_of(_runs, chosen)
    references = _runs.loc[_runs["method"].isin(data.REFERENCES), "key"]
    values = values.loc[~values["key"].isin(references), ["metric", "value"]]
    metrics = tradeoffs_frames.scored_metrics(values)
    everywhere = [
        name
        for name in usual_metrics(values)
        if name in metrics and catalog.metric(name).scenarios is None
    ]
    return metrics, everywhere if len(everywhere) > 1 else metrics


@st.cache_data(show_spinner="Comparing all runs", max_entries=32)
def computed(
    _runs: pd.DataFrame, name: str, change: int, chosen: str, metric: str, metrics: tuple[str, ...]
) -> Statistics:
    """`mucore.statistics.statistics_of`; `name`, `change` and `chosen` say which runs, so that the
    frames need no hashing.
    """
    return statistics_of(
        shared.labelled(_runs, chosen),
        shared.values_of(_runs, chosen),
        metric=metric,
        agreement=metrics,
        watch=False,
    )


def show_notes(notes: Sequence[str]) -> None:
    if notes:
        with st.expander(
            f"What to know about these numbers: {units.count(len(notes), 'note')}",
            icon=":material/info:",
        ):
            st.markdown("\n".join(f"- {escape(note)}" for note in notes[:100]))
