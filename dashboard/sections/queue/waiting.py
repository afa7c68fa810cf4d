"""What waits, and for what."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import pandas as pd
import streamlit as st

from dashboard import access, state
from dashboard.frames import queue as queue_frames
from dashboard.sections.queue import actions, shared
from dashboard.text import labels, units
from mucore import titles
from mucore.runner.estimate import Left, about
from mucore.store import Store
from mucore.store.rows import Job

TICKED = "waiting_ticked"  # ids of the jobs that the reader ticked


def show(
    store: Store, jobs: Sequence[Job], running: Sequence[Job], left: Left, now: datetime
) -> None:
    names = {job.key: titles.who(job.spec) for job in [*jobs, *running]}
    shown = jobs[: shared.SHOWN]
    frame = pd.DataFrame(
        {
            "Run": [titles.who(job.spec) for job in shown],
            "Waits for": [queue_frames.awaited(job, names, now) for job in shown],
            "Will take": [
                about(left.each[job.key]) if job.key in left.each else "–" for job in shown
            ],
            # the last column is what a narrow window cuts, and this one is alike in most rows
            "On": [titles.where(job.spec) for job in shown],
        }
    )
    if not access.presents():
        st.dataframe(frame, hide_index=True, height=shared.height(frame))
        return
    # Ticks belong to runs, while a table keeps the places of ticked rows: when other runs stand
    # there, it is another table, in which the same runs are ticked.
    ticked = state.ticket(TICKED) or []
    event = st.dataframe(
        frame,
        hide_index=True,
        on_select="rerun",
        selection_mode="multi-row",
        selection_default={
            "selection": {"rows": [row for row, job in enumerate(shown) if job.id in ticked]}
        },
        column_config={"Will take": st.column_config.Column(width=160)},
        key=f"waiting:{labels.short_id(' '.join(str(job.id) for job in shown))}",
        height=shared.height(frame),
    )
    chosen = [shown[row] for row in event["selection"]["rows"] if row < len(shown)]
    state.set_ticket(TICKED, [job.id for job in chosen])
    with st.container(horizontal=True, vertical_alignment="center"):
        label = (
            f"Cancel {units.count(len(chosen), 'selected run')}" if chosen else "Cancel selected"
        )
        args = (store, "selected", chosen)
        st.button(
            label,
            icon=":material/cancel:",
            on_click=actions.cancel,
            args=args,
            disabled=not chosen,
            key="cancel_selected",
        )
        if len(jobs) > shared.SHOWN:
            st.caption(f"The first {shared.SHOWN} of {units.count(len(jobs), 'run')}.")
    actions.ask(store, "selected", chosen)
