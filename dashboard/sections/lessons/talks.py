"""A lesson held before a room: the presenter begins and ends it, readers go along if they wish."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode

import streamlit as st

from dashboard import access, assets, data, room, state
from dashboard.lessons import LESSONS
from dashboard.lessons.records import Lesson
from dashboard.text import units
from dashboard.widgets import guests, messages
from dashboard.widgets.links import link
from dashboard.widgets.side_bar import HIDDEN
from mucore.store import Talk

LOOK: Final = assets.text("room.js")


def following() -> bool:
    """Whether this reader's page goes where the presenter is."""
    return access.has_room() and not access.presents() and state.param("follow") == "1"


def leave() -> None:
    """Read on alone."""
    state.set_param("follow", None)


def go_along() -> None:
    """Bring a page that follows to the presenter's step, and to the results that they show."""
    if access.presents() or not access.has_room():
        return
    held = room.talk()
    state.set_ticket("talk", held)
    if held is None or not following():
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
    if access.presents():
        show_presenters(lesson, number, room.talk())
    else:
        held = state.ticket("talk")  # as it was when the page began: it may have moved since
        show_readers(held)
        watch(held, lesson)


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
                help=(
                    "Its questions become votes, and readers who follow you move with you. The "
                    f"votes are deleted when you end it or hold another lesson.{where}"
                ),
            )
        if held is not None:
            keep_told(lesson, number, held)
            where = "" if lesson is not None else f", at “{LESSONS[held.lesson].title}”"
            with st.container(key="room_count", width="content"):  # the foot of a talk says it, too
                show_count(where)
            st.button(
                "End it",
                icon=":material/stop_circle:",
                key="end_talk",
                on_click=end,
                type="tertiary",
                help="Deletes the room's votes. Readers stay on their step and read on.",
            )
        here = {"lesson": lesson.id, "step": str(number)} if lesson is not None else {"lesson": ""}
        with st.container(key="room_joins", width="content"):  # the key J presses it
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
                help="Your page moves to the presenter's step on its own. Back or Next ends that.",
            )
        if held is not None and not following():
            st.caption(
                f"The presenter is holding “{LESSONS[held.lesson].title}”, step {held.step}."
            )
        elif held is None and following():
            st.caption("No lesson is being held yet. This page follows as soon as one is.")


def watch(held: Talk | None, lesson: Lesson | None) -> None:
    """The page looks where the presenter is, and is drawn anew once that is elsewhere than it
    says.
    """
    here, follows = lesson.id if lesson else "", following()
    asked = {"page": room.arrive(), "lesson": here, "follow": "1" if follows else ""}
    with st.container(key="room", gap=None):
        st.html(HIDDEN.replace("KEY", "room"))
        look = st.components.v2.component("mucore_room", html="<span></span>", js=LOOK)
        look(
            data={
                "address": f"{room.NEWS}?{urlencode(asked)}",
                "place": room.place(held, here, follows=follows),
                "pause": 1000 * room.LOOKS,
            },
            key="look",
            height=1,
            on_moved_change=lambda: None,
        )


def hold(lesson: Lesson, number: int) -> None:
    with messages.kept("talk_problem"):
        room.hold(lesson, number)


def end() -> None:
    with messages.kept("talk_problem"):
        room.end()
