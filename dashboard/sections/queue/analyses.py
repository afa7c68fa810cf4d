"""Long analyses that pages have asked for: those that wait, run or failed."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dashboard import access, data, state
from dashboard.frames import queue as queue_frames
from dashboard.widgets.markdown import escape
from mucore.errors import MucoreError
from mucore.store.rows import Job

LISTED = 20


def show() -> None:
    """The analyses that wait, run or failed; nothing where there are none."""
    jobs = queue_frames.unfinished(data.jobs(kind="analysis"))
    if not jobs:
        return
    st.subheader(f"Analyses ({len(jobs)})", anchor=False)
    for job in jobs[:LISTED]:
        active = job.state in ("queued", "running")
        with st.container(border=True):
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(f"**{escape(job.label)}**", width="stretch")
                if not access.presents():
                    pass
                elif active:
                    st.button(
                        "Stopping" if job.cancel_requested else "Cancel",
                        key=f"cancel_analysis:{job.id}",
                        icon=":material/stop_circle:",
                        on_click=_try,
                        args=(lambda job: data.own_store().cancel(job.id), job),
                        disabled=job.cancel_requested,
                    )
                else:
                    st.button(
                        "Try again",
                        key=f"retry_analysis:{job.id}",
                        icon=":material/replay:",
                        on_click=_try,
                        args=(data.start_again, job),
                    )
            if active:
                st.progress(job.progress, text=job.step or "waiting")
            else:
                st.markdown(f":red[{escape(job.error or '')}]")


def _try(action: Callable[[Job], object], job: Job) -> None:
    """A callback whose failure the queue page tells."""
    try:
        action(job)
    except MucoreError as failure:
        state.set_ticket("queue_problem", str(failure))
