"""Talks and votes: what a room may do with them, on every database."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from mucore.errors import BadValue, ReadOnly
from mucore.store import BallotBox, GuestStore, Store, open_store, talks
from mucore.store import schema as tables
from mucore.store.schema import now


def test_a_talk_goes_on_and_ends(store: Store) -> None:
    assert store.talk("room") is None
    store.hold_talk("room", "a", 1)
    store.hold_talk("room", "a", 3, source="demo")
    held = store.talk("room")
    assert held is not None and (held.lesson, held.step, held.source) == ("a", 3, "demo")
    assert held.revealed == frozenset() and store.talk("other") is None
    store.end_talk("room")
    assert store.talk("room") is None
    store.end_talk("room")  # twice does no harm
    store.reveal_votes("room", "2")
    assert store.talk("room") is None


def test_each_voter_has_one_vote_a_question_and_may_change_it_until_it_is_revealed(
    store: Store,
) -> None:
    store.hold_talk("room", "a", 2)
    for voter, choice in (("x", "40"), ("y", "40"), ("x", "90")):
        store.cast_vote("room", "a", "2", voter, choice)
    store.cast_vote("room", "a", "3", "x", "duck")
    assert store.votes("room", "2") == {"40": 1, "90": 1}
    assert store.vote_of("room", "2", "x") == "90" and store.vote_of("room", "2", "z") is None
    store.reveal_votes("room", "2")
    for voter in ("x", "z"):
        with pytest.raises(BadValue, match="shown"):
            store.cast_vote("room", "a", "2", voter, "10")
    store.cast_vote("room", "a", "3", "x", "ssd")
    assert store.votes("room", "2") == {"40": 1, "90": 1}
    assert store.votes("room", "3") == {"ssd": 1} and store.votes("other", "3") == {}


def test_a_question_is_emptied_and_raised_hands_are_counted(store: Store) -> None:
    store.hold_talk("room", "a", 2)
    store.cast_vote("room", "a", "2", "x", "duck")
    store.cast_vote("room", "a", "3", "x", "duck")
    store.empty_votes("room", "2", hands={"duck": 2, "ssd": 11, "scrub": 0})
    assert store.votes("room", "2") == {"duck": 2, "ssd": 11}
    store.cast_vote("room", "a", "2", "x", "ssd")
    assert store.votes("room", "2")["ssd"] == 12
    store.empty_votes("room", "2")
    assert store.votes("room", "2") == {} and store.votes("room", "3") == {"duck": 1}


def test_a_room_is_asked_again_and_what_it_said_first_is_kept(store: Store) -> None:
    store.hold_talk("room", "a", 2)
    for first, then in (("duck", "ssd"), ("ssd", "ssd")):
        store.cast_vote("room", "a", "2", "x", first)
        store.cast_vote("room", "a", "2", "y", "ssd")
        store.vote_again("room", "2", "2 first")
        assert store.votes("room", "2") == {} and store.vote_of("room", "2", "x") is None
        assert sum(store.votes("room", "2 first").values()) == 2
        store.cast_vote("room", "a", "2", "x", then)
    assert store.votes("room", "2 first") == {"ssd": 2} and store.votes("room", "2") == {"ssd": 1}


def test_a_talk_that_was_left_goes_when_the_next_begins(store: Store) -> None:
    for room, age in (("old", talks.OVER + timedelta(hours=1)), ("new", timedelta(hours=1))):
        store.hold_talk(room, "a", 2)
        store.cast_vote(room, "a", "2", "x", "40")
        with store.write() as connection:
            left = sa.update(tables.talk).where(tables.talk.c.room == room)
            connection.execute(left.values(changed=now() - age))
    store.hold_talk("room", "a", 1)
    assert store.talk("old") is None and store.votes("old", "2") == {}
    assert store.talk("new") is not None and store.votes("new", "2") == {"40": 1}


def test_a_question_has_so_many_votes_and_no_more(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(talks, "MOST_VOTES", 3)
    store.hold_talk("room", "a", 2)
    for voter in "xyz":
        store.cast_vote("room", "a", "2", voter, "40")
    with pytest.raises(BadValue, match="the most"):
        store.cast_vote("room", "a", "2", "w", "40")
    store.cast_vote("room", "a", "2", "z", "50")  # who is in may still change
    assert store.votes("room", "2") == {"40": 2, "50": 1}


def test_nothing_that_is_stored_says_who_voted_or_when(store: Store) -> None:
    assert {column.name for column in tables.vote.columns} == {
        "room",
        "question",
        "voter",
        "choice",
    }
    store.hold_talk("room", "a", 2)
    held = store.talk("room")
    with store.read() as connection:
        before = connection.execute(sa.select(tables.talk)).all()
    counter = store.change_counter()
    store.cast_vote("room", "a", "2", "x", "40")
    with store.read() as connection:
        assert connection.execute(sa.select(tables.talk)).all() == before
    assert store.talk("room") == held
    assert store.change_counter() == counter  # no page reads anything again


# -- the door for guests


CRAFTED = "40'); DROP TABLE vote; --"  # a text and nothing else


def test_a_guest_votes_and_changes_nothing_else(tmp_path: Path, shared_url: str | None) -> None:
    box = BallotBox(tmp_path, url=shared_url)
    with (
        open_store(tmp_path, url=shared_url) as store,
        GuestStore(tmp_path, url=shared_url, sentence="Read.") as guests,
    ):
        with pytest.raises(BadValue, match="Nobody asks"):
            box.cast("room", "a", "2", "early", "40")
        store.hold_talk("room", "a", 2)
        store.hold_talk("other", "a", 2)
        with pytest.raises(ReadOnly):
            guests.cast_vote("room", "a", "2", "x", "40")
        before = _everything(store)
        box.cast("room", "a", "2", "x", CRAFTED)
        after = _everything(store)
        assert {name for name in after if after[name] != before[name]} == {"vote"}
        assert after["vote"] == [("room", "2", "x", CRAFTED)]
        assert guests.votes("room", "2") == {CRAFTED: 1}
        assert guests.talk("room") == store.talk("room")
    box.close()


def _everything(store: Store) -> dict[str, list[tuple]]:
    with store.read() as connection:
        return {
            table.name: [tuple(row) for row in connection.execute(sa.select(table))]
            for table in tables.metadata.sorted_tables
        }


STATEMENTS = (
    "DELETE FROM vote",
    "DROP TABLE vote",
    "UPDATE talk SET revealed = '[]'",
    "INSERT INTO comparison (id) VALUES (1)",
    "SELECT * FROM result",
    "ATTACH DATABASE ':memory:' AS more",
    "PRAGMA query_only = OFF",
)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_sqlite_refuses_on_that_door_whatever_is_no_vote(tmp_path: Path, statement: str) -> None:
    box = BallotBox(tmp_path)
    with box._talks._engine.connect() as connection, pytest.raises(DBAPIError):
        connection.exec_driver_sql(statement)
    box.close()
    with open_store(tmp_path) as store, store.write() as connection:
        if not statement.startswith(("ATTACH", "INSERT")):  # it is the door that refuses
            connection.exec_driver_sql(statement)


def test_the_door_takes_a_vote_of_one_voter_a_second_and_so_many_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [100.0]
    monkeypatch.setattr(talks.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(talks, "EACH_SECOND", 3)
    box = BallotBox(tmp_path)
    with open_store(tmp_path) as store:
        store.hold_talk("room", "a", 2)

        def refused(voter: str) -> str:
            try:
                box.cast("room", "a", "2", voter, str(len(store.votes("room", "2"))))
            except BadValue as error:
                return str(error)
            return ""

        assert [refused(voter) for voter in "xxyzw"] == [
            *("", talks.TOO_SOON, "", "", talks.TOO_MANY)
        ]
        clock[0] += 1.1
        assert not refused("w") and not refused("x")
        assert sum(store.votes("room", "2").values()) == 4
    box.close()
