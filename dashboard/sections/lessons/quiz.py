"""A lesson's predictions: the question, the reader's answer, and how it fared. They are kept for
the session.
"""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from dashboard import room, state
from dashboard.lessons.records import Guess, Lesson
from dashboard.lessons.results import LessonResults
from dashboard.lessons.values import compare, title
from dashboard.widgets import presenting

ICONS = {
    True: ":material/check_circle:",
    False: ":material/change_circle:",
    None: ":material/help:",
}


def show_guess(guess: Guess, name: str, results: LessonResults | None) -> None:
    """The question; after the answer, the comparison with the runs. A room is asked, and sees the
    outcome when who presents reveals it.
    """
    given, opened = state.ticket(f"{name}:guess"), bool(state.ticket(f"{name}:open"))
    with st.container(border=True):
        st.markdown(f":material/psychology: **What do you think?** {guess.ask}")
        if opened and results is not None:
            show_verdict(guess, given, results)
        elif presenting.on():
            st.markdown("\n".join(f"- {option}" for option in guess.options.values()))
            show_reveal(name, disabled=results is None)
        elif given is not None:
            st.markdown(f"You said **{title(guess, given)}**. The answer comes with the results.")
        elif not opened:
            answer(guess, name)


def waits(lesson: Lesson, number: int) -> bool:
    """Whether a step asks for a guess that its reader has neither made nor skipped; a room and who
    follows it are asked by the presenter.
    """
    if number > len(lesson.steps) or presenting.on() or room.on(lesson) is not None:
        return False
    asked = lesson.steps[number - 1].guess is not None
    return asked and not state.ticket(f"lesson:{lesson.id}:{number}:open")


def show_reveal(name: str, *, disabled: bool = False) -> None:
    st.button(
        "Reveal",
        type="primary",
        icon=":material/visibility:",
        key=f"{name}:reveal",
        on_click=reveal,
        args=(name,),
        disabled=disabled,
    )


def answer(guess: Guess, name: str) -> None:
    value = choose(guess.options, name)
    with st.container(horizontal=True):
        st.button(
            "That is my prediction",
            type="primary",
            key=f"{name}:say",
            on_click=say,
            args=(name, value),
            disabled=value is None,
        )
        st.button("Skip", key=f"{name}:skip", type="tertiary", on_click=reveal, args=(name,))


def choose(options: Mapping[str, str], name: str) -> str | int | None:
    """One of the options, or a number of percent where there are none."""
    if not options:
        return st.slider("Your estimate, %", 0, 100, 50, step=1, key=f"{name}:slider")
    return st.radio(
        "Your choice",
        list(options),
        index=None,
        format_func=options.__getitem__,
        key=f"{name}:radio",
    )


def say(name: str, value: float | str) -> None:
    state.set_ticket(f"{name}:guess", value)
    reveal(name)


def reveal(name: str) -> None:
    state.set_ticket(f"{name}:open", True)


def show_verdict(guess: Guess, given: float | str | None, results: LessonResults) -> None:
    if given is not None:
        verdict = compare(guess, given, results)
        st.markdown(f"{ICONS[verdict.right]} {verdict.text}")


def predictions(lesson: Lesson, results: LessonResults) -> str:
    """How many of the reader's predictions came true, "" where none can be compared."""
    verdicts = [
        compare(step.guess, given, results).right
        for number, step in enumerate(lesson.steps, start=1)
        if step.guess is not None
        and step.shown(results)
        and (given := state.ticket(f"lesson:{lesson.id}:{number}:guess")) is not None
    ]
    judged = [right for right in verdicts if right is not None]
    return f"Predictions that came true: {sum(judged)} of {len(judged)}." if judged else ""
