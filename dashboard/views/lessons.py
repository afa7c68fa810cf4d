"""Lessons: five stories that run live, one step a screen: read, predict, look, compare."""

from __future__ import annotations

import streamlit as st

from dashboard import assets, data, state
from dashboard.lessons import LESSONS
from dashboard.lessons.records import Lesson, Step, draws, offered, shows
from dashboard.lessons.results import Evidence
from dashboard.sections.lessons import figures, quiz, runs
from dashboard.text import units
from dashboard.widgets import header
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape, metric_help
from mucore import catalog
from mucore.runner.plan import Plan

# Type for a class room; the colours stay those of the theme.
LARGE = assets.style("large_type.css")


def page() -> None:
    lesson = LESSONS.get(state.param("lesson"))
    teacher = state.param("teacher") == "1"
    if teacher:
        st.html(LARGE)
    if lesson is None:
        overview()
    else:
        show_lesson(lesson, teacher)


# --- overview
# --------------------------------------------------------------------------------------------------


def overview() -> None:
    header.header(
        "How can a model forget, and how would you know?",
        "Five stories, each with a real experiment on this machine. Predict first, then look. "
        "Begin with the first.",
        data.source(),
    )
    teacher_switch()
    lessons = list(LESSONS.values())
    for start in range(0, len(lessons), 3):
        for column, (number, lesson) in zip(
            st.columns(3), list(enumerate(lessons, start=1))[start : start + 3], strict=False
        ):
            with column, st.container(border=True, height="stretch"):
                card(number, lesson)


def card(number: int, lesson: Lesson) -> None:
    plan = runs.plan_of(lesson)
    label, icon, color = runs.STATES[runs.standing(lesson, plan)]
    st.markdown(f"**{number} · {lesson.title}**  \n{lesson.question}")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(label, icon=icon, color=color)
        st.caption(f"{lesson.minutes} minutes, {units.count(lesson.length, 'step')}")
    link("lessons", f"Open “{lesson.title}”", icon=":material/arrow_forward:", **address(lesson.id))


def address(lesson: str, step: int = 1) -> dict[str, str | list[str]]:
    values: dict[str, str | list[str]] = {"lesson": lesson, "step": str(step)}
    return values | ({"teacher": "1"} if state.param("teacher") == "1" else {})


def teacher_switch() -> None:
    before = state.param("teacher") == "1"
    help_text = (
        "Large type and figures for a projector; outcomes stay hidden until you press Reveal."
    )
    if state.toggle("Teacher view", "teacher", help=help_text) != before:
        st.rerun()  # what stands above was drawn for the other view


# --- one lesson
# --------------------------------------------------------------------------------------------------


def step_number(lesson: Lesson) -> int:
    """The step that the address names, from 1; the first for anything else."""
    text = state.param("step", "1")
    return int(text) if text.isascii() and text.isdigit() and 1 <= int(text) <= lesson.length else 1


def show_lesson(lesson: Lesson, teacher: bool) -> None:
    plan = runs.plan_of(lesson)
    number = step_number(lesson)
    evidence = runs.evidence_of(lesson, plan)
    source = data.source() if evidence.entries else None
    header.header(
        lesson.question, f"Lesson “{lesson.title}”, step {number} of {lesson.length}.", source
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(number / lesson.length, width="stretch")
        teacher_switch()
        link(
            "lessons",
            "All lessons",
            icon=":material/apps:",
            **({"teacher": "1"} if teacher else {}),
        )
    # a step that can be read with the demo's results comes before the offer to run it, other offers
    # and all progress before the step
    later = (
        number > 1
        and evidence.demo
        and runs.status(plan) == "not run"
        and runs.readable(lesson, plan)
    )
    if not later:
        runs.run_panel(lesson, plan)
    if number == lesson.length:
        show_check(lesson, evidence)
    else:
        show_step(lesson, number, plan, evidence, teacher)
    if later and number < lesson.length:
        runs.run_panel(lesson, plan)
    walk(lesson, number)
    if number == lesson.length:
        show_deeper(lesson, evidence)
    if evidence.entries and number > 1:
        figures.show_provenance(evidence)


def walk(lesson: Lesson, number: int) -> None:
    with st.container(horizontal=True):
        st.button(
            "Back",
            icon=":material/arrow_back:",
            key="back",
            disabled=number == 1,
            on_click=go_to,
            args=(number - 1, lesson.id),
        )
        following = (
            list(LESSONS)[list(LESSONS).index(lesson.id) + 1 :]
            if number == lesson.length
            else [lesson.id]
        )
        if not following:
            return
        label = "Next" if number < lesson.length else f"Next lesson: {LESSONS[following[0]].title}"
        target = (number % lesson.length + 1, following[0])
        st.button(
            label,
            icon=":material/arrow_forward:",
            key="next",
            type="primary",
            on_click=go_to,
            args=target,
        )


def go_to(number: int, lesson: str) -> None:
    state.set_param("lesson", lesson)
    state.set_param("step", str(number))


def show_step(lesson: Lesson, number: int, plan: Plan, evidence: Evidence, teacher: bool) -> None:
    step = lesson.steps[number - 1]
    st.subheader(f"{number} · {step.title}", anchor=False)
    widths = [1] if teacher else [11, 9]
    columns = st.columns(widths, gap="large")
    with columns[0]:
        st.markdown(step.text)
    with columns[-1]:
        show_terms(step)
    if not step.figures:
        return
    name = f"lesson:{lesson.id}:{number}"
    available = shows(step, evidence)
    absent = lesson.absent(evidence) if available else ()
    if undrawn := [each for each in absent if draws(step, each)]:
        names = ", ".join(catalog.method(each).title for each in undrawn)
        st.caption(f"Not among these runs, and so not in the figure: {names}.")
    if step.guess is not None:
        quiz.show_guess(offered(step.guess, absent), name, evidence if available else None, teacher)
    if not available:
        figures.show_missing(step, plan, evidence)
    elif step.guess is None or state.ticket(f"{name}:open"):
        figures.show_outcome(step, name, evidence, teacher)


def show_terms(step: Step) -> None:
    """What the words mean that are used here for the first time: in plain words, or as their cards
    say. A method's card is for readers who know the field, so it is a link.
    """
    if not (step.words or step.terms):
        return
    with st.container(border=True):
        for word, meaning in step.words:
            st.markdown(f"**{word}.** {meaning}.")
        for kind, name in step.terms:
            if kind == "metric":
                metric = catalog.metric(name)
                short = f" ({metric.short})" if metric.short != metric.title else ""
                st.markdown(
                    f"**{metric.title}{short}.** {escape(metric.meaning)}",
                    help=metric_help(name),
                )
            elif kind == "scenario":
                scenario = catalog.scenario(name)
                st.markdown(
                    f"**{scenario.title}.** {escape(scenario.meaning)}",
                    help=f"Source: {scenario.source}",
                )
            else:
                title = catalog.method(name).title
                link("method", f"More on {title}", icon=":material/school:", method=name)


# --- the end of a lesson
# --------------------------------------------------------------------------------------------------


def show_check(lesson: Lesson, evidence: Evidence) -> None:
    st.subheader(f"{lesson.length} · Check yourself", anchor=False)
    for number, question in enumerate(lesson.check, start=1):
        name = f"lesson:{lesson.id}:check:{number}"
        with st.container(border=True):
            st.markdown(f"**{number}. {question.text}**")
            kept = state.ticket(name)
            chosen = st.radio(
                "Your answer",
                list(range(len(question.options))),
                index=kept if isinstance(kept, int) else None,
                format_func=question.options.__getitem__,
                key=f"{name}:radio",
                label_visibility="collapsed",
            )
            state.set_ticket(name, chosen)
            if chosen is not None:
                right = chosen == question.right
                said = (
                    ":material/check_circle: Right."
                    if right
                    else ":material/change_circle: Not quite."
                )
                st.markdown(f"{said} {question.why}")
    if told := quiz.predictions(lesson, evidence):
        st.markdown(told)
    st.markdown(f":material/lightbulb: **{lesson.takeaway}**")


def show_deeper(lesson: Lesson, evidence: Evidence) -> None:
    """Links to other pages; while the demo is shown, to its data and model instead of the lesson's
    own.
    """
    st.markdown("**Go deeper**")
    there = (
        {name: str(evidence.entries[0].spec[name]) for name in ("dataset", "model")}
        if evidence.demo and evidence.entries
        else {}
    )
    for target, label, query in lesson.deeper:
        link(
            target,
            label,
            icon=":material/arrow_forward:",
            **{name: there.get(name, value) for name, value in query.items()},
        )


page()
