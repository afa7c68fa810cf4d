"""One step of a lesson: text, terms, prediction, outcome."""

from __future__ import annotations

from contextlib import nullcontext

import streamlit as st

from dashboard import room, state
from dashboard.lessons.records import Lesson, Step, draws, offered, shows
from dashboard.lessons.results import LessonResults
from dashboard.sections.lessons import figures, quiz, votes
from dashboard.widgets import presenting
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape, metric_help
from mucore import catalog
from mucore.runner.plan import Plan


def show(lesson: Lesson, number: int, plan: Plan, results: LessonResults) -> None:
    step = lesson.steps[number - 1]
    name = f"lesson:{lesson.id}:{number}"
    show_text(step, number, name)
    if step.moving is not None:
        with presenting.slide(f"{name}:moving"):
            figures.show_moving(step.moving, results)
    if not step.figures:
        return
    available = shows(step, results)
    absent = lesson.absent(results) if available else ()
    if undrawn := [each for each in absent if draws(step, each)]:
        names = ", ".join(catalog.method(each).title for each in undrawn)
        st.caption(f"Not among these runs, and so not in the figure: {names}.")
    opened = step.guess is None
    if step.guess is not None:
        guess, known = offered(step.guess, absent), results if available else None
        with presenting.slide(f"{name}:question"):
            if (held := room.on(lesson)) is not None:
                large = presenting.on()
                opened = votes.show_guess(lesson, number, guess, held, known, large=large)
            else:
                quiz.show_guess(guess, name, known)
                opened = bool(state.ticket(f"{name}:open"))
    if not available:
        with presenting.slide(f"{name}:missing"):
            figures.show_missing(step, plan, results)
    elif opened:
        figures.show_outcome(step, name, results)


def show_text(step: Step, number: int, name: str) -> None:
    """What a step says before its prediction, with its terms beside it."""
    columns = st.columns([1] if presenting.on() else [11, 9], gap="large")
    with columns[0], presenting.slide(f"{name}:text", notes=step.notes):
        st.subheader(f"{number} · {step.title}", anchor=False)
        st.markdown(step.text)
    if step.words or step.terms:
        explained = step.words or any(kind != "method" for kind, _ in step.terms)
        screen = presenting.slide(f"{name}:words") if explained else nullcontext()
        with columns[-1], screen:
            show_terms(step)


def show_terms(step: Step) -> None:
    """What the words mean that are used here for the first time: in plain words, or as their cards
    say. A method's card is for readers who know the field, so it is a link.
    """
    with st.container(border=True):
        for word, meaning in step.words:
            st.markdown(f"**{word}.** {meaning}.")
        for kind, name in step.terms:
            if kind == "metric":
                metric = catalog.metric(name)
                short = f" ({metric.short})" if metric.short != metric.title else ""
                st.markdown(
                    f"**{metric.title}{short}.** {escape(metric.meaning)}", help=metric_help(name)
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
