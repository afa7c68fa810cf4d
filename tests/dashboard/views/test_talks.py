"""A lesson held before a room: votes, the presenter's reveal, who follows, and how to join."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from builders import make_result
from pages import lines_with, open_page, words_on
from streamlit.testing.v1 import AppTest

from dashboard import access, room
from dashboard.lessons import LESSONS, ballots
from mucore.errors import BadValue, ReadOnly
from mucore.runner.grid import expand, parse_grid
from mucore.store import Talk, open_store

FIRST = LESSONS["forget-one-class"]
opened = partial(open_page, "lessons")
Be = Callable[..., None]


def fill(home: Path) -> None:
    """Results of all runs of the first lesson."""
    with open_store(home) as store:
        for spec in expand(parse_grid(FIRST.grid))[0]:
            store.put_result(make_result(spec, metrics={"fa": 0.1, "ra": 0.9, "ta": 0.8}))


def button(at: AppTest, key: str) -> Any:
    return next(one for one in at.button if one.key == key)


@pytest.fixture
def be(become: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> Be:
    """Be the "presenter", or a reader of that name, from now on."""
    become("guest")
    room._seen.clear()
    readers: dict[str, str] = {}

    def be(who: str) -> None:
        if who == "presenter":
            shown = {access.cookie(): "k" * 43}
        elif who == "nobody":
            shown = {}
        else:
            shown = {access.reader_cookie(): readers.setdefault(who, access.new_reader())}
        monkeypatch.setattr(type(st.context), "cookies", property(lambda _: shown))

    return be


def held(home: Path) -> Talk | None:
    with open_store(home) as store:
        return store.talk(access.room())


def at_step(home: Path) -> tuple[str, int] | None:
    found = held(home)
    return None if found is None else (found.lesson, found.step)


def votes(home: Path, question: str) -> dict[str, int]:
    with open_store(home) as store:
        return store.votes(access.room(), question)


def hold(be: Be, step: int = 2) -> AppTest:
    be("presenter")
    at = opened(lesson=FIRST.id, step=str(step))
    return button(at, "hold").click().run()


def vote(at: AppTest, value: int | str) -> AppTest:
    if isinstance(value, int):
        at.slider[0].set_value(value)
    else:
        at.radio[0].set_value(value)
    return next(one for one in at.button if one.label.startswith("Send")).click().run()


# --- what may be voted


def test_every_question_of_the_lessons_can_be_voted_on():
    for lesson in LESSONS.values():
        found = ballots.ballots(lesson)
        asked = [step.guess for step in lesson.steps if step.guess is not None]
        assert len(found) == len(asked) + len(lesson.check)
        for name, ballot in found.items():
            assert ballot.name == name and not ballot.takes("")
            for choice in ballot.options or ("0", "7", "100"):
                assert ballot.takes(choice) and ballot.title(choice)


@pytest.mark.parametrize("choice", ["101", "5.0", "duck"])
def test_an_estimate_is_a_whole_number_of_percent(choice):
    assert not ballots.Ballot("2", {}).takes(choice)


def test_votes_are_counted_in_bars_of_ten_percent_and_the_right_one_is_marked():
    bins = ballots.tally(ballots.Ballot("2", {}), {"0": 2, "9": 1, "10": 1, "100": 4, "90": 1})
    assert [one.count for one in bins] == [3, 1, 0, 0, 0, 0, 0, 0, 0, 5]
    assert all(one.right is None and not one.mine for one in bins)
    shown = ballots.tally(ballots.Ballot("2", {}), {"0": 2}, answers={"0"}, mine="95")
    assert [one.right for one in shown] == [True] + 9 * [False]
    assert [one.mine for one in shown] == 9 * [False] + [True]
    unknown = ballots.tally(ballots.Ballot("2", {"a": "A", "b": "B"}), {"b": 3}, answers=set())
    assert [(one.count, one.right) for one in unknown] == [(0, None), (3, None)]


# --- the room


def test_the_presenter_counts_raised_hands(home, be):
    fill(home)
    guesses = ((number, step.guess) for number, step in enumerate(FIRST.steps, 1) if step.guess)
    number, options = next((number, one.options) for number, one in guesses if one.options)
    at = hold(be, number)
    asked = [one for one in at.number_input if one.label in options.values()]
    assert len(asked) == len(options)
    asked[0].set_value(7)
    next(one for one in at.button if one.label.startswith("Count these")).click().run()
    assert votes(home, str(number)) == {next(iter(options)): 7}
    next(one for one in at.button if one.label == "Vote again").click().run()
    assert votes(home, str(number)) == {}
    assert votes(home, f"{number} first") == {next(iter(options)): 7}
    next(one for one in at.button if one.label == "Reveal").click().run()
    assert not at.exception
    (table,) = [one.value for one in at.dataframe if "Before" in one.value]
    assert table["Before"].tolist()[0] == 7 and table["Votes"].sum() == 0


def test_the_presenter_holds_a_lesson_and_takes_the_room_along(home, be):
    fill(home)
    at = hold(be)
    assert held(home) == Talk(lesson=FIRST.id, step=2, source="own", revealed=frozenset())
    button(at, "next").click().run()
    assert held(home) == Talk(lesson=FIRST.id, step=3, source="own", revealed=frozenset())
    # a tab that stayed where it was leaves the room where it is, another lesson does too
    other = opened(lesson=FIRST.id, step="1")
    at.run()
    assert at_step(home) == (FIRST.id, 1)
    other = opened(lesson="backdoor", step="1")
    assert at_step(home) == (FIRST.id, 1)
    button(other, "end_talk").click().run()
    assert held(home) is None


def test_a_readers_page_hears_that_the_presenter_moved_and_is_counted_while_it_looks(
    home, be, monkeypatch
):
    fill(home)
    clock = [1000.0]
    monkeypatch.setattr(room.time, "monotonic", lambda: clock[0])
    presenter = hold(be)
    be("ada")
    opened(follow="1")
    (page,) = room._seen
    before = room.news(page, FIRST.id, follows=True)
    assert before == room.place(held(home), FIRST.id, follows=True) and room.readers() == 1
    be("presenter")
    button(presenter, "next").click().run()
    be("ada")
    assert room.news(page, FIRST.id, follows=True) != before
    # on their own: the step of another is no news, an answer to a question of theirs is
    alone = room.news(page, FIRST.id, follows=False)
    be("presenter")
    button(presenter, f"reveal:{FIRST.id}:3").click().run()
    be("ada")
    assert room.news(page, FIRST.id, follows=False) != alone
    assert room.news(page, "backdoor", follows=False) == FIRST.id
    assert room.news("another", FIRST.id, follows=True) == ""
    clock[0] += room.GONE + 1
    assert room.readers() == 0
    room.news(page, FIRST.id, follows=True)  # a phone that wakes up
    assert room.readers() == 1


# --- votes


def test_readers_vote_the_presenter_reveals_and_all_see_the_answer(home, be):
    fill(home)
    presenter = hold(be)
    be("ada")
    ada = opened(follow="1")
    assert not ada.get("plotly_chart")  # the outcome waits
    ada = vote(ada, 40)
    assert any("40 %" in line for line in lines_with(ada, "You said"))
    ada = vote_later(ada, 10)
    be("bob")
    bob = vote(opened(follow="1"), 90)
    assert votes(home, "2") == {"10": 1, "90": 1}
    be("presenter")
    presenter.run()
    assert any("2 votes" in line for line in words_on(presenter).splitlines())
    assert not any(one.label.startswith("Send") for one in presenter.button)
    button(presenter, f"reveal:{FIRST.id}:2").click().run()
    assert held(home) == Talk(lesson=FIRST.id, step=2, source="own", revealed=frozenset({"2"}))
    assert len(presenter.get("plotly_chart")) == 3  # the votes, the step's figure, one for phones
    for who, at, told in (("ada", ada, "10 %"), ("bob", bob, "90 %")):
        be(who)
        at.run()
        assert len(at.get("plotly_chart")) == 3
        assert not any(one.label.startswith("Send") for one in at.button)
        assert any(told in line for line in lines_with(at, "You said"))
    be("late")
    assert len(opened(follow="1").get("plotly_chart")) == 3
    assert votes(home, "2") == {"10": 1, "90": 1}


def vote_later(at: AppTest, value: int | str) -> AppTest:
    """Once more after the second in which a reader votes once."""
    from dashboard import data

    data.ballot_box()._taken.clear()
    return vote(at, value)


def test_nothing_is_revealed_that_did_not_run(home, be):
    assert button(hold(be), f"reveal:{FIRST.id}:2").disabled


def test_all_questions_of_check_yourself_show_that_nobody_has_voted_yet(home, be):
    assert len(hold(be, FIRST.length).get("plotly_chart")) == len(FIRST.check)


# --- what messages cannot do


def test_a_vote_is_a_known_choice_of_a_known_question(home, be):
    hold(be)
    be("ada")
    for question, choice in (
        ("1", "5"),
        ("9", "5"),
        ("2", "101"),
        ("2", "duck"),
        ("4", "x"),
        ("check 1", "0"),
    ):
        with pytest.raises(BadValue):
            room.cast(FIRST, question, choice)
    with pytest.raises(BadValue, match="Nobody asks"):
        room.cast(LESSONS["backdoor"], "check 1", "1")
    assert {name: votes(home, name) for name in ("1", "2", "4", "9", "check 1")} == dict.fromkeys(
        ("1", "2", "4", "9", "check 1"), {}
    )


def test_a_reader_cannot_move_a_talk_or_end_it(home, be):
    hold(be)
    be("ada")
    at = opened(lesson=FIRST.id, step="4")
    assert not {"hold", "end_talk", f"reveal:{FIRST.id}:4"} & {one.key for one in at.button}
    before = held(home)
    for call in (lambda: room.hold(FIRST, 1), room.end, lambda: room.reveal("2")):
        with pytest.raises(ReadOnly):
            call()
    assert held(home) == before


def test_names_of_voters_tell_nobody_and_cannot_be_made_up(be):
    be("ada")
    name = access.voter("a 2")
    assert name == access.voter("a 2") != access.voter("a 3") and len(name) == 32
    cookie = st.context.cookies[access.reader_cookie()]
    assert cookie not in name and access.is_reader(cookie)
    be("bob")
    assert access.voter("a 2") != name
    number, _, sign = cookie.partition(".")
    for forged in ("", number, f"{number}.", f"x{number}.{sign}", f"{number}.{sign}x", "\ud800.é"):
        assert not access.is_reader(forged)
    be("nobody")
    assert access.voter("a 2") == ""


@pytest.mark.parametrize(
    ("user", "voter"),
    [
        ({"is_logged_in": True, "sub": "1", "email": "ada@example.org"}, True),
        ({"is_logged_in": True, "email": "ada@example.org"}, True),
        ({"is_logged_in": "true", "email": "ada@example.org"}, False),
        ({"is_logged_in": False, "email": "ada@example.org"}, False),
        ({}, False),
    ],
)
def test_where_people_log_in_a_person_has_a_vote(user, voter, monkeypatch):
    monkeypatch.setattr(access, "_server", access._Server("login", "", behind_door=True))
    monkeypatch.setattr(st, "user", user)
    assert bool(access.voter("a 2")) == voter
    first = access.voter("a 2")
    monkeypatch.setattr(access, "_server", access._Server("login", "", behind_door=True))
    assert not voter or access.voter("a 2") != first  # another start, another name


# --- how to join


def test_the_presenter_shows_the_rooms_address_as_a_code(home, be, monkeypatch):
    be("presenter")
    monkeypatch.setattr(type(st.context), "url", property(lambda _: "https://a.example/b/lessons"))
    at = opened(join="1")
    assert "a.example/b/j" in at.title[1].value.replace("\\", "")
    (image,) = at.get("image")
    assert "https://a.example/b/j" in image.proto.imgs[0].alt
    be("ada")
    assert not opened(join="1").get("image")  # no numbers of this machine for readers
