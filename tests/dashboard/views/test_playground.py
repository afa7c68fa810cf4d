"""Page Playground without a browser: what the stage gets, what it may ask for, and what becomes of
the address.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pages import open_page
from playing import QuickRoom, Stage, events_of
from streamlit.testing.v1 import AppTest

from dashboard.frames import playground as frames
from dashboard.widgets import stage
from mucore.errors import Refused
from mucore.playground.scene import METHODS, PRESETS


@pytest.fixture
def room(home: Path, playground: tuple[QuickRoom, Stage]) -> QuickRoom:
    return playground[0]


@pytest.fixture
def opened(playground: tuple[QuickRoom, Stage]) -> Callable[..., dict[str, Any]]:
    """What the stage is drawn from when the page opens with parameters."""

    def opened(**query: str) -> dict[str, Any]:
        at = open_page("playground", **query)
        assert not at.exception and not at.error
        return playground[1].shown[stage.PAGE]

    return opened


@pytest.fixture
def ask(playground: tuple[QuickRoom, Stage]) -> Callable[..., dict[str, Any]]:
    return partial(playground[1].ask, key=stage.PAGE)


def address(at: AppTest, name: str) -> str:
    found = at.query_params.get(name, "")
    return found if isinstance(found, str) else found[0]


def test_the_page_opens_on_an_example_and_plays_nothing_yet(room, opened):
    data = opened()
    assert data["scene"] == frames.preset_draft(PRESETS[0].id) and data["run"] is None
    assert data["points"] == frames.points_in(data["scene"]) and room.asked == []
    assert [one["id"] for one in data["presets"]] == [one.id for one in PRESETS]
    assert [one["id"] for one in data["methods"]] == list(METHODS)
    assert all("<svg" in one["mark"] and one["color"] for one in data["methods"])
    assert not data["fixed"]


def test_forget_plays_the_scene_and_the_address_says_so(room, ask, opened):
    at = open_page("playground")
    scene = {**frames.preset_draft("outlier"), "preset": None, "methods": ["finetune"]}
    data = ask(at, {"what": "forget", "scene": scene, "revision": 3})
    assert data["revision"] == 3 and data["scene"] == data["run"]["scene"] == scene
    events = list(events_of(frames.scene_of(scene)))
    assert data["run"]["events"] == events[: stage.MOST_EVENTS]
    assert [scene for scene, _ in room.asked] == [frames.scene_of(scene)]
    query = frames.to_query(scene, played=True)
    assert {name: address(at, name) for name in query} == query
    have = 4
    data = ask(at, {"what": "events", "after": have})
    assert (
        data["run"]["after"] == have and data["run"]["events"] == events[have:][: stage.MOST_EVENTS]
    )
    assert len(room.asked) == 1
    # somebody who opens the address sees the same
    again = opened(**query)
    assert again["scene"] == scene and again["run"]["scene"] == scene and len(room.asked) == 2


def test_a_change_moves_the_address_and_plays_nothing(room, ask):
    at = open_page("playground", preset="twin", played="1")
    assert len(room.asked) == 1
    scene = {**frames.preset_draft("class"), "preset": None, "noise": 0.2, "forget": []}
    data = ask(at, {"what": "scene", "scene": scene, "revision": 1})
    assert data["scene"] == scene and data["points"] == frames.points_in(scene)
    assert len(room.asked) == 1 and "played" not in at.query_params
    assert "preset" not in at.query_params


def test_a_scene_that_cannot_be_played_is_told_in_a_sentence(room, ask, monkeypatch):
    at = open_page("playground")
    own = [[0.0039, 0.0039, 0], [0.498, 0.498, 1]]
    scene = {**frames.preset_draft("twin"), "preset": None, "points": "own", "own": own}
    few = {**scene, "forget": [1]}
    data = ask(at, {"what": "forget", "scene": few, "revision": 1})
    assert "4 to 400" in data["problem"] and room.asked == [] and data["run"] is None
    assert data["scene"]["own"] == own  # what was drawn stays

    def full(scene: object, who: str) -> str:
        raise Refused("Many scenes wait. Try again in a while.")

    monkeypatch.setattr(room, "submit", full)
    scene = frames.preset_draft("twin")
    data = ask(at, {"what": "forget", "scene": scene, "revision": 2})
    assert "Many scenes wait" in data["problem"]


@pytest.mark.parametrize(
    "asked",
    [
        7,
        {},
        {"what": "events", "after": -1},
        {"what": "scene", "scene": "x", "revision": "y"},
        {"what": "forget", "scene": {"points": "own", "own": [[5, 5, 9]]}, "revision": 1},
        {"what": "forget", "scene": {"methods": ["../../etc/passwd"], "forget": [1]}},
    ],
)
def test_whatever_is_asked_the_page_stays(room, ask, asked):
    data = ask(open_page("playground"), asked)
    assert data["scene"] == frames.preset_draft(PRESETS[0].id) or data["problem"]
    assert room.asked == []


def test_a_damaged_address_opens_the_first_example_and_says_what_is_wrong(room, opened):
    data = opened(points="own", own="!!!", forget="0")
    assert data["scene"] == frames.preset_draft(PRESETS[0].id) and "address" in data["problem"]


def test_a_guest_plays_and_is_answered_less_often(room, become, ask, opened):
    become("presenter")
    quick = opened()["pause"]
    become("guest")
    at = open_page("playground", preset="outlier")
    scene = frames.preset_draft("outlier")
    data = ask(at, {"what": "forget", "scene": scene, "revision": 1})
    assert data["run"]["events"][0]["kind"] == "scene"
    assert data["pause"] > quick and len(room.asked) == 1


def test_start_leads_to_the_playground(home):
    at = open_page("start")
    assert "Playground" in {one.proto.label for one in at.main.get("page_link")}
