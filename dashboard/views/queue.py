"""Queue: what runs, what waits, what went wrong, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import data, state, theme
from dashboard.frames import queue as queue_frames
from dashboard.text import labels as describe
from dashboard.text import units
from dashboard.widgets import figures, header, messages, run_drawer
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape
from mucore import titles
from mucore.runner.estimate import Left, Span, about
from mucore.store import REMOVAL, Store
from mucore.store.rows import Comparison, Job

SHOWN = 200  # rows of a list of jobs
LIMIT = 1000  # newest jobs of all runs; a comparison shows all of its own
ALL = "all"


@st.cache_data(max_entries=8, show_spinner=False)
def known(home: str, change: int, keys: tuple[str, ...], _store: Store) -> set[str]:
    return _store.known(keys)


def loss_figure(losses: Sequence[float], dark: bool) -> go.Figure:
    figure = go.Figure(
        go.Scatter(
            x=list(range(1, len(losses) + 1)),
            y=list(losses),
            mode="lines+markers" if len(losses) < 30 else "lines",
            line={"color": theme.ground(dark).primary, "width": 2},
            marker={"size": 5},
            hovertemplate="epoch %{x}: %{y:.3g}<extra></extra>",
        )
    )
    figure.update_layout(
        template=theme.template(dark), height=150, margin={"l": 8, "r": 8, "t": 8, "b": 8}
    )
    figure.update_xaxes(title="epoch", rangemode="tozero", nticks=6, tickformat="d")
    figure.update_yaxes(title="mean loss", rangemode="tozero", nticks=4)
    return figure


def act(store: Store, action: str, jobs: Sequence[Job]) -> None:
    """Cancel or retry; callbacks run before the page is drawn, so the page shows the outcome."""
    try:
        for job in jobs:
            (store.cancel if action == "cancel" else store.retry)(job.id)
        if action == "retry":
            data.start_workers()
    except Exception as failure:
        state.set_ticket("queue_problem", str(failure))
    state.set_ticket("queue_asks", None)


def cancel(store: Store, place: str, jobs: Sequence[Job]) -> None:
    """Cancel, or where other runs wait for these ask first, at the button that was pressed: its
    `place`.
    """
    if store.waiting_for([job.id for job in jobs]):
        state.set_ticket("queue_asks", place)
    else:
        act(store, "cancel", jobs)


def ask(store: Store, place: str, jobs: Sequence[Job]) -> None:
    """The question that `cancel` left at this place, and its two answers."""
    if state.ticket("queue_asks") != place:
        return
    question = titles.cancelling(jobs, store.waiting_for([job.id for job in jobs]))
    if not question:  # meanwhile nothing waits any more
        state.set_ticket("queue_asks", None)
        return
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
    try:
        data.start_workers()
    except Exception as failure:
        state.set_ticket("queue_problem", f"No worker could be started: {failure}")


def head(view: queue_frames.Overview, workers: int, others: int) -> None:
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


def running_card(store: Store, job: Job, left: Span | None, now: datetime, dark: bool) -> None:
    with st.container(border=True):
        text, chart = st.columns([3, 2], gap="medium")
        with text:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(
                    f"**{escape(titles.who(job.spec))}**  \n{escape(titles.where(job.spec))}",
                    width="stretch",
                )
                st.button(
                    "Stopping" if job.cancel_requested else "Cancel",
                    key=f"cancel:{job.id}",
                    icon=":material/stop_circle:",
                    on_click=cancel,
                    args=(store, f"job:{job.id}", [job]),
                    disabled=job.cancel_requested,
                    help="It stops at its next step. A training that you retry later goes on from "
                    "there."
                    if not job.cancel_requested
                    else None,
                )
            ask(store, f"job:{job.id}", [job])
            share = queue_frames.job_share(job, left, now)
            st.progress(
                share,
                text=f"{100 * share:.0f} %"
                + (f" · {about(left)} left" if left is not None else ""),
            )
            facts = [
                job.step or "starting",
                f"running for {units.duration(queue_frames.job_seconds(job, now))}",
            ]
            if job.attempts:
                facts.append(f"attempt {job.attempts + 1}: the worker of the one before died")
            st.caption(escape(" · ".join(facts)))
        with chart:
            if len(job.losses) > 1:
                figures.chart(
                    loss_figure(job.losses, dark),
                    key=f"loss:{job.id}",
                    alt=f"Training loss of {titles.run(job.spec)}",
                )


def waiting_list(store: Store, jobs: Sequence[Job], running: Sequence[Job], left: Left) -> None:
    labels = {job.key: titles.who(job.spec) for job in [*jobs, *running]}
    frame = pd.DataFrame(
        {
            "Run": [titles.who(job.spec) for job in jobs[:SHOWN]],
            "On": [titles.where(job.spec) for job in jobs[:SHOWN]],
            "Waits for": [
                next((labels[key] for key in job.needs if key in labels), "a free worker")
                for job in jobs[:SHOWN]
            ],
            "Will take": [
                about(left.each[job.key]) if job.key in left.each else "–" for job in jobs[:SHOWN]
            ],
        }
    )
    event = st.dataframe(
        frame,
        hide_index=True,
        on_select="rerun",
        selection_mode="multi-row",
        key="waiting",
        height=_height(frame),
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
            on_click=cancel,
            args=args,
            disabled=not chosen,
            key="cancel_selected",
        )
        if len(jobs) > SHOWN:
            st.caption(f"The first {SHOWN} of {units.count(len(jobs), 'run')}.")
    ask(store, "selected", chosen)


def stopped_list(store: Store, jobs: Sequence[Job]) -> None:
    """A card for each job that ended by itself; those that ended because of one of them are named
    on its card and retried with it.
    """
    if len(jobs) > 1:
        st.button(
            f"Retry all {len(jobs)}",
            icon=":material/replay:",
            on_click=act,
            args=(store, "retry", list(jobs)),
            key="retry_all",
        )
    causes, followers = queue_frames.by_cause(jobs)
    for job in causes[:SHOWN]:
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
            st.button(
                label if followers else "Retry",
                key=f"retry:{job.id}",
                icon=":material/replay:",
                on_click=act,
                args=args,
            )
        lines = (job.error or "").strip().splitlines()
        if lines:
            why = describe.with_titles(lines[-1], *describe.named_in(job.spec))
            st.markdown(f":red[{escape(why)}]")
        if followers:
            labels = "; ".join(dict.fromkeys(titles.who(one.spec) for one in followers[:12]))
            more = f"; and {len(followers) - 12} more" if len(followers) > 12 else ""
            st.caption(f"Not run, because they need it: {escape(labels)}{more}.")
        tail = data.log_tail(job)
        if tail or len(lines) > 1:
            with st.expander(
                "Full error and end of the log" if lines else "End of the log", key=f"log:{job.id}"
            ):
                st.code(
                    "\n\n".join(part for part in (job.error or "", tail) if part),
                    language=None,
                    height=260,
                )


def _height(frame: pd.DataFrame) -> int | Literal["content"]:
    return "content" if len(frame) <= 10 else 400


def done_list(jobs: Sequence[Job], now: datetime) -> None:
    """The runs that ended; a click on a line opens its run below."""
    ended = sorted(
        (job for job in jobs if job.finished), key=lambda job: job.finished or now, reverse=True
    )[:SHOWN]
    frame = pd.DataFrame(
        {
            "Run": [titles.who(job.spec) for job in ended],
            "On": [titles.where(job.spec) for job in ended],
            "Took": [units.duration(queue_frames.job_seconds(job, now)) for job in ended],
            "Ended": [units.ago(job.finished or now, now) for job in ended],
        }
    )
    if ended:
        run_drawer.runs_table(
            pd.DataFrame({"key": [job.key for job in ended]}), frame, "done", height=_height(frame)
        )
        st.caption("Click a line to see its run.")


def worker_line(busy: bool) -> None:
    workers = data.workers()
    if workers:
        devices = ", ".join(
            f"{worker.device} ({units.count(worker.threads, 'thread')})" for worker in workers
        )
        st.caption(f":material/memory: {units.count(len(workers), 'worker')}: {escape(devices)}")
    elif data.workers_starting():
        st.caption(
            ":material/hourglass_top: A worker is starting. It loads PyTorch first, which takes a "
            "few seconds."
        )
    elif busy:
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            reason = data.worker_failure()
            said = f" The last one failed: {escape(reason)}" if reason else ""
            st.markdown(
                ":material/warning: No worker is running, so nothing moves. Finished runs are "
                f"safe.{said}",
                width="stretch",
            )
            st.button(
                "Start a worker",
                icon=":material/play_arrow:",
                type="primary",
                on_click=start_worker,
                key="start_worker",
            )
    else:
        st.caption("No worker is running. One starts by itself when you launch a comparison.")


def tabs(store: Store, groups: dict[str, list[Job]], left: Left, now: datetime) -> None:
    names = {"running": "Running", "waiting": "Waiting", "stopped": "Stopped", "done": "Done"}
    first = next((name for name, members in groups.items() if members), "running")
    shown = state.segmented(
        "Show",
        "show",
        ["auto", *names],
        format_func=lambda name: (
            "Current" if name == "auto" else f"{names[name]} {len(groups[name])}"
        ),
        label_visibility="collapsed",
    )
    open_groups = (
        [name for name in ("running", "waiting", "stopped") if groups[name]] or [first]
        if shown == "auto"
        else [shown]
    )
    dark = state.dark()
    for name in open_groups:
        members = groups[name]
        st.subheader(f"{names[name]} ({len(members)})", anchor=False)
        if not members:
            st.caption("None.")
        elif name == "running":
            for job in members:
                running_card(store, job, left.each.get(job.key), now, dark)
        elif name == "waiting":
            waiting_list(store, members, groups["running"], left)
        elif name == "stopped":
            stopped_list(store, members)
        else:
            done_list(members, now)


@st.fragment(run_every=1.0)
def live(comparison: Comparison | None) -> None:
    with messages.guarded():
        store = data.own_store()
        home, now = str(store.home), datetime.now(UTC)
        data.reap()
        if failure := state.ticket("queue_problem"):
            messages.error(escape(failure))
            state.set_ticket("queue_problem", None)
        keys = comparison.keys if comparison else None
        jobs = queue_frames.newest(
            data.jobs(keys=keys, limit=LIMIT if keys is None else 10 * len(keys) + LIMIT)
        )
        wanted = tuple(keys) if keys is not None else tuple(job.key for job in jobs)
        have = known(home, store.change_counter("results"), wanted, store)
        if not wanted:
            worker_line(busy=False)
            messages.empty("You have not launched anything yet.", "Launch a comparison", "launch")
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
                left = data.time_left(jobs, keys=keys)
                view = queue_frames.overview(jobs, known=have, keys=wanted, left=left, now=now)
                head(
                    view,
                    len(data.workers()),
                    0 if keys is None else max(store.count_active() - len(active), 0),
                )  # some may have ended since
            st.button(
                "Cancel all",
                icon=":material/cancel:",
                on_click=cancel,
                args=(store, "all", active),
                disabled=not active,
                key="cancel_all",
                help="Waiting runs at once, running ones at their next step. Finished results "
                "stay.",
            )
        ask(store, "all", active)
        worker_line(busy=bool(active))
        if comparison and not active and view.done:
            link(
                "results",
                "Read the results of this comparison",
                icon=":material/table_chart:",
                comparison=str(comparison.id),
            )
        tabs(store, groups, left, now)


def disk_use(use: Mapping[str, int]) -> None:
    """How much lies in the home, and behind a click of what kind it is and what may be removed."""
    with st.popover(
        f"{units.size(sum(use.values()))} on disk", icon=":material/hard_drive:", width="stretch"
    ):
        st.caption(f"All of it is in {escape(str(data.own_store().home))}.")
        for kind, count in sorted(use.items(), key=lambda pair: -pair[1]):
            if count:
                st.markdown(f"**{kind}** {units.size(count)}  \n{REMOVAL[kind]}")


header.header(
    "What is running, what is waiting, what went wrong?",
    "Runs go on when you close this page. What is unfinished when the program stops goes on at "
    "its next start.",
)
store = data.own_store()
comparisons = {str(one.id): one for one in data.own_comparisons()}
left, right = st.columns([3, 1], vertical_alignment="bottom")
with left:
    chosen = state.select(
        "Comparison",
        "comparison",
        [ALL, *comparisons],
        format_func=lambda name: "All runs" if name == ALL else comparisons[name].name,
    )
with right:
    disk_use(data.disk_use())
comparison = comparisons.get(chosen)
if comparison is not None and comparison.note:
    st.caption(escape(comparison.note))
live(comparison)
run_drawer.run_drawer(data.summaries())
