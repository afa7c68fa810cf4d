"""Ranks, agreement and tests: one choice of runs and metrics for the three."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.frames import budget as budget_frames
from dashboard.frames import tradeoffs as tradeoffs_frames
from dashboard.sections.results import tabs
from dashboard.sections.results.statistics import views
from dashboard.widgets import header, messages, run_drawer, run_filters
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import provenance
from mucore import catalog
from mucore.runs import REFERENCES
from mucore.statistics import Statistics, label_runs, statistics_of, usual_metrics

VIEWS: Final = {
    "ranks": ("Ranks", "Does one method rank first across all scenarios?"),
    "agreement": ("Agreement of metrics", "Do the metrics agree on which method is better?"),
    "tests": ("Paired tests", "Which differences between methods are more than chance?"),
}
HOW: Final = """**Ranks**: 1 is the best in a scenario; a bar joins ranks that may differ by
chance (Demšar, 2006).  
**τ**: 1 where two metrics rank the methods alike, −1 in reverse order.  
**Paired tests**: Wilcoxon's signed-rank test over the same scenarios, of one scenario over its
seeds, corrected by Holm."""


def show(source: data.Source, top: st.delta_generator.DeltaGenerator) -> None:
    """One view of the runs of one data set, model and recipe."""
    view = state.choice("view", list(VIEWS))
    with top:
        header.header(VIEWS[view][1], HOW, source)
    runs = pick_runs()
    if runs.empty:
        messages.none_finished()
    elif not messages.none_chosen(runs, **budget_frames.launch_query(runs, ())):
        show_view(view, runs, source)
    provenance(runs)


def pick_runs() -> pd.DataFrame:
    chips = run_filters.chip_line("data", "methods", "settings", "seeds")
    with chips["data"]:
        runs = run_filters.pick_data(data.unlearning_runs())
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
    return runs


def show_view(view: str, runs: pd.DataFrame, source: data.Source) -> None:
    chosen = data.chosen(runs)
    known = evidence(runs, source.name, source.change, chosen)
    if not known.metrics:
        messages.empty(
            "No method of this selection has a number yet.",
            "Launch a comparison",
            "launch",
            **budget_frames.launch_query(runs, ()),
        )
        return
    metric, compared = pick_metrics(view, known)
    found = computed(runs, source.name, source.change, chosen, metric, compared)
    why, button = views.MISSING[view]
    if views.is_missing(view, found):
        notes = [each for each in found.notes if each.startswith((why, "No value", "No method"))]
        messages.empty(
            escape(" ".join(notes) or "Nothing can be compared yet."),
            button,
            "launch",
            **budget_frames.launch_query(runs, ()),
        )
    elif view == "agreement":
        views.show_agreement(found)
    else:
        forgot = tradeoffs_frames.forgot_in(found, known.qualified)
        if view == "ranks":
            views.show_ranks(found, known.keys, forgot)
        else:
            views.show_tests(found, forgot)
    show_notes(
        [each for each in found.notes if view == "agreement" or "No rank agreement" not in each]
    )
    run_drawer.run_drawer(runs)


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a selection of runs has: `metrics` that can rank methods, the `usual` ones of these, the
    run that stands for each line, and where it forgot (`frames.tradeoffs.line_verdicts`).
    """

    runs: pd.DataFrame  # as `label_runs` names them
    values: pd.DataFrame
    metrics: list[str]
    usual: list[str]
    keys: dict[str, str]
    qualified: dict[tuple[str, str], bool]


# kept as it is: half a million rows take long to pick and to pickle
@st.cache_resource(show_spinner="Comparing all runs", max_entries=4)
def evidence(_runs: pd.DataFrame, name: str, change: int, chosen: str) -> Evidence:
    """`name`, `change` and `chosen` say which runs, so that the frames need no hashing."""
    values = data.metric_values(dataset=str(_runs.iloc[0]["dataset"]))
    values = values[values["key"].isin(_runs["key"])]
    references = _runs.loc[_runs["method"].isin(REFERENCES), "key"]
    scored = values.loc[~values["key"].isin(references), ["metric", "value"]]
    metrics = tradeoffs_frames.scored_metrics(scored)
    everywhere = [
        each
        for each in usual_metrics(scored)
        if each in metrics and catalog.metric(each).scenarios is None
    ]
    runs = label_runs(_runs)
    return Evidence(
        runs,
        values,
        metrics,
        everywhere if len(everywhere) > 1 else metrics,
        tradeoffs_frames.line_keys(runs),
        tradeoffs_frames.line_verdicts(runs, data.judged_words(_runs)),
    )


@st.cache_data(show_spinner="Comparing all runs", max_entries=32)
def computed(
    _runs: pd.DataFrame, name: str, change: int, chosen: str, metric: str, metrics: tuple[str, ...]
) -> Statistics:
    """`mucore.statistics.statistics_of`; `name`, `change` and `chosen` say which runs."""
    known = evidence(_runs, name, change, chosen)
    return statistics_of(known.runs, known.values, metric=metric, agreement=metrics, watch=False)


def pick_metrics(view: str, known: Evidence) -> tuple[str, tuple[str, ...]]:
    """The metric of ranks and tests, and those whose rankings are compared."""
    metric = "fa" if "fa" in known.metrics else known.metrics[0]
    with st.container(width=300):
        if view != "agreement":
            metric = state.select(
                "Metric",
                "metric",
                known.metrics,
                default=metric,
                format_func=lambda name: catalog.metric(name).title,
                label_visibility="collapsed",
            )
            return metric, (metric,)
        with st.popover("Metrics", icon=":material/checklist:", width="stretch"):
            chosen = state.multiselect(
                "Metrics",
                "metrics",
                known.metrics,
                default=known.usual,
                format_func=tradeoffs_frames.short_name,
            )
    return metric, tuple(chosen or known.usual)


def show_notes(notes: Sequence[str]) -> None:
    if notes:
        with st.expander(f"Notes on these numbers ({len(notes)})", icon=":material/info:"):
            st.markdown("\n".join(f"- {escape(note)}" for note in notes[:100]))
