"""The small comparison that makes networks to draw for, where the store has none: one click, and
its progress.
"""

from __future__ import annotations

from typing import Any, Final

import streamlit as st

from dashboard import access, data, queue_data, state
from dashboard.frames import queue as queue_frames
from dashboard.text import units
from dashboard.widgets import guests, messages
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape
from mucore import catalog, titles
from mucore.runner.estimate import about
from mucore.runner.plan import Plan, launch, parse_grid

NAME: Final = "Draw a digit"
CLASS: Final = 3
GRID: Final[dict[str, Any]] = {
    "dataset": "digits",
    "model": "mlp",
    "preset": "standard",
    "scenarios": [{"id": "class_wise", "parameters": {"class_ids": [CLASS]}}],
    "methods": [
        {"id": name, "preset": "tuned"} for name in ("finetune", "delete", "random_labels", "ssd")
    ],
}


def offer(demo: bool) -> None:
    """What to do where no network of the store can be drawn for."""
    plan = queue_data.plan(parse_grid(GRID))
    if problem := state.ticket("draw_problem"):
        messages.error(escape(str(problem)))
        state.set_ticket("draw_problem", None)
    if queue_data.jobs(keys=[spec.key for spec in plan.to_run], states=["queued", "running"]):
        _watch()
        return
    names = units.joined([catalog.method(choice["id"]).title for choice in GRID["methods"]])
    why = (
        "The demo results come without the networks themselves, which would be too large to ship, "
        "so there is no network to draw for yet."
        if demo
        else "No comparison in this store has both its networks and images that can be drawn."
    )
    with st.container(border=True):
        st.markdown(
            f"{why} A small comparison makes some on this machine: a network learns the digits and "
            f"is asked to forget the {CLASS}; {names} try it, beside Retrain."
        )
        if guests.may(f"run it ({about(plan.time)})"):
            st.button(
                f"Run it ({about(plan.time)})",
                type="primary",
                icon=":material/play_arrow:",
                key="draw_run",
                on_click=_begin,
                help=f"{units.count(len(plan.to_run), 'short run')}. {plan.basis}",
            )
            if stopped := _stopped(plan):
                st.caption(escape(f"It was tried before and stopped. {stopped}"))


def _begin() -> None:
    """Queue what is missing and show the reader's own results from now on."""
    state.carry("source", data.SOURCES[0])
    with messages.kept("draw_problem"):
        plan = queue_data.plan(parse_grid(GRID))
        launch(plan, data.own_store(), name=NAME, note="Networks to draw for.")
        queue_data.start_workers()


def _stopped(plan: Plan) -> str:
    """The last words of a run that ended without a result, "" where none did."""
    jobs = queue_frames.newest(queue_data.jobs(keys=[spec.key for spec in plan.to_run]))
    for job in queue_frames.in_state(jobs, "failed", "lost", "cancelled"):
        lines = (job.error or "").strip().splitlines()
        return lines[-1] if lines else f"One run is {job.state}."
    return ""


@guests.live(1.0)
def _watch() -> None:
    with messages.guarded():
        queue_data.reap()
        plan = queue_data.plan(parse_grid(GRID))
        waiting = queue_data.jobs(
            keys=[spec.key for spec in plan.to_run], states=["queued", "running"]
        )
        if not waiting:
            st.rerun()
        done = len(plan.keys) - len(plan.to_run)
        with st.container(border=True):
            st.progress(
                done / len(plan.keys),
                text=(
                    f"**{done} of {units.count(len(plan.keys), 'run')} done.** The canvas appears "
                    "on its own."
                ),
            )
            for job in queue_frames.in_state(waiting, "running"):
                st.caption(escape(f"{titles.who(job.spec)}: {job.step or 'starting'}"))
            if not queue_data.workers():
                _no_worker()


def _no_worker() -> None:
    if queue_data.workers_starting():
        st.caption(
            ":material/hourglass_top: A worker is starting. It loads PyTorch first, which takes a "
            "few seconds."
        )
        return
    reason = queue_data.worker_failure() if access.presents() else ""
    st.markdown(f":material/warning: No worker is running, so nothing moves. {escape(reason)}")
    if access.presents():
        st.button(
            "Start a worker",
            icon=":material/play_arrow:",
            key="draw_worker",
            on_click=queue_data.start_workers,
        )
    link("queue", "Open the queue", icon=":material/list_alt:")
