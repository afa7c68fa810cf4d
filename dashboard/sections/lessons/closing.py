"""The end of a lesson: questions, and where to go on."""

from __future__ import annotations

import streamlit as st

from dashboard import room, state
from dashboard.lessons.records import Lesson
from dashboard.lessons.results import LessonResults
from dashboard.sections.lessons import quiz, votes
from dashboard.widgets import presenting
from dashboard.widgets.links import link


def show_check(lesson: Lesson, results: LessonResults) -> None:
    st.subheader(f"{lesson.length} · Check yourself", anchor=False)
    held = room.on(lesson)
    for number in range(1, len(lesson.check) + 1):
        name = f"lesson:{lesson.id}:check:{number}"
        with presenting.slide(name), st.container(border=True):
            if held is not None:
                votes.show_check(lesson, number, held, large=presenting.on())
            else:
                show_question(lesson, number, name)
    if told := quiz.predictions(lesson, results):
        st.markdown(told)
    with presenting.slide(f"lesson:{lesson.id}:takeaway"):
        st.markdown(f":material/lightbulb: **{lesson.takeaway}**")


def show_question(lesson: Lesson, number: int, name: str) -> None:
    """One question, and whether the reader's answer is right; a room sees the right one when who
    presents reveals it.
    """
    question = lesson.check[number - 1]
    st.markdown(f"**{number}. {question.text}**")
    if presenting.on():
        opened = bool(state.ticket(f"{name}:open"))
        st.markdown(
            "\n".join(
                f"- **{text}**" if opened and place == question.right else f"- {text}"
                for place, text in enumerate(question.options)
            )
        )
        if opened:
            st.markdown(f":material/check_circle: {question.why}")
        else:
            quiz.show_reveal(name)
        return
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
        said = ":material/check_circle: Right." if right else ":material/change_circle: Not quite."
        st.markdown(f"{said} {question.why}")


def show_deeper(lesson: Lesson, results: LessonResults) -> None:
    """Links to other pages; while the demo is shown, to its data and model instead of the lesson's
    own.
    """
    st.markdown("**Go deeper**")
    there = (
        {name: str(results.entries[0].spec[name]) for name in ("dataset", "model")}
        if results.demo and results.entries
        else {}
    )
    for target, label, query in lesson.deeper:
        link(
            target,
            label,
            icon=":material/arrow_forward:",
            **{name: there.get(name, value) for name, value in query.items()},
        )
