"""The playground's scenes in an address: what is written is read again, and bad input is a
sentence.
"""

from __future__ import annotations

import pytest
from facts import tells

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
    first = frames.preset_draft(frames.OPENS_ON)
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


@pytest.mark.parametrize(
    ("name", "entry", "most", "kept"),
    [("own", [0.1, 0.2, 0], 400, 400), ("forget", 3, 10_000, 1), ("methods", "ssd", 3, 3)],
)
def test_a_draft_is_no_longer_than_a_scene_can_be(name, entry, most, kept):
    content = {"points": "own" if name == "own" else "moons"}
    assert len(frames.drafted(content | {name: [entry] * most})[name]) == kept
    for many in (most + 1, 500_000):
        with pytest.raises(BadValue) as refused:
            frames.drafted(content | {name: [entry] * many})
        assert tells(str(refused.value), name, f"{most:,}", f"{many:,}")


def test_a_preset_that_was_changed_is_a_scene_of_ones_own():
    draft = frames.preset_draft("outlier")
    changed = frames.drafted({**draft, "preset": None, "methods": ["scrub"]})
    assert changed == {**draft, "preset": None, "methods": ["scrub"]}
    assert [pick.id for pick in frames.scene_of(changed).methods] == ["scrub"]
    assert frames.points_in(changed) == points_of(frames.scene_of(changed))


def test_settings_that_differ_from_the_playgrounds_stand_in_the_address():
    draft = frames.preset_draft("outlier")
    usual = frames.usual(draft, "finetune")
    given = {"finetune": {"lr": 0.015, "epochs": usual["epochs"]}, "scrub": {"lr": 1}}
    changed = frames.drafted({**draft, "preset": None, "settings": given})
    assert changed["settings"] == {"finetune": {"lr": 0.015}}  # and of methods that are chosen
    query = frames.to_query(changed, played=False)
    assert {name: query[name] for name in query if "." in name} == {"finetune.lr": "0.015"}
    assert frames.from_query(query) == changed
    # an example with other settings is none any more
    assert frames.from_query({"preset": "outlier", "finetune.lr": "0.015"}) == changed
    assert frames.from_query({"preset": "outlier", "scrub.lr": "1"}) == draft
    (pick, *_) = frames.scene_of(changed).methods
    assert (pick.id, pick.parameters) == ("finetune", {"lr": 0.015})
    assert frames.bare(changed)["settings"] == {}


@pytest.mark.parametrize("text", ["-1", "fast", "nan"])
def test_a_setting_that_is_none_is_refused_in_a_sentence(text):
    with pytest.raises(BadValue, match="Fine-tune: lr"):
        frames.from_query({"preset": "outlier", "finetune.lr": text})
    with pytest.raises(BadValue, match="lr"):
        frames.from_query({"preset": "outlier", "finetune.rl": text})


def test_switches_and_lists_come_back_from_an_address():
    draft = {**frames.preset_draft("class"), "preset": None, "methods": ["pseudo_labels", "scrub"]}
    flipped = not frames.usual(draft, "pseudo_labels")["nesterov"]
    settings = {"pseudo_labels": {"nesterov": flipped}, "scrub": {"milestones": [2, 4]}}
    changed = frames.drafted({**draft, "settings": settings})
    assert changed["settings"] == settings
    assert frames.from_query(frames.to_query(changed, played=True)) == changed
