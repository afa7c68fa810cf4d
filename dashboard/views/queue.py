"""Queue: what runs, what waits, what went wrong, and what to do about it."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from dashboard import access, data, queue_data, state
from dashboard.frames import queue as queue_frames
from dashboard.sections.queue import (
    actions,
    analyses,
    disk,
    done,
    running,
    stopped,
    waiting,
    workers,
)
from dashboard.sections.queue import comparison as comparison_parts
from dashboard.text import units
from dashboard.widgets import guests, header, messages, run_drawer
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape
from mucore.errors import MucoreError
from mucore.runner.estimate import about
from mucore.store import Store, transient_errors
from mucore.store.records import Comparison, Job

LIMIT = 1000  # newest jobs of all runs; a comparison shows all of its own
ALL = "all"


def page() -> None:
    header.header(
        "What is running, what is waiting, what went wrong?",
        "Runs continue when you close this page. Unfinished runs resume when you restart.",
    )
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    with left:
        comparisons = {str(one.id): one for one in data.own_comparisons()}
        chosen = state.select(
            "Comparison",
            "comparison",
            [ALL, *comparisons],
            format_func=lambda name: "All runs" if name == ALL else comparisons[name].name,
        )
    with right:
        if guests.may("cancel runs and try them again"):
            disk.show(queue_data.disk_use())
    comparison = comparisons.get(chosen)
    if comparison is not None:
        comparison_parts.show(comparison)
    live(comparison)
    run_drawer.run_drawer(data.summaries())


@guests.live(1.0)
def live(comparison: Comparison | None) -> None:
    """All that changes while runs go on: drawn anew each second."""
    with messages.guarded():
        store, now = data.own_store(), datetime.now(UTC)
        look_after_workers()
        if failure := state.ticket("queue_problem"):
            messages.error(escape(failure))
            state.set_ticket("queue_problem", None)
        if comparison is None:
            analyses.show()
        keys = comparison.keys if comparison else None
        jobs = queue_frames.newest(
            queue_data.jobs(keys=keys, limit=LIMIT if keys is None else 10 * len(keys) + LIMIT)
        )
        wanted = tuple(keys) if keys is not None else tuple(job.key for job in jobs)
        if not wanted:
            workers.show(busy=False)
            messages.empty("Nothing has been launched yet.", "Launch a comparison", "launch")
            return
        have = known(str(store.home), store.change_counter(), wanted, store)
        run, wait, end = (
            queue_frames.in_state(jobs, *states)
            for states in (("running",), ("queued",), ("failed", "lost", "cancelled"))
        )
        end = [job for job in end if job.key not in have]
        left = queue_data.time_left(jobs, keys=keys)
        share = queue_frames.done_share(run, left, now, done=len(have), of=len(wanted))
        parts = [
            f"**{len(have)} of {units.count(len(wanted), 'run')} done**",
            f"{len(run)} running",
            f"{len(wait)} waiting",
            f":red[{len(end)} stopped]" if end else "",
            f"{about(left.total)} left" if left.total is not None else "",
        ]
        show_progress(share, " · ".join(filter(None, parts)), [*run, *wait])
        if comparison and have and not run and not wait:
            link(
                "results",
                "Read the results of this comparison",
                icon=":material/table_chart:",
                comparison=str(comparison.id),
            )
        for job in under("Running", run):
            running.show(store, job, left.each.get(job.key), now)
        if under("Waiting", wait):
            waiting.show(wait, run, left, now)
        if under("Stopped", end):
            stopped.show(store, end)
        if finished := queue_frames.in_state(jobs, "done"):
            alone = not (run or wait or end)
            with st.expander("Done", expanded=alone, icon=":material/done_all:"):
                done.show(finished, now)


def look_after_workers() -> None:
    """Jobs of dead workers go back to the queue; what that waits for is said."""
    try:
        queue_data.reap()
    except MucoreError as failure:
        if (what := transient_errors.awaited(failure)) is None:
            raise
        st.warning(
            f"Runs wait for {what}. They continue on their own, and nothing is lost.",
            icon=":material/hourglass_top:",
        )


def show_progress(share: float, text: str, active: list[Job]) -> None:
    """The bar of all runs, the button that cancels those of them that are `active`, workers."""
    store = data.own_store()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.progress(share, text=text)
        if access.presents():
            st.button(
                "Cancel all",
                icon=":material/cancel:",
                on_click=actions.cancel,
                args=(store, "all", active),
                disabled=not active,
                key="cancel_all",
                help=(
                    "Waiting runs stop at once, running ones at their next step. Finished "
                    "results are kept."
                ),
            )
    actions.ask(store, "all", active)
    workers.show(busy=bool(active))


def under(title: str, jobs: list[Job]) -> list[Job]:
    """The jobs, below a heading where there are any."""
    if jobs:
        st.subheader(f"{title} ({len(jobs)})", anchor=False)
    return jobs


@st.cache_data(max_entries=8, show_spinner=False)
def known(home: str, change: int, keys: tuple[str, ...], _store: Store) -> set[str]:
    return _store.known(keys)


page()
