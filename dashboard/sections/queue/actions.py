"""What buttons of the queue do: cancel, retry, start a worker, and the question before
(worded in `mucore/titles.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard import queue_data, state
from dashboard.widgets import messages
from dashboard.widgets.markdown import escape
from mucore import titles
from mucore.store import Store
from mucore.store.records import Job


def act(store: Store, action: str, jobs: Sequence[Job]) -> None:
    """Cancel or retry; callbacks run before the page is drawn, so the page shows the outcome."""
    with messages.kept("queue_problem"):
        if action == "cancel":
            store.cancel(*(job.id for job in jobs))
        else:
            for job in jobs:
                store.retry(job.id)
            queue_data.start_workers()
    state.set_ticket("queue_asks", None)


def cancel(store: Store, place: str, jobs: Sequence[Job]) -> None:
    """Cancel, or where some run now or others wait for them ask first, at the button that was
    pressed: its `place`.
    """
    if any(job.state == "running" for job in jobs) or store.dependents([job.id for job in jobs]):
        state.set_ticket("queue_asks", place)
    else:
        act(store, "cancel", jobs)


def ask(store: Store, place: str, jobs: Sequence[Job]) -> None:
    """The question that `cancel` left at this place, and its two answers."""
    if state.ticket("queue_asks") != place:
        return
    question = titles.cancelling(jobs, store.dependents([job.id for job in jobs]))
    question = question or "Cancel the running runs? A training resumes from its last epoch."
    with st.container(border=True):
        st.markdown(f":material/help: {escape(question)}")
        with st.container(horizontal=True):
            args = (store, "cancel", list(jobs))
            st.button(
                "Cancel all of these",
                key=f"sure:{place}",
                icon=":material/cancel:",
                type="primary",
                on_click=act,
                args=args,
            )
            st.button(
                "Keep them",
                key=f"keep:{place}",
                on_click=state.set_ticket,
                args=("queue_asks", None),
            )


def start_worker() -> None:
    with messages.kept("queue_problem", "No worker could be started: "):
        queue_data.start_workers()
