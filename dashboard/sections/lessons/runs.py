"""The runs behind a lesson: what they come to, their state, and the panel that starts and watches
them.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final, Literal

import streamlit as st

from dashboard import access, data, queue_data, state
from dashboard.frames import queue as queue_frames
from dashboard.lessons.records import Lesson, of_features, shows
from dashboard.lessons.results import LessonResults, gather, plain_name
from dashboard.text import labels, units
from dashboard.widgets import guests, messages
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape
from mucore import catalog, titles
from mucore.runner.estimate import about
from mucore.runner.plan import Plan, launch, parse_grid
from mucore.store.rows import Job

STATES: Final[dict[str, tuple[str, str, Literal["green", "blue", "red", "gray", "orange"]]]] = {
    "ready": ("Ready", ":material/check_circle:", "green"),
    "running": ("Running", ":material/hourglass_top:", "blue"),
    "stopped": ("Stopped", ":material/error:", "red"),
    "demo": ("Demo results", ":material/science:", "gray"),
    "not run": ("Not run yet", ":material/radio_button_unchecked:", "gray"),
}


def plan_of(lesson: Lesson) -> Plan:
    return queue_data.plan(parse_grid(lesson.grid))


def stopped(plan: Plan) -> list[Job]:
    """The newest jobs of missing runs that ended without a result."""
    jobs = queue_frames.newest(queue_data.jobs(keys=plan.keys, limit=10 * len(plan.keys)))
    return [
        job
        for job in queue_frames.in_state(jobs, "failed", "lost", "cancelled")
        if job.key not in plan.cached
    ]


def status(plan: Plan) -> str:
    """How far the lesson's own runs are: "ready", "running", "stopped" or "not run"."""
    if not plan.to_run:
        return "ready"
    if queue_data.jobs(keys=[spec.key for spec in plan.to_run], states=["queued", "running"]):
        return "running"
    return "stopped" if stopped(plan) else "not run"


def results_of(lesson: Lesson, plan: Plan) -> LessonResults:
    """The lesson's own runs, or the demo's of the same scenario while the demo is shown. All who
    read along share them; nobody writes to them.
    """
    source = data.source()
    return _gathered(source, source.name, source.change, lesson, lesson.id, tuple(plan.keys), plan)


@st.cache_resource(show_spinner=False, max_entries=24)
def _gathered(
    _source: data.Source,
    name: str,
    change: int,
    _lesson: Lesson,
    lesson: str,
    keys: tuple[str, ...],
    _plan: Plan,
) -> LessonResults:
    features = any(of_features(step) for step in _lesson.steps)
    outputs = data.outputs if features else None
    if _source.demo:
        specs = _plan.specs
        scenarios = list(dict.fromkeys(spec.scenario for spec in specs if spec.scenario))
        methods = list(dict.fromkeys(spec.method for spec in specs))
        found = _source.store.results(scenario=scenarios, method=methods)
        return gather(found, specs, demo=True, outputs=outputs)
    found = _source.store.results(keys=list(keys))
    mine = next((result.spec for result in found if result.spec["method"] == "retrain"), None)
    retrains = (
        []
        if mine is None
        else _source.store.results(
            dataset=mine["dataset"],
            model=mine["model"],
            scenario=list(dict.fromkeys(spec.scenario for spec in _plan.specs if spec.scenario)),
            method="retrain",
        )
    )
    return gather(found, _plan.specs, outputs=outputs, retrains=retrains)


def readable(lesson: Lesson, plan: Plan) -> bool:
    """Whether the demo is shown and has all that the lesson's figures need."""
    results = results_of(lesson, plan)
    return results.demo and all(shows(step, results) for step in lesson.steps)


def standing(lesson: Lesson, plan: Plan) -> str:
    """A key of `STATES`: `status`, and "demo" where a lesson that was not run can be read with the
    demo's results.
    """
    now = status(plan)
    return "demo" if now == "not run" and readable(lesson, plan) else now


def begin(lesson: Lesson) -> None:
    """Queue what is missing and show the reader's own results from now on. Callbacks run before the
    page is drawn, so the page shows the outcome.
    """
    state.carry("source", data.SOURCES[0])
    with messages.kept("lesson_problem"):
        plan = plan_of(lesson)
        launch(plan, data.own_store(), name=f"Lesson: {lesson.title}", note=lesson.question)
        queue_data.start_workers()


def again(lesson: Lesson) -> None:
    """Retry what stopped."""
    with messages.kept("lesson_problem"):
        store = data.own_store()
        for job in stopped(plan_of(lesson)):
            store.retry(job.id)
        queue_data.start_workers()


def run_panel(lesson: Lesson, plan: Plan) -> None:
    """What a step says of the story's runs: the button, the progress, what went wrong, or, to who
    watched them, that they are done.
    """
    now = status(plan)
    if now == "ready" and state.ticket("lesson_watched") == lesson.id:
        shown = " The figures show them." * (not data.source().demo)
        st.success(f"All runs of this story are done.{shown}", icon=":material/check_circle:")
        state.set_ticket("lesson_watched", None)
    if problem := state.ticket("lesson_problem"):
        messages.error(escape(str(problem)))
        state.set_ticket("lesson_problem", None)
    if now == "running":
        watch(lesson)
    elif now == "stopped":
        show_stopped(lesson, plan)
    elif now == "not run" and guests.may(f"run it live ({about(plan.time)})"):
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            dataset, model = (
                catalog.dataset(str(lesson.grid["dataset"])),
                catalog.model(str(lesson.grid["model"])),
            )
            offer = (
                "You can read this story with the demo's results. Or run"
                if readable(lesson, plan)
                else "Run"
            )
            st.markdown(
                f"{offer} it live on this machine: {units.count(len(plan.to_run), 'short run')} "
                f"with {plain_name(dataset.id)}. You can read on while they run.",
                width="stretch",
            )
            label = f"Run it live ({about(plan.time)})"
            basis = f"{dataset.title}, {model.title}. {plan.basis}"
            st.button(
                label,
                type="primary",
                icon=":material/play_arrow:",
                key="begin",
                on_click=begin,
                args=(lesson,),
                help=basis,
            )


def show_stopped(lesson: Lesson, plan: Plan) -> None:
    causes, followers = queue_frames.by_cause(stopped(plan))
    with st.container(border=True):
        for job in causes[:3]:
            lines = (job.error or "").strip().splitlines()
            silent = {"cancelled": "It was cancelled.", "lost": "Its worker was lost."}.get(
                job.state, "It gave no reason."
            )
            said = labels.with_titles(lines[-1], *labels.named_in(job.spec)) if lines else silent
            st.markdown(
                f":red[:material/error: **{escape(titles.who(job.spec))}** stopped: {escape(said)}]"
            )
        waiting = sum(len(jobs) for jobs in followers.values())
        if waiting:
            st.caption(
                f"{units.count(waiting, 'run')} that {'needs' if waiting == 1 else 'need'} it did "
                "not run."
            )
        with st.container(horizontal=True):
            if access.presents():
                st.button(
                    "Try again",
                    type="primary",
                    icon=":material/replay:",
                    key="again",
                    on_click=again,
                    args=(lesson,),
                )
            link("queue", "Open the queue", icon=":material/list_alt:")


@guests.live(1.0)
def watch(lesson: Lesson) -> None:
    with messages.guarded():
        queue_data.reap()
        plan = plan_of(lesson)
        state.set_ticket("lesson_watched", lesson.id)
        if status(plan) != "running":
            st.rerun()
        now, alive = datetime.now(UTC), queue_data.workers()
        jobs = queue_frames.newest(queue_data.jobs(keys=plan.keys, limit=10 * len(plan.keys)))
        view = queue_frames.overview(
            jobs,
            known=plan.cached,
            keys=plan.keys,
            left=queue_data.time_left(jobs, keys=plan.keys),
            now=now,
        )
        left = f" · {about(view.left)} left" if view.left is not None else ""
        with st.container(border=True):
            st.progress(
                view.share, text=f"**{view.done} of {units.count(view.total, 'run')} done**{left}"
            )
            for job in queue_frames.in_state(jobs, "running")[:2]:
                st.caption(escape(f"{titles.who(job.spec)}: {job.step or 'starting'}"))
            if alive:
                return
            if queue_data.workers_starting():
                st.caption(
                    ":material/hourglass_top: A worker is starting. It loads PyTorch first, which "
                    "takes a few seconds."
                )
            else:
                reason = queue_data.worker_failure() if access.presents() else ""
                st.markdown(
                    f":material/warning: No worker is running, so nothing moves. {escape(reason)}"
                )
                if access.presents():
                    st.button(
                        "Start a worker",
                        icon=":material/play_arrow:",
                        key="start_worker",
                        on_click=again,
                        args=(lesson,),
                    )
