"""What ended by itself, why, and how to retry it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard import access, queue_data
from dashboard.frames import queue as queue_frames
from dashboard.sections.queue import actions, shared
from dashboard.text import units
from dashboard.text.labels import named_in, with_titles
from dashboard.widgets.markdown import escape
from mucore import titles
from mucore.store import Store
from mucore.store.records import Job


def show(store: Store, jobs: Sequence[Job]) -> None:
    """A card for each job that ended by itself; those that ended because of one of them are named
    on its card and retried with it.
    """
    if len(jobs) > 1 and access.presents():
        st.button(
            f"Retry all {len(jobs)}",
            icon=":material/replay:",
            on_click=actions.act,
            args=(store, "retry", list(jobs)),
            key="retry_all",
        )
    causes, followers = queue_frames.by_cause(jobs)
    for job in causes[: shared.SHOWN]:
        stopped_card(store, job, followers.get(job.key, []))


def stopped_card(store: Store, job: Job, followers: Sequence[Job]) -> None:
    names = {"failed": "failed", "lost": "lost its worker", "cancelled": "was cancelled"}
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(
                f"**{escape(titles.who(job.spec))}** {names[job.state]}  \n"
                f"{escape(titles.where(job.spec))}",
                width="stretch",
            )
            label = (
                f"Retry with {units.count(len(followers), 'run')} that need it"
                if len(followers) > 1
                else "Retry with the run that needs it"
            )
            args = (store, "retry", [job, *followers])
            if access.presents():
                st.button(
                    label if followers else "Retry",
                    key=f"retry:{job.id}",
                    icon=":material/replay:",
                    on_click=actions.act,
                    args=args,
                )
        lines = (job.error or "").strip().splitlines()
        if lines:
            why = with_titles(lines[-1], *named_in(job.spec))
            st.markdown(f":red[{escape(why)}]")
        if followers:
            labels = "; ".join(dict.fromkeys(titles.who(one.spec) for one in followers[:12]))
            more = f"; and {len(followers) - 12} more" if len(followers) > 12 else ""
            st.caption(f"Not run, because they need it: {escape(labels)}{more}.")
        tail = queue_data.log_tail(job)
        if access.presents() and (tail or len(lines) > 1):
            with st.expander(
                "Full error and end of the log" if lines else "End of the log", key=f"log:{job.id}"
            ):
                st.code(
                    "\n\n".join(part for part in (job.error or "", tail) if part),
                    language=None,
                    height=260,
                )
