"""A lesson's predictions: the question, the reader's answer, and how it fared. They are kept for
the session.
"""

from __future__ import annotations

import streamlit as st

from dashboard import room, state
from dashboard.lessons.records import Estimate, Guess, Lesson, compare, shows
from dashboard.lessons.results import LessonResults
from dashboard.widgets import presenting


def show_guess(guess: Guess, name: str, results: LessonResults | None) -> None:
    """The question; after the answer, the comparison with the runs. The prediction is kept for the
    session. A room is asked, and sees the outcome when who presents reveals it.
    """
    large = presenting.on()
    given, opened = state.ticket(f"{name}:guess"), bool(state.ticket(f"{name}:open"))
    with st.container(border=True):
        heads = (
            "What do you think?"
            if large
            else "Your prediction first."
            if given is None and not opened
            else "The question."
        )
        st.markdown(f":material/psychology: **{heads}** {guess.question}")
        if opened and results is not None:
            show_verdict(guess, given, results)
            return
        if large:
            if not isinstance(guess, Estimate):
                st.markdown("\n".join(f"- {title}" for title in guess.options.values()))
            show_reveal(name, disabled=results is None)
        elif given is not None:
            said = (
                f"{given:.0f} %"
                if isinstance(guess, Estimate)
                else guess.options.get(str(given), "")
            )
            st.markdown(f"You said **{said}**. The figure follows as soon as the runs are done.")
        else:
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
    if isinstance(guess, Estimate):
        value = st.slider("Your estimate, %", 0, 100, 50, step=1, key=f"{name}:slider")
    else:
        value = st.radio(
            "Your choice",
            list(guess.options),
            index=None,
            format_func=guess.options.__getitem__,
            key=f"{name}:radio",
        )
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


def say(name: str, value: float | str) -> None:
    state.set_ticket(f"{name}:guess", value)
    reveal(name)


def reveal(name: str) -> None:
    state.set_ticket(f"{name}:open", True)


def show_verdict(guess: Guess, given: float | str | None, results: LessonResults) -> None:
    if given is None:
        return
    verdict = compare(guess, given, results)
    icon = {
        True: ":material/check_circle:",
        False: ":material/change_circle:",
        None: ":material/help:",
    }[verdict.right]
    st.markdown(f"{icon} {verdict.text}")


def predictions(lesson: Lesson, results: LessonResults) -> str:
    """How many of the reader's predictions came true, "" where none was made or can be compared."""
    verdicts = [
        compare(step.guess, given, results).right
        for number, step in enumerate(lesson.steps, start=1)
        if step.guess is not None
        and shows(step, results)
        and (given := state.ticket(f"lesson:{lesson.id}:{number}:guess")) is not None
    ]
    judged = [right for right in verdicts if right is not None]
    if not judged:
        return ""
    if len(judged) == 1:
        return f"Your prediction {'came true' if judged[0] else 'did not come true'} in these runs."
    return f"Of your {len(judged)} predictions, {sum(judged)} came true in these runs."
