"""The playground's scenes in an address: what is written is read again, and bad input is a
sentence.
"""

from __future__ import annotations

import pytest

from dashboard.frames import playground as frames
from mucore.errors import BadValue, MucoreError
from mucore.playground.scene import PRESETS, points_of

# on three of the 256 places of an axis
OWN = [[-0.498, 0.498, 0], [0.9922, -1.0, 1], [0.0039, 0.0039, 3]]


def of_ones_own(**changes: object) -> frames.Draft:
    return {**frames.preset_draft(PRESETS[0].id), "preset": None, **changes}


@pytest.mark.parametrize("preset", [one.id for one in PRESETS])
def test_an_address_says_a_preset_by_its_id_and_a_scene_of_ones_own_in_full(preset):
    draft = frames.preset_draft(preset)
    assert frames.to_query(draft, played=False) == {"preset": preset}
    assert frames.from_query({"preset": preset}) == draft
    assert frames.scene_of(draft) == next(one.scene for one in PRESETS if one.id == preset)
    free = {**draft, "preset": None, "seed": 5, "noise": 0.21}
    assert frames.from_query(frames.to_query(free, played=True)) == free
    assert frames.to_query(free, played=True)["played"] == "1"


def test_own_points_come_back_from_an_address_as_they_were_drawn():
    draft = of_ones_own(points="own", own=OWN, forget=[2], methods=[])
    query = frames.to_query(draft, played=False)
    assert frames.from_query(query) == draft and frames.points_in(draft) == OWN
    assert len(query["own"]) == 4 * len(OWN)
    with pytest.raises(BadValue):
        frames.from_query({**query, "own": query["own"][:-2]})
    with pytest.raises(MucoreError):  # three classes of which one has no number
        frames.scene_of(draft)


@pytest.mark.parametrize(
    ("ids", "text"), [([], ""), ([7], "7"), ([9, 3, 7, 8], "3,7-9"), (range(240), "0-239")]
)
def test_spans_of_points(ids, text):
    assert frames.spans(ids) == text and frames.from_spans(text) == sorted(ids)


@pytest.mark.parametrize("text", ["1-", "-3", "x", "1;2", "99999999", "1--2", "²"])
def test_numbers_that_are_none_are_refused(text):
    with pytest.raises(BadValue, match="3,7-9"):
        frames.from_spans(text)


def test_what_an_address_does_not_know_falls_back_or_is_told():
    first = frames.preset_draft(PRESETS[0].id)
    assert frames.from_query({}) == frames.from_query({"preset": "no such"}) == first
    with pytest.raises(BadValue):
        frames.from_query({"points": "cubes"})
    with pytest.raises(BadValue):
        frames.from_query({"points": "moons", "noise": "nan"})
    kept = frames.from_query({"points": "moons", "forget": "0,239-9000"})
    assert kept["forget"] == [0, 239]  # those that there are


@pytest.mark.parametrize("content", [None, [], "x", {"points": 3}, {"own": [[0, 0]]}])
def test_what_a_browser_sends_is_looked_at(content):
    with pytest.raises(BadValue):
        frames.drafted(content)


def test_a_preset_that_was_changed_is_a_scene_of_ones_own():
    draft = frames.preset_draft("outlier")
    changed = frames.drafted({**draft, "preset": None, "methods": ["scrub"]})
    assert changed == {**draft, "preset": None, "methods": ["scrub"]}
    assert [pick.id for pick in frames.scene_of(changed).methods] == ["scrub"]
    assert frames.points_in(changed) == points_of(frames.scene_of(changed))
