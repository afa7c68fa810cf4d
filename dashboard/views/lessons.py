"""Lessons: six stories that run live, one step a screen: read, predict, look, compare."""

from __future__ import annotations

import streamlit as st

from dashboard import data, state
from dashboard.lessons import LESSONS
from dashboard.lessons.records import Lesson
from dashboard.sections.lessons import (
    closing,
    figures,
    join,
    overview,
    quiz,
    runs,
    steps,
    take_home,
    talks,
)
from dashboard.widgets import course, header
from dashboard.widgets.links import link

HOW = "  \n".join(
    [
        "Read, guess, then see what real runs say.",
        "**Star**: Retrain, which never saw what is forgotten. **Ring**: the original.",
        "**Dashed line**: where Retrain is, and where a method should end.",
    ]
)
# an address that says nothing would lead back to the lesson that was open
ALL = {"lesson": ""}


def page() -> None:
    talks.go_along()
    lesson = LESSONS.get(state.param("lesson"))
    if join.wanted():
        join.show()
    elif lesson is None:
        overview.show()
    else:
        show_lesson(lesson)


def step_number(lesson: Lesson) -> int:
    """The step that the address names, from 1; the first for anything else."""
    text = state.param("step", "1")
    return int(text) if text.isascii() and text.isdigit() and 1 <= int(text) <= lesson.length else 1


def show_lesson(lesson: Lesson) -> None:
    """One step; a lesson without a grid has no runs, its scenes are played in the steps."""
    number = step_number(lesson)
    plan = runs.plan_of(lesson) if lesson.grid else None
    results = steps.results_of_scenes(lesson) if plan is None else runs.results_of(lesson, plan)
    mine = plan is not None and bool(results.entries)
    if steps.voting(lesson, number):
        steps.vote(lesson, number, results)
        talks.show_bar(lesson, number)
        return
    # who follows sees the presenter's results
    show_head(lesson, number, data.source() if mine and not talks.following() else None)
    if number == lesson.length:
        closing.show_check(lesson, results)
    else:
        steps.show(lesson, number, plan, results)
    if plan is not None:
        runs.run_panel(lesson, plan, cover=number == 1)
    walk(lesson, number)
    take_home.offer(lesson, results)
    if number == lesson.length:
        closing.show_deeper(lesson, results)
    if mine and number > 1:
        figures.show_provenance(results)


def show_head(lesson: Lesson, number: int, source: data.Source | None) -> None:
    course.steps(
        [str(each + 1) for each in range(lesson.length)],
        str(number),
        lambda other: go_to(int(other), lesson.id),
    )
    header.header(lesson.question, HOW, source, title=lesson.title)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(number / lesson.length, f"Step {number} of {lesson.length}", width="stretch")
        link("lessons", "All lessons", icon=":material/apps:", **ALL)
    talks.show_bar(lesson, number)


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
        waits = quiz.waits(lesson, number)
        target = (number % lesson.length + 1, following[0])
        st.button(
            "Guess first" if waits else label,
            icon=":material/arrow_forward:",
            key="next",
            type="primary",
            disabled=waits,
            on_click=go_to,
            args=target,
        )


def go_to(number: int, lesson: str) -> None:
    talks.leave()
    state.set_param("lesson", lesson)
    state.set_param("step", str(number))


page()
