"""One task of a division: every method with its verdict, its distance to Retrain and its cost."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from dashboard.frames import board as board_frames
from dashboard.sections.results import tabs
from dashboard.sections.results.board.all_tasks import DISTANCE, WORK, show_missing, words
from dashboard.text import units
from dashboard.widgets import clicks, figures, run_filters
from dashboard.widgets.columns import aligned
from mucore.suite.tables import Line, Table

COLUMNS = {
    "Seeds": st.column_config.TextColumn(help="How many seeds the verdict rests on."),
    "Distance, spreads": st.column_config.NumberColumn("Distance", format="%.2f", help=DISTANCE),
    "Work": st.column_config.NumberColumn(format="%.2f", help=WORK),
    "What happened": st.column_config.TextColumn(width="large"),
}


def _forgot(lines: Iterable[Line]) -> list[Line]:
    return [line for line in lines if line.group == "forgot"]


def show(table: Table, name: str) -> None:
    judged = [line for line in table.lines if line.group not in ("baseline", "missing")]
    forgot, every = ({line.method for line in some} for some in (_forgot(judged), judged))
    if table.telling:
        tabs.answer(f"{len(forgot)} of {units.count(len(every), 'method')} forgot.")
    else:
        tabs.answer("No verdict is possible here.")
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
