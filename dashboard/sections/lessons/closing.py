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
                votes.show_check(lesson, number, held)
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
        marks = ["**" if opened and place == question.right else "" for place in question.places]
        options = zip(marks, question.options, strict=True)
        st.markdown("\n".join(f"- {mark}{text}{mark}" for mark, text in options))
        if opened:
            st.markdown(f"{quiz.ICONS[True]} {question.why}")
        else:
            quiz.show_reveal(name)
        return
    kept = state.ticket(name)
    chosen = st.radio(
        "Your answer",
        question.places,
        index=kept if isinstance(kept, int) else None,
        format_func=question.options.__getitem__,
        key=f"{name}:radio",
        label_visibility="collapsed",
    )
    state.set_ticket(name, chosen)
    if chosen is not None:
        right = chosen == question.right
        said = "Right." if right else "Not quite."
        st.markdown(f"{quiz.ICONS[right]} {said} {question.why}")


def show_deeper(lesson: Lesson, results: LessonResults) -> None:
    """Links to other pages; to a comparison on the data and the model of what is shown."""
    st.markdown("**Go deeper**")
    shown = results.entries[0].spec if results.demo and results.entries else lesson.grid
    for told in lesson.deeper:
        query = {name: text for name, text in told.items() if name not in ("page", "label")}
        if "scenario" in query:
            query |= {name: str(shown[name]) for name in ("dataset", "model")}
        link(told["page"], told["label"], icon=":material/arrow_forward:", **query)
