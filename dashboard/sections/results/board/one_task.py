"""One task of a division: every method with its verdict, its distance to Retrain and its cost."""

from __future__ import annotations

import streamlit as st

from dashboard.frames import board as board_frames
from dashboard.sections.results import tabs
from dashboard.sections.results.board.all_tasks import DISTANCE, WORK, show_missing, words
from dashboard.text import units
from dashboard.widgets import clicks, figures, run_filters
from dashboard.widgets.columns import aligned
from mucore.suite.tables import Table

COLUMNS = {
    "Seeds": st.column_config.TextColumn(help="How many seeds the verdict rests on."),
    "Distance, spreads": st.column_config.NumberColumn("Distance", format="%.2f", help=DISTANCE),
    "Work": st.column_config.NumberColumn(format="%.2f", help=WORK),
    "What happened": st.column_config.TextColumn(width="large"),
}


def show(table: Table, name: str) -> None:
    judged = [line.verdict.word for line in table.lines if line.verdict is not None]
    tabs.answer(f"{judged.count('forgot')} of {units.count(len(judged), 'method')} forgot.")
    frame = board_frames.task_frame(table, run_filters.pinned())
    shown = frame.drop(columns="key")
    clicks.runs_table(
        frame,
        shown,
        "board",
        alt="Methods that forgot first, by distance to Retrain.",
        column_config=aligned(shown, COLUMNS | words(shown, ["Verdict"])),
        height="content",
    )
    show_missing(board_frames.missing_frame(table))
    figures.numbers(shown, name)
