"""All lessons, each with how far its runs are."""

from __future__ import annotations

import streamlit as st

from dashboard import data
from dashboard.lessons import LESSONS
from dashboard.lessons.records import Lesson
from dashboard.sections.lessons import runs, talks
from dashboard.text import units
from dashboard.widgets import header, presenting
from dashboard.widgets.links import link


def show() -> None:
    header.header(
        "How can a model forget, and how would you know?",
        "Six stories, each told by real results: runs of this machine or the demo's, and points "
        "that are learned and forgotten while you watch. Predict first, then look. Begin with the "
        "first.",
        data.source(),
    )
    presenting.switch()
    talks.show_bar(None)
    lessons = list(enumerate(LESSONS.values(), start=1))
    with presenting.slide("lessons"):
        for start in range(0, len(lessons), 3):
            for column, (number, lesson) in zip(
                st.columns(3), lessons[start : start + 3], strict=False
            ):
                with column, st.container(border=True, height="stretch"):
                    show_card(number, lesson)


def show_card(number: int, lesson: Lesson) -> None:
    standing = runs.standing(lesson, runs.plan_of(lesson)) if lesson.grid else "ready"
    label, icon, color = runs.STATES[standing]
    st.markdown(f"**{number} · {lesson.title}**  \n{lesson.question}")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(label, icon=icon, color=color)
        st.caption(f"{lesson.minutes} minutes, {units.count(lesson.length, 'step')}")
    link(
        "lessons",
        f"Open “{lesson.title}”",
        icon=":material/arrow_forward:",
        lesson=lesson.id,
        step="1",
    )
