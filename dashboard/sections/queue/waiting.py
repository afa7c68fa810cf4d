"""What waits, and for what."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import pandas as pd
import streamlit as st

from dashboard import access
from dashboard.frames import queue as queue_frames
from dashboard.sections.queue import actions, shared
from dashboard.text import units
from mucore import titles
from mucore.runner.estimate import Left, about
from mucore.store import Store
from mucore.store.rows import Job


def show(
    store: Store, jobs: Sequence[Job], running: Sequence[Job], left: Left, now: datetime
) -> None:
    labels = {job.key: titles.who(job.spec) for job in [*jobs, *running]}
    frame = pd.DataFrame(
        {
            "Run": [titles.who(job.spec) for job in jobs[: shared.SHOWN]],
            "Waits for": [queue_frames.awaited(job, labels, now) for job in jobs[: shared.SHOWN]],
            "Will take": [
                about(left.each[job.key]) if job.key in left.each else "–"
                for job in jobs[: shared.SHOWN]
            ],
            # the last column is what a narrow window cuts, and this one is alike in most rows
            "On": [titles.where(job.spec) for job in jobs[: shared.SHOWN]],
        }
    )
    if not access.presents():
        st.dataframe(frame, hide_index=True, height=shared.height(frame))
        return
    event = st.dataframe(
        frame,
        hide_index=True,
        on_select="rerun",
        selection_mode="multi-row",
        key="waiting",
        height=shared.height(frame),
    )
    chosen = [jobs[row] for row in event["selection"]["rows"] if row < len(jobs)]
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
