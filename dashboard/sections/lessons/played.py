"""Steps whose figure is a scene of the playground, which the reader plays on the spot. Where the
lesson is held before a room, the presenter plays it for all, and reveals the answer afterwards.
"""

from __future__ import annotations

import streamlit as st

from dashboard import access, playroom, room, state
from dashboard.lessons.records import Lesson, Played, Step, shows
from dashboard.lessons.results import LessonResults, played
from dashboard.sections.lessons import quiz, steps, votes
from dashboard.widgets import presenting, stage
from dashboard.widgets.markdown import escape


def results_of(lesson: Lesson) -> LessonResults:
    """What came of the scenes that this reader, or before a room anybody, has played."""
    shared = room.on(lesson) is not None
    entries = [
        entry
        for preset in lesson.presets
        if (ticket := stage.ticket_of(preset, shared=shared))
        for entry in played(playroom.room().events(ticket), preset)
    ]
    return LessonResults(tuple(entries), "")


def show(lesson: Lesson, number: int, results: LessonResults) -> None:
    step, name = lesson.steps[number - 1], f"lesson:{lesson.id}:{number}"
    steps.show_text(step, number, name)
    scenes = [figure for figure in step.figures if isinstance(figure, Played)]
    if not scenes:
        return
    done, held = shows(step, results), room.on(lesson)
    opened, known = step.guess is None, results if done else None
    if step.guess is not None:
        with presenting.slide(f"{name}:question"):
            if held is not None:
                large = presenting.on()
                opened = votes.show_guess(lesson, number, step.guess, held, known, large=large)
            else:
                opened = bool(state.ticket(f"{name}:open"))
                if done or not opened:
                    quiz.show_guess(step.guess, name, results)
    if not opened and not (held is not None and access.presents()):
        return
    with presenting.slide(f"{name}:scene"):
        st.markdown(f":material/visibility: *{step.look}*")
        for scene in scenes:
            stage.show(scene.preset)
    if done and opened and (step.findings is not None or step.after):
        with presenting.slide(f"{name}:said"):
            show_outcome(step, results)


def show_outcome(step: Step, results: LessonResults) -> None:
    if step.findings is not None and (sentences := step.findings(results)):
        with st.container(border=True):
            st.markdown("  \n".join(escape(sentence) for sentence in sentences))
    if step.after:
        st.markdown(step.after)
