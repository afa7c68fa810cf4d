"""A lesson held before a room: the presenter begins and ends it, readers go along if they wish."""

from __future__ import annotations

import streamlit as st

from dashboard import access, data, room, state
from dashboard.lessons import LESSONS
from dashboard.lessons.records import Lesson
from dashboard.text import units
from dashboard.widgets import guests, messages
from dashboard.widgets.links import link
from mucore.store import Talk

Place = tuple[str, int, str, frozenset[str]] | tuple[str, frozenset[str]] | tuple[str] | None


def following() -> bool:
    """Whether this reader's page goes where the presenter is."""
    return access.has_room() and not access.presents() and state.param("follow") == "1"


def leave() -> None:
    """Read on alone."""
    state.set_param("follow", None)


def go_along() -> None:
    """Bring a page that follows to the presenter's step, and to the results that they show."""
    if not following() or (held := room.talk()) is None:
        return
    state.set_param("lesson", held.lesson)
    state.set_param("step", str(held.step))
    if held.source in data.SOURCES and state.carried("source", data.SOURCES) != held.source:
        state.carry("source", held.source)
        st.rerun()  # the side bar was drawn for the other results


def show_bar(lesson: Lesson | None, number: int = 1) -> None:
    """What there is to say and do about the room on a lesson's step, or on the list of lessons."""
    if not access.has_room():
        return
    if problem := state.ticket("talk_problem"):
        messages.problem(str(problem))
        state.set_ticket("talk_problem", None)
    held = room.talk()
    if access.presents():
        show_presenters(lesson, number, held)
    else:
        show_readers(held)
        watch(place(held, lesson), lesson)


def show_presenters(lesson: Lesson | None, number: int, held: Talk | None) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if lesson is not None and (held is None or held.lesson != lesson.id):
            where = f" The room is at “{LESSONS[held.lesson].title}” now." if held else ""
            st.button(
                "Hold this lesson for the room",
                icon=":material/co_present:",
                key="hold",
                on_click=hold,
                args=(lesson, number),
                help="Its questions become votes, and who follows you is taken along. What was "
                f"voted is deleted when you end it, or hold another lesson.{where}",
            )
        if held is not None:
            keep_told(lesson, number, held)
            where = "" if lesson is not None else f", at “{LESSONS[held.lesson].title}”"
            with st.container(width="content"):
                show_count(where)
            st.button(
                "End it",
                icon=":material/stop_circle:",
                key="end_talk",
                on_click=end,
                type="tertiary",
                help="Deletes what the room voted. Readers stay on their step and read alone.",
            )
        here = {"lesson": lesson.id, "step": str(number)} if lesson is not None else {"lesson": ""}
        link("lessons", "Let the room join", icon=":material/qr_code_2:", join="1", **here)


@guests.live(1.0)
def show_count(where: str = "") -> None:
    with messages.guarded():
        here = units.count(room.readers(), "reader")
        st.markdown(f":material/groups: **{here} here**{where}", width="content")


def keep_told(lesson: Lesson | None, number: int, held: Talk) -> None:
    """Tell the room where this page is, if it moved: another tab of the presenter's stays where it
    is.
    """
    if lesson is None or lesson.id != held.lesson:
        return
    here = (lesson.id, number, "demo" if data.source().demo else "own")
    if state.ticket("told_room") != here:
        state.set_ticket("told_room", here)
        if here != (held.lesson, held.step, held.source):
            room.hold(lesson, number)


def show_readers(held: Talk | None) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if held is not None or following():
            state.toggle(
                "Follow the presenter",
                "follow",
                help="Your page goes to the presenter's step by itself. Back and Next end it.",
            )
        if held is not None and not following():
            st.caption(f"The presenter holds “{LESSONS[held.lesson].title}”, step {held.step}.")
        elif held is None and following():
            st.caption("No lesson is held yet. This page goes along as soon as one is.")


def place(held: Talk | None, lesson: Lesson | None) -> Place:
    """What of a talk a reader's page shows: drawn anew when it changes."""
    if held is None:
        return None
    if following():
        return held.lesson, held.step, held.source, held.revealed
    return (held.lesson, held.revealed) if lesson and lesson.id == held.lesson else (held.lesson,)


@st.fragment(run_every=room.LOOKS)
def watch(drawn: Place, lesson: Lesson | None) -> None:
    """Looks where the presenter is. It waits for no turn, for it draws nothing."""
    with messages.sentences():
        room.look()
        if place(room.talk(), lesson) != drawn:
            st.rerun()


def hold(lesson: Lesson, number: int) -> None:
    try:
        room.hold(lesson, number)
    except Exception as failure:
        state.set_ticket("talk_problem", str(failure))


def end() -> None:
    try:
        room.end()
    except Exception as failure:
        state.set_ticket("talk_problem", str(failure))
