"""What processes of their own work on, analyses and searches of settings: those that wait, run or
failed, and searches that were cancelled.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dashboard import access, data, queue_data, state
from dashboard.frames import queue as queue_frames
from dashboard.widgets.markdown import escape
from mucore.errors import MucoreError
from mucore.runner import job_process
from mucore.store.records import Job, JobKind

LISTED = 20


def show() -> None:
    """Both kinds; nothing where there are none."""
    _list("Searches", "search")
    _list("Analyses", "analysis")


def _list(title: str, kind: JobKind) -> None:
    jobs = queue_frames.unfinished(queue_data.jobs(kind=kind), cancelled=kind == "search")
    if not jobs:
        return
    st.subheader(f"{title} ({len(jobs)})", anchor=False)
    for job in jobs[:LISTED]:
        active, untaken = job.state in ("queued", "running"), job_process.untaken(job)
        with st.container(border=True):
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(f"**{escape(job.label)}**", width="stretch")
                if access.presents():
                    if untaken or not active:
                        st.button(
                            "Start again" if untaken else "Try again",
                            key=f"retry_analysis:{job.id}",
                            icon=":material/replay:",
                            on_click=_try,
                            args=(queue_data.start_again, job),
                        )
                    if active:
                        st.button(
                            "Stopping" if job.cancel_requested else "Cancel",
                            key=f"cancel_analysis:{job.id}",
                            icon=":material/stop_circle:",
                            on_click=_try,
                            args=(lambda job: data.own_store().cancel(job.id), job),
                            disabled=job.cancel_requested,
                        )
            if untaken:
                st.markdown(f":red[{escape(job_process.UNTAKEN)}]")
            elif active:
                st.progress(job.progress, text=escape(job.step) or "waiting")
            elif job.state == "cancelled":
                st.caption("Cancelled. Its trials are kept, and “Try again” goes on from there.")
            else:
                st.markdown(f":red[{escape(job.error or '')}]")


def _try(action: Callable[[Job], object], job: Job) -> None:
    """A callback whose failure the queue page tells."""
    try:
        action(job)
    except MucoreError as failure:
        state.set_ticket("queue_problem", str(failure))
