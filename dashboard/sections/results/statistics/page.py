"""Ranks, agreement and tests: one choice of runs and metrics for the three."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.frames import budget as budget_frames
from dashboard.frames import tradeoffs as tradeoffs_frames
from dashboard.sections.results import tabs
from dashboard.sections.results.statistics import agreement, paired_tests, ranks, shared
from dashboard.text import units
from dashboard.widgets import header, messages, run_drawer, run_filters
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import provenance
from mucore import catalog
from mucore.statistics import Statistics, statistics_of, usual_metrics

VIEWS: Final = {
    "ranks": ("Ranks", "Does one method rank first across all scenarios?"),
    "agreement": ("Agreement of metrics", "Do the metrics agree on which method is better?"),
    "tests": ("Paired tests", "Which differences between methods are more than chance?"),
}
HOW: Final = """**Ranks**: 1 is the best in a scenario; a bar joins what chance may explain
(Demšar, 2006).  
**τ**: 1 where two metrics rank the methods alike, −1 in reverse order.  
**Paired tests**: Wilcoxon's signed-rank test on the same scenarios and seeds, corrected by
Holm."""


def show(source: data.Source, top: st.delta_generator.DeltaGenerator) -> None:
    """One view of the runs of one data set, model and recipe."""
    view = state.choice("view", list(VIEWS))
    with top:
        header.header(VIEWS[view][1], HOW, source)
    runs = choose(source, data.unlearning_runs(), view)
    provenance(runs)


def choose(source: data.Source, runs: pd.DataFrame, view: str) -> pd.DataFrame:
    """The runs that are shown, with the view of them."""
    chips = run_filters.chip_line("data", "methods", "settings", "seeds")
    with chips["data"]:
        runs = run_filters.pick_data(runs)
    runs = run_filters.pick_methods(runs, chips)
    with st.container(key="answer_line", horizontal=True, vertical_alignment="center"):
        with st.container(width="stretch"):
            state.segmented(
                "Question",
                "view",
                list(VIEWS),
                format_func=lambda name: VIEWS[name][0],
                label_visibility="collapsed",
            )
        tabs.pick()
    line = st.container(horizontal=True, vertical_alignment="center", gap="medium")
    places = [line.container(width=300)]
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
                label_visibility="collapsed",
            )
    compared = tuple(chosen or usual) if view == "agreement" else (metric,)
    found = computed(runs, source.name, source.change, chosen_runs, metric, compared)
    shown = {"ranks": ranks.show, "agreement": agreement.show, "tests": paired_tests.show}
    shown[view](found, runs, line)
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
