"""One task of a division: every method with its verdict, its distance to Retrain and its cost."""

from __future__ import annotations

import streamlit as st

from dashboard.sections.results import tabs
from dashboard.sections.results.board.all_tasks import DISTANCE, WORK, show_missing, words
from dashboard.text import units
from dashboard.widgets import clicks, figures, run_filters
from dashboard.widgets.columns import aligned
from mucore.suite import frames
from mucore.suite.board import Table

COLUMNS = {
    "Seeds": st.column_config.TextColumn(help="How many seeds the verdict rests on."),
    "Distance, spreads": st.column_config.NumberColumn("Distance", format="%.2f", help=DISTANCE),
    "Work": st.column_config.NumberColumn(format="%.2f", help=WORK),
    "What happened": st.column_config.TextColumn(width="large"),
}


def show(table: Table, name: str) -> None:
    forgot = [line.group == "forgot" for line in table.lines if line.rival]
    if table.telling:
        tabs.answer(f"{sum(forgot)} of {units.count(len(forgot), 'method')} forgot.")
    else:
        tabs.answer("No verdict is possible here.")
    frame = frames.of_task(table, run_filters.pinned())
    shown = frame.drop(columns="key")
    clicks.runs_table(
        frame,
        shown,
        "board",
        alt="Methods that forgot first, by distance to Retrain.",
        column_config=aligned(shown, COLUMNS | words(shown, ["Verdict"])),
        height="content",
    )
    show_missing(frames.missing(table))
    figures.numbers(shown, name)
