"""The table, the printed one beside it, and its downloads. Its columns: `columns` of
`dashboard/frames/results.py`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Final

import pandas as pd
import streamlit as st

from dashboard import frames, state
from dashboard.charts import results_table
from dashboard.papers import tables as published
from dashboard.widgets import presenting, run_filters
from mucore.export import tables as report

LINES: Final = 8  # methods on one screen of a talk, with the paper's lines half as many


def pick_paper(runs: pd.DataFrame) -> published.Published | None:
    """The printed table that stands below ours: none unless switched on, the one nearest to these
    runs unless another is chosen.
    """
    first = runs.iloc[0]
    dataset, model = str(first["dataset"]), str(first["model"])
    tables = {one.id: one for one in published.printed_tables(str(first["scenario"]))}
    if not tables or not state.toggle("Numbers of the paper", "paper"):
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
            "Table of the paper",
            "table",
            list(tables),
            default=name,
            format_func=lambda each: tables[each].title,
            label_visibility="collapsed",
        )
    return published.read(tables[name], dataset=dataset, model=model)


def show(
    table: frames.ResultsTable, runs: pd.DataFrame, sort: str, descending: bool
) -> published.Published | None:
    """The whole table and the printed one that it is shown with; a click on a row opens it, a click
    on a head sorts.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.subheader("All metrics", anchor="all-metrics", width="content")
        run_filters.pick_values_or_gaps(label_visibility="collapsed")
        paper = pick_paper(runs)
    selected = state.param("row")
    shown, rest = first_lines(table, paper) if presenting.on() else (table, "")
    html = results_table.html(
        shown, dark=state.dark(), selected=selected, sort=sort, descending=descending, paper=paper
    )
    component = st.components.v2.component(
        "mucore_results_table", html=results_table.FRAME, css=results_table.CSS, js=results_table.JS
    )
    alt = "The methods' numbers beside Retrain's."
    with presenting.slide("results_table", alt=alt, rest=rest):
        clicked = component(
            data={"html": html}, key="results_table", on_row_change=nothing, on_sort_change=nothing
        )
    noise = " The first line is the 95 % band of Retrains of other training seeds."
    st.caption(
        table.interval + (noise if table.noise else "") + (f" {paper.caption}" if paper else "")
    )
    if isinstance(clicked.row, str):  # a message made by hand may hold anything
        state.set_param("row", None if clicked.row == selected else clicked.row)
        st.rerun()
    if isinstance(clicked.sort, str):
        state.set_param(
            "sort", frames.next_order(state.param("sort") or frames.USUAL, clicked.sort)
        )
        st.rerun()
    if not presenting.on():
        st.download_button(
            "CSV, full precision",
            lambda: report.to_csv(table.numbers),
            "results.csv",
            "text/csv",
            key="table:csv",
            on_click="ignore",
        )
    return paper


def first_lines(
    table: frames.ResultsTable, paper: published.Published | None
) -> tuple[frames.ResultsTable, str]:
    """The references and as many lines as a room can read, and a sentence about the others."""
    most = LINES // 2 if paper else LINES
    if len(table.methods) <= most:
        return table, ""
    shown = (*(row for row in table.rows if row.reference), *table.methods[:most])
    return replace(table, rows=shown), presenting.first_of(most, len(table.methods))


def nothing() -> None:
    """Streamlit hands a trigger back only where a callback is named; the page reads the value
    itself.
    """
