"""Results: cost against distance to Retrain, MUBox's table for one scenario, and the run behind
every line.
"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, frames, state
from dashboard.sections.results import figure, methods_table, tabs
from dashboard.sections.results.board import page as board
from dashboard.sections.results.statistics import page as statistics
from dashboard.text import labels, units
from dashboard.widgets import figures, header, messages, revised_verdicts, run_drawer, run_filters
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import provenance
from mucore import catalog
from mucore.store import Store
from mucore.verdicts import rules_of


def page() -> None:
    source = data.source()
    top = st.container()
    if tabs.now() == "board":
        board.show(source, top)
        return
    runs = data.unlearning_runs()
    if runs.empty:
        messages.no_results(
            "Which method forgets without hurting the rest?",
            "The table of a comparison: methods in rows, what they keep and forget in columns.",
        )
        return
    if tabs.now() == "statistics":
        statistics.show(source, top)
        return
    runs = run_filters.pick_runs(runs, first=run_filters.OPENS_ON)
    if runs.empty:
        with top:
            messages.none_finished("Which method forgets without hurting the rest?", source)
        return
    scenario = catalog.scenario(str(runs.iloc[0]["scenario"]))
    sort, descending = sorting()
    values = data.metric_values(dataset=str(runs.iloc[0]["dataset"]), scenario=scenario.id)
    table = frames.results_table(
        runs,
        values[values["key"].isin(runs["key"])],
        view=run_filters.values_or_gaps(),
        class_wise=scenario.class_wise,
        sort=sort or frames.USUAL,
        descending=descending,
        judged=data.judged(runs),
        pinned=run_filters.pinned(),
    )
    with top:
        header.header(scenario.question, how_to_read(runs), source)
    revised_verdicts.notice(source, data.unlearning_runs())
    apart = frames.apart(runs, values, rules_of(scenario.id).metrics)
    tabs.answer(frames.nearest_sentence(table.methods, apart))
    header.verdict_bar(table.methods)
    chart = figure.show(table, apart)
    paper = methods_table.show(table, runs, sort, descending)
    outside = suspicious(runs, values, source.name, source.change, data.chosen(runs))
    count = flagged(source.store, source.name, source.change, tuple(runs["key"]))
    selected = table.row(state.param("row"))
    if selected is None:
        run_drawer.closed()
    else:
        run_drawer.row_drawer(selected, runs, outside.get(selected.id, ()))
    warnings(count, len(outside))
    figures.numbers(
        frames.with_paper(table, paper) if paper else table.frame, f"results-{scenario.id}", chart
    )
    provenance(runs)


def warnings(flagged: int, outside: int) -> None:
    """What a careful reader looks at again, in numbers."""
    if flagged or outside:
        st.caption(
            f":material/warning: Warnings: {units.count(flagged, 'run')} failed a sanity check; "
            f"{units.count(outside, 'row')} with a value outside the Original-Retrain range."
        )


@st.cache_data(show_spinner=False, max_entries=32)
def flagged(_store: Store, name: str, change: int, keys: tuple[str, ...]) -> int:
    """How many of the runs carry a sanity flag; `name` and `change` say which store, and when it
    was read.
    """
    results = _store.results(metrics=False, keys=keys)
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


def how_to_read(runs: pd.DataFrame) -> str:
    first = runs.iloc[0]
    forgotten = units.count(int(runs["forget_count"].median()), "sample")
    return "  \n".join(
        [
            escape(f"{labels.setup_text(first)}. {forgotten} to forget."),
            "**Retrain** is the yardstick: the model trained again without these samples.",
            "**Distance**: mean gap to Retrain over the deciding accuracies, in points.",
            "**Grey**: as close as two Retrains are to each other; accuracy may still be damaged.",
            "Click a mark or a line for its runs.",
        ]
    )


page()
