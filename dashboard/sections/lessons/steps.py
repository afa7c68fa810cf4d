"""One step of a lesson: text and terms, guess, see, say. What is seen are figures of the lesson's
runs, or a scene of the playground that the reader, before a room the presenter, plays on the spot.
"""

from __future__ import annotations

from contextlib import nullcontext

import streamlit as st

from dashboard import access, playroom, room, state
from dashboard.lessons.records import Lesson, Step, offered
from dashboard.lessons.results import LessonResults, played
from dashboard.sections.lessons import figures, quiz, talks, votes
from dashboard.widgets import presenting, stage
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape, metric_help
from mucore import catalog
from mucore.runner.plan import Plan


def results_of_scenes(lesson: Lesson) -> LessonResults:
    """What came of the scenes that this reader, or before a room anybody, has played."""
    shared = room.on(lesson) is not None
    presets = [preset for step in lesson.steps for preset in step.scenarios]
    entries = [
        entry
        for preset in presets
        if (ticket := stage.ticket_of(preset, shared=shared))
        for entry in played(playroom.room().events(ticket), preset)
    ]
    return LessonResults(tuple(entries), "")


def show(lesson: Lesson, number: int, plan: Plan | None, results: LessonResults) -> None:
    """Without a plan the step's scene is played."""
    step, name = lesson.steps[number - 1], f"lesson:{lesson.id}:{number}"
    show_text(step, number, name)
    if step.moving is not None:
        with presenting.slide(f"{name}:moving"):
            figures.show_moving(step.moving, results)
    if not step.figures:
        return
    done, opened = step.shown(results), step.guess is None or vote(lesson, number, results)
    if plan is None:
        leads = presenting.on() or (access.presents() and room.on(lesson) is not None)
        if opened or leads:
            show_scene(step, name, results, opened=opened)
    elif not done:
        with presenting.slide(f"{name}:missing"):
            figures.show_missing(plan, results)
    elif opened:
        figures.show_outcome(step, name, results)


def voting(lesson: Lesson, number: int) -> bool:
    """Whether this reader goes along and the step's question is open: then their page has nothing
    else, so that question, answers and button are in sight on a phone.
    """
    held, steps = room.on(lesson), lesson.steps[number - 1 : number]
    open_one = held is not None and str(number) not in held.revealed
    return open_one and talks.following() and any(step.guess for step in steps)


def vote(lesson: Lesson, number: int, found: LessonResults) -> bool:
    """A step's prediction; whether its outcome is shown, which there is once its runs are."""
    step, name = lesson.steps[number - 1], f"lesson:{lesson.id}:{number}"
    guess, results = step.guess, found if step.shown(found) else None
    if guess is None:
        return True
    absent = lesson.absent(results) if results is not None else ()
    if undrawn := [each for each in absent if each in step.methods]:
        names = ", ".join(catalog.method(each).title for each in undrawn)
        st.caption(f"Not among these runs, and so not in the figure: {names}.")
    offer, held = offered(guess, absent), room.on(lesson)
    with presenting.slide(f"{name}:question"):
        if held is not None:
            return votes.show_guess(lesson, number, offer, held, results)
        quiz.show_guess(offer, name, results)
        return bool(state.ticket(f"{name}:open"))


def show_scene(step: Step, name: str, results: LessonResults, *, opened: bool) -> None:
    """The scene once a prediction was made; who presents plays it before that is revealed."""
    with presenting.slide(f"{name}:scene"):
        st.markdown(f":material/visibility: *{step.see}*")
        for preset in step.scenarios:
            stage.show(preset)
    if opened and step.say and step.shown(results):
        with presenting.slide(f"{name}:said"):
            figures.show_said(step, results)


def show_text(step: Step, number: int, name: str) -> None:
    """What a step says before its prediction, with its terms beside it."""
    columns = st.columns([1] if presenting.on() else [11, 9], gap="large")
    with columns[0], presenting.slide(f"{name}:text", notes=step.notes):
        st.subheader(f"{number} · {step.title}", anchor=False)
        st.markdown(step.text)
    if step.words or step.terms:
        explained = step.words or any(kind != "method" for kind, _ in step.terms)
        screen = presenting.slide(f"{name}:words") if explained else nullcontext()
        with columns[-1], screen, st.container(border=True):
            if step.words:
                st.markdown(step.words)
            for kind, term in step.terms:
                show_term(kind, term)


def show_term(kind: str, term: str) -> None:
    """What a card says. A method's is for readers who know the field, so it is a link."""
    if kind == "method":
        title = catalog.method(term).title
        link("method", f"More on {title}", icon=":material/school:", method=term)
        return
    if kind == "scenario":
        card = catalog.scenario(term)
        st.markdown(f"**{card.title}.** {escape(card.meaning)}", help=f"Source: {card.source}")
        return
    metric = catalog.metric(term)
    short = f" ({metric.short})" if metric.short != metric.title else ""
    st.markdown(f"**{metric.title}{short}.** {escape(metric.meaning)}", help=metric_help(term))
