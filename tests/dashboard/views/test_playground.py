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

OPENED = frames.preset_draft(frames.OPENS_ON)
CHOOSING = {"points": "moons"}  # the address of a reader who has chosen nothing yet


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


def test_the_page_opens_on_an_example_that_is_played(room, opened):
    data = opened()
    assert data["scene"] == data["run"]["scene"] == OPENED and not data["run"]["field"]
    assert data["points"] == frames.points_in(OPENED) and room.looked == []
    assert [scene for scene, _ in room.asked] == [frames.scene_of(OPENED)]
    assert [one["id"] for one in data["presets"]] == [one.id for one in PRESETS]
    assert [one["id"] for one in data["methods"]] == list(METHODS)
    assert not data["fixed"]


def test_forget_plays_the_scene_and_the_address_says_so(room, ask, opened):
    at = open_page("playground", **CHOOSING)
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
    assert again["scene"] == scene and again["run"]["scene"] == scene
    assert not again["run"]["field"]


def test_original_is_seen_before_anything_is_forgotten(room, ask):
    at, bare = open_page("playground", **CHOOSING), PRESETS[0].scene.bare
    data = ask(at, {"what": "events", "after": 0})
    assert set(room.looked) == {bare} and room.asked == []
    assert {e["who"] for e in data["run"]["events"] if "who" in e} == {"original"}
    # who only chooses other points to forget sees the same, and who moves the points others
    scene = {**data["scene"], "preset": None, "forget": [1, 2]}
    assert ask(at, {"what": "scene", "scene": scene, "revision": 1})["run"]["field"]
    assert set(room.looked) == {bare}
    data = ask(at, {"what": "scene", "scene": {**scene, "noise": 0.2}, "revision": 2})
    assert data["run"]["scene"]["noise"] == room.looked[-1].noise == 0.2
    # while too few own points are there, there is nothing to train on
    own = {**scene, "points": "own", "own": [[0, 0, 0]], "forget": []}
    assert ask(at, {"what": "scene", "scene": own, "revision": 3})["run"] is None


def test_a_scene_that_cannot_be_played_is_told_in_a_sentence(room, ask, monkeypatch):
    at = open_page("playground", **CHOOSING)
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


def test_a_guest_plays_and_is_answered_less_often(room, become, ask, opened):
    become("presenter")
    quick = opened(preset="outlier")["pause"]
    become("guest")
    at = open_page("playground", preset="outlier")
    scene = frames.preset_draft("outlier")
    data = ask(at, {"what": "forget", "scene": scene, "revision": 1})
    assert data["run"]["events"][0]["kind"] == "scene"
    assert data["pause"] > quick and len(room.asked) == 1


def test_a_setting_is_changed_in_a_window_and_goes_back(room, ask, playground):
    at = open_page("playground", preset="outlier")
    draft = frames.preset_draft("outlier")
    usual = frames.usual(draft, "finetune")
    ask(at, {"what": "forget", "scene": draft, "revision": 1})
    ask(at, {"what": "settings", "method": "finetune", "scene": draft, "revision": 1})
    assert address(at, "played") == "1"  # to look is no change
    field = at.text_input(key="url:finetune.lr")
    assert float(field.value or "") == usual["lr"]
    at = field.set_value("0.02").run()
    assert not at.exception and address(at, "finetune.lr") == "0.02"
    data = ask(at, {"what": "events", "after": 0})
    assert (
        data["scene"]["settings"] == {"finetune": {"lr": 0.02}} and data["scene"]["preset"] is None
    )
    # what is shown was played without it, and nothing is played before Forget
    assert (
        data["run"]["scene"] == draft and len(room.asked) == 1 and "played" not in at.query_params
    )
    ask(at, {"what": "forget", "scene": data["scene"], "revision": 2})
    (_, (scene, _)) = room.asked
    assert scene.methods[0].parameters == {"lr": 0.02}
    ask(at, {"what": "settings", "method": "finetune", "scene": data["scene"], "revision": 2})
    at = next(one for one in at.button if one.label.startswith("Back to")).click().run()
    assert not at.exception and "finetune.lr" not in at.query_params
    assert float(at.text_input(key="url:finetune.lr").value or "") == usual["lr"]
