"""Talks: a lesson that somebody holds before a room, and the votes of the room on its questions.

A vote says a question, a choice, and a name that the caller made so that it tells nobody who voted
but is the same for one person and question. Votes go when the talk moves to another lesson or ends.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import Connection

from mucore.errors import BadValue
from mucore.store import schema
from mucore.store.database import Database
from mucore.store.records import Talk
from mucore.store.schema import now

MOST_VOTES = 500  # on one question: more than a lecture hall, little enough for any disk
OVER = timedelta(days=1)  # a talk that nobody moved for so long has ended, whatever was said
EACH_SECOND = 30  # votes taken from a room; the others are asked to press again
TOO_SOON = "You voted a moment ago, and one vote a second is counted. Send this one once more."
TOO_MANY = "Many are voting at this moment. Your vote was not counted yet; send it once more."


class Talks(Database):
    """The part of the store that holds talks and votes. `room` is the name of whoever's audience it
    is: one talk a room.
    """

    def hold_talk(self, room: str, lesson: str, step: int, *, source: str = "own") -> None:
        """Be at a step of a lesson. The votes on another lesson are deleted, and so are the talks
        that were left a day ago.
        """
        here, place = schema.talk.c.room == room, {"step": step, "source": source, "changed": now()}
        with self.write() as connection:
            left = sa.select(schema.talk.c.room).where(schema.talk.c.changed < now() - OVER)
            for other in connection.execute(left).scalars().all():
                _delete(connection, other)
            if _talk(connection, room, lesson) is None:
                _delete(connection, room)
                row = {"room": room, "lesson": lesson, "revealed": [], **place}
                connection.execute(sa.insert(schema.talk).values(row))
            else:
                connection.execute(sa.update(schema.talk).where(here).values(place))

    def talk(self, room: str) -> Talk | None:
        """What is held there, None while nothing is."""
        with self.read() as connection:
            return _talk(connection, room)

    def reveal_votes(self, room: str, question: str) -> None:
        """No vote on that question counts any more."""
        with self.write() as connection:
            if (held := _talk(connection, room)) is not None:
                told = sorted(held.revealed | {question})
                here = schema.talk.c.room == room
                connection.execute(sa.update(schema.talk).where(here).values(revealed=told))

    def empty_votes(self, room: str, question: str, *, hands: Mapping[str, int] = {}) -> None:
        """Delete the votes on a question; `hands` are counted in their place, choices as a room
        raised hands for them.
        """
        table = schema.vote
        row = {"room": room, "question": question}
        rows = [
            row | {"voter": f"{choice} {number}", "choice": choice}
            for choice, count in hands.items()
            for number in range(min(count, MOST_VOTES))
        ]
        with self.write() as connection:
            connection.execute(
                sa.delete(table).where(table.c.room == room, table.c.question == question)
            )
            if rows:
                connection.execute(sa.insert(table), rows)

    def vote_again(self, room: str, question: str, first: str) -> None:
        """The votes on a question become those on `first`, and each voter has one vote anew."""
        table = schema.vote
        here = table.c.room == room
        with self.write() as connection:
            connection.execute(sa.delete(table).where(here, table.c.question == first))
            moved = sa.update(table).where(here, table.c.question == question)
            connection.execute(moved.values(question=first))
        self.reveal_votes(room, first)

    def end_talk(self, room: str) -> None:
        """Delete the talk and all that the room voted."""
        with self.write() as connection:
            _delete(connection, room)

    def cast_vote(self, room: str, lesson: str, question: str, voter: str, choice: str) -> None:
        """Vote, or change one's vote: one row for each voter and question. The caller knows that
        it is a choice of that question.

        Raises `BadValue` where that lesson is not held, where the question's votes are over, and
        where the question has `MOST_VOTES`.
        """
        table = schema.vote
        where = (table.c.room == room, table.c.question == question)
        with self.write() as connection:
            held = _talk(connection, room, lesson)
            if held is None:
                raise BadValue("Nobody asks this question at this moment. Wait for the presenter.")
            if question in held.revealed:
                raise BadValue("The answer has been shown, so votes no longer count. Go on.")
            count = sa.select(sa.func.count()).where(*where)
            mine = (*where, table.c.voter == voter)
            change = sa.update(table).where(*mine).values(choice=choice)
            if connection.execute(change).rowcount:
                return
            if connection.execute(count).scalar_one() >= MOST_VOTES:
                raise BadValue(f"This question has {MOST_VOTES} votes, which is the most. Go on.")
            row = {"room": room, "question": question, "voter": voter, "choice": choice}
            connection.execute(sa.insert(table).values(row))

    def votes(self, room: str, question: str) -> dict[str, int]:
        """How many chose what."""
        table = schema.vote
        here = sa.and_(table.c.room == room, table.c.question == question)
        query = sa.select(table.c.choice, sa.func.count()).where(here)
        query = query.group_by(table.c.choice).order_by(table.c.choice)
        with self.read() as connection:
            return {choice: int(count) for choice, count in connection.execute(query)}

    def vote_of(self, room: str, question: str, voter: str) -> str | None:
        """What that voter chose, None for nothing yet."""
        table = schema.vote
        mine = (table.c.room == room, table.c.question == question, table.c.voter == voter)
        with self.read() as connection:
            return connection.execute(sa.select(table.c.choice).where(*mine)).scalar()


class BallotBox:
    """All that a guest can write: one vote. It has connections of its own, on which SQLite itself
    refuses every other change; nothing is read from it.
    """

    def __init__(self, home: Path, *, url: str | None = None):
        self._talks = Talks(home, url)
        if self._talks.sqlite:
            event.listen(self._talks._engine, "connect", _for_votes_alone)
            self._talks._engine.dispose()  # the connection that looked at the schema
        self._lock, self._taken = threading.Lock(), dict[str, float]()

    def cast(self, room: str, lesson: str, question: str, voter: str, choice: str) -> None:
        """As `Talks.cast_vote`; raises `BadValue` as well for the second vote of a voter within a
        second, and for more than `EACH_SECOND` of all.
        """
        with self._lock:
            moment = time.monotonic()
            self._taken = {name: at for name, at in self._taken.items() if moment - at < 1.0}
            if voter in self._taken:
                raise BadValue(TOO_SOON)
            if len(self._taken) >= EACH_SECOND:
                raise BadValue(TOO_MANY)
            self._taken[voter] = moment
        self._talks.cast_vote(room, lesson, question, voter, choice)

    def close(self) -> None:
        self._talks.close()


def _for_votes_alone(connection: Any, _record: Any) -> None:
    changes = {sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE}
    looks = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_FUNCTION}
    tables = {schema.talk.name, schema.vote.name}

    def may(action: int, first: str | None, *_: str | None) -> int:
        allowed = (
            action in looks
            or (action == sqlite3.SQLITE_READ and first in tables)
            or (action in changes and first == schema.vote.name)
        )
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY

    connection.set_authorizer(may)


def _talk(connection: Connection, room: str, lesson: str | None = None) -> Talk | None:
    """The talk of a room, None where it is not on `lesson`."""
    query = sa.select(schema.talk).where(schema.talk.c.room == room)
    row = connection.execute(query).one_or_none()
    if row is None or lesson not in (None, row.lesson):
        return None
    revealed = frozenset(row.revealed)
    return Talk(lesson=row.lesson, step=row.step, source=row.source, revealed=revealed)


def _delete(connection: Connection, room: str) -> None:
    for table in (schema.vote, schema.talk):
        connection.execute(sa.delete(table).where(table.c.room == room))
