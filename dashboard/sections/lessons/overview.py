"""All lessons, each with how far its runs are."""

from __future__ import annotations

from typing import Final

import streamlit as st

from dashboard import access, data
from dashboard.lessons import LESSONS
from dashboard.lessons.records import Lesson
from dashboard.sections.lessons import runs, talks
from dashboard.text import units
from dashboard.widgets import header, presenting
from dashboard.widgets.links import link


def show() -> None:
    header.header(
        "How can a model forget, and how would you know?",
        "Six stories, told by real results. Guess, see, then read what it says.",
        None if talks.following() else data.source(),
    )
    talks.show_bar(None)
    lessons = list(enumerate(LESSONS.values(), start=1))
    with presenting.slide("lessons"):
        for start in range(0, len(lessons), 3):
            for column, (number, lesson) in zip(
                st.columns(3), lessons[start : start + 3], strict=False
            ):
                with column, st.container(border=True, height="stretch"):
                    show_card(number, lesson)
    if not presenting.on():
        show_plan()


# Minutes, what the room does, lesson ("" for talk): adds up to a class of 45 minutes.
PLAN: Final = (
    (8, "Points that are learned and forgotten", "typical-and-outlier"),
    (10, "Forget one class: why Retrain is the yardstick", "forget-one-class"),
    (12, "Why accuracy proves nothing, with votes", "one-metric"),
    (10, "The backdoor: forgetting as repair", "backdoor"),
    (5, "Draw a digit together; questions", ""),
)


def show_plan() -> None:
    with st.expander("A class of 45 minutes", icon=":material/schedule:"):
        if not access.has_room():
            st.caption("For votes on phones, start it with `python run_app.py --audience`.")
        for minutes, what, lesson in PLAN:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown(f"**{minutes} min**", width=70)
                if lesson:
                    link("lessons", what, lesson=lesson, step="1")
                else:
                    link("draw", what)


def show_card(number: int, lesson: Lesson) -> None:
    standing = runs.standing(lesson, runs.plan_of(lesson)) if lesson.grid else "ready"
    label, icon, color = runs.STATES[standing]
    title = f"**{number} · {lesson.title}**"
    link("lessons", title, icon=":material/arrow_forward:", lesson=lesson.id, step="1")
    st.markdown(lesson.question)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(label, icon=icon, color=color)
        st.caption(f"{lesson.minutes} minutes, {units.count(lesson.length, 'step')}")
