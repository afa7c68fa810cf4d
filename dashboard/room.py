"""The room to which a lesson is held: where the presenter is, who goes along, and their votes.

Only where others read along (`access.has_room`). Who presents moves the talk; a guest's vote goes
through `data.ballot_box`. Who goes along is known to this process alone, and only how many.
"""

from __future__ import annotations

import threading
import time
from typing import Final

from dashboard import access, data, state
from dashboard.lessons import LESSONS
from dashboard.lessons.ballots import ballots
from dashboard.lessons.records import Lesson
from mucore.errors import BadValue
from mucore.store import Talk

LOOKS: Final = 2.0  # seconds after which a reader's page looks where the presenter is
GONE: Final = 15.0  # seconds after which a page that did not look counts as closed
NAMELESS: Final = (
    "Your browser keeps no cookie of this page, so your vote could not be told from another. Load "
    "the page again, or allow its cookies."
)
_seen: dict[str, float] = {}  # sessions of readers, and when they looked
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


def votes(question: str) -> dict[str, int]:
    return data.own_store().votes(access.room(), question)


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


def look() -> None:
    """This reader's page is open."""
    with _lock:
        _seen[state.session()] = time.monotonic()


def readers() -> int:
    """How many pages of readers are open on the lesson that is held."""
    with _lock:
        since = time.monotonic() - GONE
        for session in [session for session, at in _seen.items() if at < since]:
            del _seen[session]
        return len(_seen)
