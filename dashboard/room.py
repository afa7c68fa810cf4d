"""The room to which a lesson is held: where the presenter is, who goes along, and their votes.

Only where others read along (`access.has_room`). Who presents moves the talk; a guest's vote goes
through `data.ballot_box`. Who goes along is known to this process alone, and only how many.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Mapping
from typing import Final

from dashboard import access, data, state
from dashboard.lessons import LESSONS
from dashboard.lessons.ballots import ballots
from dashboard.lessons.records import Lesson
from mucore.errors import BadValue
from mucore.store import Talk

LOOKS: Final = 2.0  # seconds after which a reader's page looks where the presenter is
GONE: Final = 15.0  # seconds after which a page that did not look counts as closed
NEWS: Final = "/_mucore/room"  # where it looks: dashboard/server.py answers
NAMELESS: Final = (
    "Your browser keeps no cookie of this page, so your vote could not be told apart from others. "
    "Load the page again, or allow its cookies."
)
_seen: dict[str, float] = {}  # pages of readers, and when they looked
_lock = threading.Lock()


def talk() -> Talk | None:
    """What is held here at this moment; a lesson that this version does not know is none."""
    held = data.own_store().talk(access.room()) if access.has_room() else None
    return held if held is not None and held.lesson in LESSONS else None


def on(lesson: Lesson) -> Talk | None:
    """The talk where it is on that lesson."""
    held = talk()
    return held if held is not None and held.lesson == lesson.id else None


def hold(lesson: Lesson, step: int) -> None:
    """Be there, for all who follow. Raises `ReadOnly` for a guest, as all but `cast` does."""
    source = "demo" if data.source().demo else "own"
    data.own_store().hold_talk(access.room(), lesson.id, step, source=source)


def end() -> None:
    data.own_store().end_talk(access.room())


def reveal(question: str) -> None:
    data.own_store().reveal_votes(access.room(), question)


def empty(question: str, hands: Mapping[str, int] = {}) -> None:
    data.own_store().empty_votes(access.room(), question, hands=hands)


def vote_again(question: str) -> None:
    """After a discussion: what was voted is kept beside what comes now."""
    data.own_store().vote_again(access.room(), question, _first(question))


def votes(question: str, *, first: bool = False) -> dict[str, int]:
    """How many chose what; `first`: before the room was asked again, empty if it was not."""
    return data.own_store().votes(access.room(), _first(question) if first else question)


def _first(question: str) -> str:
    return f"{question} first"


def cast(lesson: Lesson, question: str, choice: str) -> None:
    """A guest's vote. Whatever a browser sent, it is a known choice of a known question, under a
    name that the server made. Raises `BadValue`.
    """
    ballot = ballots(lesson).get(question)
    if ballot is None or not ballot.takes(choice):
        raise BadValue("That is no answer to a question of this lesson. Choose one that is shown.")
    if not (name := access.voter(_asked(lesson, question))):
        raise BadValue(NAMELESS)
    data.ballot_box().cast(access.room(), lesson.id, question, name, choice)


def mine(lesson: Lesson, question: str) -> str | None:
    """What this reader voted, None for nothing yet."""
    name = access.voter(_asked(lesson, question))
    return data.own_store().vote_of(access.room(), question, name) if name else None


def _asked(lesson: Lesson, question: str) -> str:
    return f"{lesson.id} {question}"


def arrive() -> str:
    """This reader's page is drawn. The name under which it looks from now on, which says nothing of
    its session.
    """
    page = hashlib.sha256(state.session().encode()).hexdigest()[:24]
    with _lock:
        _seen[page] = time.monotonic()
    return page


def news(page: str, lesson: str, *, follows: bool) -> str:
    """What a reader's page asks every few seconds, by the name that `arrive` gave it: `place` as it
    is now; "" for a page that nobody knows, which is drawn anew then if it is one.
    """
    with _lock:
        if page not in _seen:
            return ""
        _seen[page] = time.monotonic()
    return place(talk(), lesson, follows=follows)


def place(held: Talk | None, lesson: str, *, follows: bool) -> str:
    """What of a talk a reader's page shows that is at `lesson` ("" for none): it is drawn anew when
    that changes.
    """
    if held is None:
        return ""
    revealed = ",".join(sorted(held.revealed))
    if follows:
        return f"{held.lesson}:{held.step}:{held.source}:{revealed}"
    return f"{held.lesson}:{revealed}" if lesson == held.lesson else held.lesson


def readers() -> int:
    """How many pages of readers are open on the lesson that is held."""
    with _lock:
        now = time.monotonic()
        return sum(now - at < GONE for at in _seen.values())
