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
from mucore.runner.estimate import Left, about
from mucore.store import Store, trouble
from mucore.store.rows import Comparison, Job

LIMIT = 1000  # newest jobs of all runs; a comparison shows all of its own
ALL = "all"


def page() -> None:
    header.header(
        "What is running, what is waiting, what went wrong?",
        "Runs continue when you close this page. Whatever is unfinished when the program stops "
        "continues at its next start.",
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
        store = data.own_store()
        home, now = str(store.home), datetime.now(UTC)
        try:
            queue_data.reap()
        except MucoreError as failure:
            if (what := trouble.awaited(failure)) is None:
                raise
            st.warning(
                f"Runs wait for {what}. They continue on their own, and nothing is lost.",
                icon=":material/hourglass_top:",
            )
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
        have = known(home, store.change_counter("results"), wanted, store)
        if not wanted:
            workers.show(busy=False)
            if access.presents():
                sentence = "You have not launched anything yet."
            else:
                sentence = "Nothing has been launched here yet."
            messages.empty(sentence, "Launch a comparison", "launch")
            return
        groups = {
            "running": queue_frames.in_state(jobs, "running"),
            "waiting": queue_frames.in_state(jobs, "queued"),
            "stopped": [
                job
                for job in queue_frames.in_state(jobs, "failed", "lost", "cancelled")
                if job.key not in have
            ],
            "done": queue_frames.in_state(jobs, "done"),
        }
        active = [*groups["running"], *groups["waiting"]]
        with st.container(horizontal=True, vertical_alignment="bottom"):
            with st.container():
                left = queue_data.time_left(jobs, keys=keys)
                view = queue_frames.overview(jobs, known=have, keys=wanted, left=left, now=now)
                # some may have ended since
                others = 0 if keys is None else max(store.count_active() - len(active), 0)
                show_progress(view, len(queue_data.workers()), others)
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
                        "results stay."
                    ),
                )
        actions.ask(store, "all", active)
        workers.show(busy=bool(active))
        if comparison and not active and view.done:
            link(
                "results",
                "Read the results of this comparison",
                icon=":material/table_chart:",
                comparison=str(comparison.id),
            )
        show_lists(store, groups, left, now)


@st.cache_data(max_entries=8, show_spinner=False)
def known(home: str, change: int, keys: tuple[str, ...], _store: Store) -> set[str]:
    return _store.known(keys)


def show_progress(view: queue_frames.Overview, workers: int, others: int) -> None:
    parts = [
        f"**{view.done} of {units.count(view.total, 'run')} done**",
        f"{view.running} running",
        f"{view.queued} waiting",
    ]
    if view.stopped:
        parts.append(f":red[{view.stopped} stopped]")
    if view.left is not None:
        parts.append(
            f"{about(view.left)} left"
            + (f" with {units.count(workers, 'worker')}" if workers > 1 else "")
        )
    if others:
        parts.append(f"{units.count(others, 'run')} of other comparisons in the queue, too")
    st.progress(view.share, text=" · ".join(parts))


def show_lists(store: Store, groups: dict[str, list[Job]], left: Left, now: datetime) -> None:
    """What runs, waits and stopped; what is done behind a click where anything else is there."""
    running_now, queued, ended, finished = groups.values()
    if running_now:
        st.subheader(f"Running ({len(running_now)})", anchor=False)
        for job in running_now:
            running.show(store, job, left.each.get(job.key), now)
    if queued:
        st.subheader(f"Waiting ({len(queued)})", anchor=False)
        waiting.show(queued, running_now, left, now)
    if ended:
        st.subheader(f"Stopped ({len(ended)})", anchor=False)
        stopped.show(store, ended)
    if finished:
        alone = not (running_now or queued or ended)
        with st.expander("Done", expanded=alone, icon=":material/done_all:"):
            done.show(finished, now)


page()
