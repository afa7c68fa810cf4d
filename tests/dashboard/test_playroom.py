"""The room that plays scenes for all readers: equal scenes once, what nobody wants not at all, and
a process that dies or hangs is replaced.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dashboard.playroom import Room
from mucore.errors import BadValue
from mucore.playground import Scene

pytestmark = pytest.mark.timeout(280)
LIMIT = 240.0  # seconds that a busy machine may take
FIELD = Scene()  # Original alone

# A process that answers as the playground does: it counts its scenes, dies in one of seed 1, says
# nothing in one of seed 2, goes on in one of seed 3 until another line comes, and prints in one of
# seed 4 what is no event.
ACTING = """
import json, os, sys, threading
lines, latest = [], threading.Condition()
def read():
    for line in sys.stdin:
        with latest:
            lines.append(json.loads(line)); latest.notify()
    os._exit(0)
threading.Thread(target=read, daemon=True).start()
done = 0
def tell(id, event):
    print(json.dumps({"id": id, "event": event}), flush=True)
while True:
    with latest:
        latest.wait_for(lambda: len(lines) > done)
        done = len(lines); asked = lines[-1]
    if asked["scene"] is None:
        continue
    tell(asked["id"], {"kind": "scene", "number": done, "process": os.getpid()})
    seed = asked["scene"]["seed"]
    if seed == 1:
        os._exit(3)
    if seed == 2:
        continue
    if seed == 3:
        with latest:
            latest.wait_for(lambda: len(lines) > done)
    if seed == 4:
        print("a library's warning", "7", '{"id": 7}', sep="\\n", flush=True)
    tell(asked["id"], {"kind": "end"})
"""


def acting(**settings: Any) -> Room:
    return Room(command=(sys.executable, "-c", ACTING), **settings)


def until(happened: Callable[[], Any]) -> Any:
    """What a condition gives once it is true."""
    ends = time.monotonic() + LIMIT
    while not (found := happened()):
        assert time.monotonic() < ends
        time.sleep(0.02)
    return found


def whole(room: Room, ticket: str) -> list[dict[str, Any]]:
    """All events of a scene."""

    def over() -> list[dict[str, Any]]:
        events = room.events(ticket)
        return events if events and events[-1]["kind"] == "end" else []

    return until(over)


@pytest.fixture
def room() -> Iterator[Room]:
    room = acting()
    yield room
    room.close()


def test_events_come_from_a_number_on_and_stay(room: Room) -> None:
    ticket = room.submit(Scene(seed=5), "a")
    events = whole(room, ticket)
    assert room.events(ticket, 1) == events[1:] and room.events(ticket, 2) == []
    assert room.submit(Scene(seed=5), "b") == ticket
    assert room.events(ticket) == events  # not played again


def test_what_nobody_wants_any_more_is_ended(room: Room) -> None:
    long = room.submit(Scene(seed=3), "a")
    until(lambda: room.events(long))
    assert room.submit(Scene(seed=3), "b") == long
    other = room.submit(Scene(seed=6), "a")
    assert room.events(long)[-1]["kind"] == "scene"  # b looks at it still
    last = room.submit(Scene(seed=7), "b")
    assert whole(room, other) and whole(room, last)
    assert room.knows(last) and not room.knows(long)
    gone = room.events(long, 9)
    assert [event["kind"] for event in gone] == ["error", "end"]


def test_readers_whose_scene_is_over_are_not_kept(room: Room) -> None:
    for number in range(50):
        whole(room, room.submit(FIELD, f"a {number}"))
    long = room.submit(Scene(seed=3), "b")
    room.submit(Scene(seed=3), "c")
    assert room._wishes == {"b": long, "c": long}
    room.submit(Scene(seed=6), "b")
    assert room.knows(long)  # c looks at it still
    whole(room, room.submit(Scene(seed=6), "c"))
    assert not room.knows(long)
    until(lambda: not room._wishes)


def test_original_is_trained_to_its_end_for_the_scene_that_needs_it(room: Room) -> None:
    field = room.submit(Scene(seed=3), "a")
    until(lambda: room.events(field))
    waiting = room.submit(Scene(seed=4), "b")
    first = room.submit(Scene(seed=3, forget=(0,)), "a")
    # it goes before those who only look, and what it is made of is not thrown away
    assert (room.ahead(first), room.ahead(waiting)) == (1, 2)
    assert [event["kind"] for event in room.events(field)] == ["scene"]
    room.submit(Scene(seed=9, forget=(0,)), "a")
    assert [event["kind"] for event in room.events(first)] == ["error", "end"]


def test_a_scene_that_nobody_looks_at_is_ended() -> None:
    room = acting(forgotten=0.5)
    try:
        left = room.submit(Scene(seed=3), "a")
        until(lambda: left not in room._playing)
        assert whole(room, room.submit(Scene(seed=8), "b"))
    finally:
        room.close()


def test_a_scene_in_which_the_process_dies_says_so_and_can_be_asked_for_again(room: Room) -> None:
    before = whole(room, room.submit(Scene(seed=5), "a"))[0]["process"]
    events = whole(room, room.submit(Scene(seed=1), "a"))
    assert [event["kind"] for event in events] == ["scene", "error", "end"]
    after = whole(room, room.submit(Scene(seed=9), "a"))[0]["process"]
    assert after != before
    again = whole(room, room.submit(Scene(seed=1), "a"))
    assert again[0]["process"] != events[0]["process"]


def test_a_process_that_hangs_is_replaced() -> None:
    room = acting(silence=1.0)
    try:
        events = whole(room, room.submit(Scene(seed=2), "a"))
        assert [event["kind"] for event in events] == ["scene", "error", "end"]
        assert whole(room, room.submit(Scene(seed=5), "a"))[0]["process"] != events[0]["process"]
    finally:
        room.close()


def test_only_so_many_wait_and_only_the_latest_stay() -> None:
    room = acting(most_waiting=2, kept=3)
    try:
        long = room.submit(Scene(seed=3), "a")
        until(lambda: room.events(long))
        waiting = [room.submit(Scene(seed=10 + number), f"b{number}") for number in range(2)]
        assert [room.ahead(ticket) for ticket in [long, *waiting]] == [0, 1, 2]
        with pytest.raises(BadValue):
            room.submit(Scene(seed=20), "c")
        instead = room.submit(Scene(seed=20), "b1")  # in the place of that reader's own
        room.submit(Scene(seed=10), "a")
        for ticket in (waiting[0], instead):
            whole(room, ticket)
        for seed in range(30, 34):
            latest = room.submit(Scene(seed=seed), "d")
            whole(room, latest)
        assert len(room._playing) <= 4 and latest in room._playing
        assert room.events(waiting[0])[0]["kind"] == "error"
    finally:
        room.close()
