"""Results: MUBox's table for one scenario, the trade-off beside it, and the run behind every
line.
"""

from __future__ import annotations

import json

import pandas as pd
import streamlit as st

from dashboard import data, frames, state, widgets
from dashboard.charts import results_table, tradeoff
from dashboard.papers import tables as published
from dashboard.text import labels, units, verdicts
from dashboard.widgets import run_drawer, run_filters
from mucore import catalog
from mucore.export import tables as report
from mucore.store import Store

TABLE = st.components.v2.component(
    "mucore_results_table", html=results_table.FRAME, css=results_table.CSS, js=results_table.JS
)

# A table with verdicts needs this much to show every column; where a window gives less beside the
# figure, the figure stands below.
ROOM = """<style>
[data-testid="stColumn"]:has(.st-key-results_numbers) { min-width: min(100%, 46rem); }
</style>"""


def page() -> None:
    source = data.source()
    top = st.container()
    runs = data.unlearning_runs()
    if runs.empty:
        widgets.no_results(
            "Which method forgets without hurting the rest?",
            "The table of a comparison: methods in rows, what they keep and forget in columns.",
        )
        return
    runs = run_filters.pick_runs(runs, first=run_filters.OPENS_ON, extra=pick_view, beside=True)
    if runs.empty:
        with top:
            widgets.none_finished("Which method forgets without hurting the rest?", source)
        return
    scenario = catalog.scenario(str(runs.iloc[0]["scenario"]))
    view: frames.View = "gap" if state.choice("view", ["value", "gap"]) == "gap" else "value"
    sort, descending = sorting()
    values = data.metric_values(dataset=str(runs.iloc[0]["dataset"]), scenario=scenario.id)
    table = frames.results_table(
        runs,
        values[values["key"].isin(runs["key"])],
        view=view,
        class_wise=scenario.class_wise,
        sort=sort or None,
        descending=descending,
        judged=data.judged(runs),
    )
    with top:
        widgets.header(scenario.question, caption(runs), source)
        outside = suspicious(runs, values, source.name, source.change, data.chosen(runs))
        count = flagged(source.store, source.name, source.change, tuple(runs["key"]))
        widgets.answers(
            frames.answers(table, flagged=count, outside=len(outside)),
            first=verdicts.count_sentence(table.methods),
        )
    st.html(ROOM)
    left, right = st.columns([63, 37], gap="medium")
    with left, st.container(key="results_numbers"):
        paper = pick_paper(runs)
        show_table(table, sort, descending, paper)
    with right, widgets.sticky("results_figure"):
        figure = show_tradeoff(table)
    selected = table.row(state.param("row"))
    if selected is None:
        run_drawer.closed()
    else:
        run_drawer.row_drawer(selected, runs, outside.get(selected.id, ()))
    show_downloads(table)
    widgets.numbers(
        frames.with_paper(table, paper) if paper else table.frame, f"results-{scenario.id}", figure
    )
    widgets.provenance(runs)


def pick_view() -> None:
    names = {"value": "Values", "gap": "Gaps to Retrain"}
    state.segmented(
        "Show",
        "view",
        list(names),
        format_func=lambda name: names[name],
        label_visibility="collapsed",
    )


@st.cache_data(show_spinner=False, max_entries=32)
def flagged(_store: Store, name: str, change: int, keys: tuple[str, ...]) -> int:
    """How many of the runs carry a sanity flag; `name` and `change` say which store, and when it
    was read.
    """
    return sum(bool(result.flags) for result in _store.results(metrics=False, keys=keys))


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
    nothing for the nearest to Retrain first.
    """
    text = state.param("sort")
    return text.removeprefix("-"), text.startswith("-")


def caption(runs: pd.DataFrame) -> str:
    first = runs.iloc[0]
    seeds = units.count(runs["training_seed"].nunique(), "training seed")
    forgotten = units.count(int(runs["forget_count"].median()), "sample")
    chosen = labels.set_text(str(first["scenario_parameters"]), str(first["dataset"]))
    return widgets.escape(f"{labels.setup_text(first)}. {forgotten} to forget ({chosen}), {seeds}.")


def pick_paper(runs: pd.DataFrame) -> published.Published | None:
    """The printed table that stands beside ours: none unless switched on, the one nearest to these
    runs unless another is chosen.
    """
    first = runs.iloc[0]
    dataset, model = str(first["dataset"]), str(first["model"])
    tables = {one.id: one for one in published.printed_tables(str(first["scenario"]))}
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(
            "Shade grows with the distance to Retrain; click a line for its runs, a head to sort.",
            width="stretch",
        )
        on = state.toggle(
            "The paper's numbers below yours",
            "paper",
            disabled=not tables,
            help="As printed, one line below each method that the paper has."
            if tables
            else "No paper prints a table for this scenario.",
        )
    if not on or not tables:
        return None
    nearest = published.usual(
        list(tables.values()),
        dataset=dataset,
        model=model,
        parameters=json.loads(first["scenario_parameters"]),
    )
    assert nearest is not None
    name = nearest.id
    if len(tables) > 1:
        name = state.select(
            "The paper's table",
            "table",
            list(tables),
            default=name,
            format_func=lambda each: tables[each].title,
        )
    return published.read(tables[name], dataset=dataset, model=model)


def show_table(
    table: frames.ResultsTable, sort: str, descending: bool, paper: published.Published | None
) -> None:
    """The table; a click on a row opens it below, a click on a head sorts."""
    selected = state.param("row")
    html = results_table.html(
        table, dark=state.dark(), selected=selected, sort=sort, descending=descending, paper=paper
    )
    clicked = TABLE(
        data={"html": html}, key="results_table", on_row_change=nothing, on_sort_change=nothing
    )
    st.caption(table.interval + (f" {paper.caption}" if paper else ""))
    if clicked.row is not None:
        state.set_param("row", None if clicked.row == selected else clicked.row)
        st.rerun()
    if clicked.sort is not None:
        state.set_param(
            "sort", frames.next_order(state.param("sort") or frames.DISTANCE, clicked.sort)
        )
        st.rerun()


def nothing() -> None:
    """Streamlit hands a trigger back only where a callback is named; the page reads the value
    itself.
    """


def show_tradeoff(table: frames.ResultsTable):
    info = tradeoff.tradeoff_info(table)
    names = {"all": "All", "near": "Near Retrain"}
    st.caption(
        "The star is Retrain: nearer is better, lower costs accuracy. Marks are the table's; "
        "click one for its runs."
    )
    zoom = (
        state.segmented(
            "Zoom",
            "zoom",
            list(names),
            format_func=lambda name: names[name],
            label_visibility="collapsed",
        )
        == "near"
    )
    if not info.marks:
        st.markdown("No method has both gaps yet: they need the Retrain of the same training seed.")
        return None
    figure = tradeoff.draw(
        info, dark=state.dark(), zoom=zoom, selected=state.param("row"), legend=False
    )
    run_drawer.chart(figure, "tradeoff", alt=tradeoff.alt_text(info), parameter="row")
    left_out = [info.note] if info.note else []
    left_out += (
        [f"Outside this window: {', '.join(info.outside)}."] if zoom and info.outside else []
    )
    left_out += (
        [f"Not drawn, for want of a gap: {', '.join(info.missing)}."] if info.missing else []
    )
    if left_out:
        st.caption(widgets.escape(" ".join(left_out)))
    return figure


def show_downloads(table: frames.ResultsTable) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.caption("This table as")
        for label, suffix, mime, make in (
            ("CSV, full precision", "csv", "text/csv", lambda: report.to_csv(table.numbers)),
            ("LaTeX", "tex", "text/x-tex", lambda: report.to_latex(table.frame)),
            ("Markdown", "md", "text/markdown", lambda: report.to_markdown(table.frame)),
        ):
            st.download_button(
                label, make, f"results.{suffix}", mime, key=f"table:{suffix}", on_click="ignore"
            )


page()
