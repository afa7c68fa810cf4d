"""The runs behind a lesson: what they come to, their state, and the panel that starts and watches
them.
"""

from __future__ import annotations

from typing import Final, Literal

import streamlit as st

from dashboard import data, queue_data, state
from dashboard.lessons import LESSONS
from dashboard.lessons.records import Lesson
from dashboard.lessons.results import LessonResults, gather, plain_name
from dashboard.text import units
from dashboard.widgets import guests, messages
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape
from mucore import catalog
from mucore.runner.estimate import about
from mucore.runner.grid import parse_grid
from mucore.runner.plan import Plan, launch

STATES: Final[dict[str, tuple[str, str, Literal["green", "blue", "red", "gray", "orange"]]]] = {
    "ready": ("Ready", ":material/check_circle:", "green"),
    "running": ("Running", ":material/hourglass_top:", "blue"),
    "stopped": ("Stopped", ":material/error:", "red"),
    "demo": ("Demo results", ":material/science:", "gray"),
    "not run": ("Not run yet", ":material/radio_button_unchecked:", "gray"),
}


def plan_of(lesson: Lesson) -> Plan:
    return queue_data.plan(parse_grid(lesson.grid))


def status(plan: Plan) -> str:
    """How far the lesson's own runs are: "ready", "running", "stopped" or "not run"."""
    if not plan.to_run:
        return "ready"
    keys = [spec.key for spec in plan.to_run]
    if queue_data.jobs(keys=keys, states=["queued", "running"]):
        return "running"
    stopped = queue_data.jobs(keys=keys, states=["failed", "lost", "cancelled"])
    return "stopped" if stopped else "not run"


def results_of(lesson: Lesson, plan: Plan) -> LessonResults:
    """The lesson's own runs, or the demo's of the same scenario while the demo is shown. All who
    read along share them; nobody writes to them.
    """
    return _gathered(lesson.id, tuple(plan.keys))


@data.kept(24)
def _gathered(source: data.Source, name: str, keys: tuple[str, ...]) -> LessonResults:
    lesson, store = LESSONS[name], source.store
    specs = plan_of(lesson).specs
    outputs = data.outputs if lesson.features else None
    scenarios = list(dict.fromkeys(spec.scenario for spec in specs if spec.scenario))
    if source.demo:
        methods = list(dict.fromkeys(spec.method for spec in specs))
        found = store.results(scenario=scenarios, method=methods)
        return gather(found, specs, demo=True, outputs=outputs)
    found = store.results(keys=list(keys))
    mine = next((result.spec for result in found if result.spec["method"] == "retrain"), None)
    if mine is None:
        return gather(found, specs, outputs=outputs)
    retrains = store.results(
        dataset=mine["dataset"], model=mine["model"], scenario=scenarios, method="retrain"
    )
    return gather(found, specs, outputs=outputs, retrains=retrains)


def readable(lesson: Lesson, plan: Plan) -> bool:
    """Whether the demo is shown and has all that the lesson's figures need."""
    results = results_of(lesson, plan)
    return results.demo and all(step.shown(results) for step in lesson.steps)


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


def run_panel(lesson: Lesson, plan: Plan, *, cover: bool) -> None:
    """What a step says of the story's runs: how many are done, or that some stopped; on the cover,
    or where the demo lacks them, the button.
    """
    now = status(plan)
    if problem := state.ticket("lesson_problem"):
        messages.error(escape(str(problem)))
        state.set_ticket("lesson_problem", None)
    if now == "running":
        watch(lesson)
        return
    if now == "stopped":
        show_queue(f":red[:material/error: {units.count(len(plan.to_run), 'run')} did not finish.]")
    if now != "ready" and (cover or not readable(lesson, plan)):
        offer(lesson, plan)


def offer(lesson: Lesson, plan: Plan) -> None:
    if not guests.may(f"run it live ({about(plan.time)})"):
        return
    dataset, model = (str(lesson.grid[name]) for name in ("dataset", "model"))
    basis = f"{catalog.dataset(dataset).title}, {catalog.model(model).title}. {plan.basis}"
    demo = "Read this story with the demo's results, or run" if readable(lesson, plan) else "Run"
    count = units.count(len(plan.to_run), "short run")
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"{demo} it live on this machine: {count} with {plain_name(dataset)}.", width="stretch"
        )
        st.button(
            f"Run it live ({about(plan.time)})",
            type="primary",
            icon=":material/play_arrow:",
            key="begin",
            on_click=begin,
            args=(lesson,),
            help=basis,
        )


@guests.live(1.0)
def watch(lesson: Lesson) -> None:
    with messages.guarded():
        queue_data.reap()
        plan = plan_of(lesson)
        if status(plan) != "running":
            st.rerun()
        total = len(plan.keys)
        done = total - len(plan.to_run)
        st.progress(done / total)
        show_queue(f"**{done} of {units.count(total, 'run')} done**")


def show_queue(said: str) -> None:
    """A line and the way to the runs, where workers, reasons and retries are."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(said, width="content")
        link("queue", "Open the queue", icon=":material/list_alt:")
