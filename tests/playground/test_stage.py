"""Scenes played: the real trainings and methods, what frames say, and what presets teach."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mucore import catalog, training
from mucore.errors import Cancelled
from mucore.playground import METHODS, PRESETS, SETTINGS, Scene
from mucore.playground.stage import FRAMES, GRID, Playing, Stage, _numbers, _variation

BY_ID = {preset.id: preset for preset in PRESETS}
# class 0 above class 1; class 2 to the right of both
OWN = [
    *([x / 10, y / 10, 0] for x in range(-8, 1) for y in (6, 8)),
    *([x / 10, -y / 10, 1] for x in range(-8, 1) for y in (6, 8)),
    *([x / 10, y / 10, 2] for y in range(-8, 9) for x in (7, 9)),
]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield Stage(tmp_path_factory.mktemp("stage"))
    torch.set_num_threads(before)


def done(events: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {event["who"]: event for event in events if event["kind"] == "done"}


def grid(event: dict[str, Any]) -> np.ndarray:
    raw = np.frombuffer(base64.b64decode(event["grid"]), np.uint8)
    return raw.reshape(GRID, GRID, -1)


@pytest.mark.slow
def test_what_was_trained_is_not_trained_again(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = done(list(stage.play(BY_ID["outlier"].scene)))

    def trained(*_: object) -> None:
        raise AssertionError("trained once more")

    monkeypatch.setattr(training, "train_original", trained)
    monkeypatch.setattr(training, "retrain", trained)
    again = done(list(stage.play(BY_ID["outlier"].scene)))
    assert first.keys() == again.keys() >= {"original", "retrain"}


def test_a_frame_has_its_first_row_at_the_top_and_its_first_column_at_the_left(
    stage: Stage,
) -> None:
    scene = Scene.read({"points": "own", "own": OWN, "noise": 0.05})
    events = list(stage.play(scene))
    assert events[0]["train"] == [[pytest.approx(v, abs=0.005) for v in each] for each in OWN]
    assert {event["who"] for event in events if event["kind"] == "frame"} == {"original"}
    last = [event for event in events if event["kind"] == "frame"][-1]
    field = grid(last)
    assert field.shape == (48, 48, 3)
    # places of columns: x = -0.5 is a quarter of the way, 0.8 nine tenths
    rows, columns = {"top": 7, "bottom": 40}, {"left": 12, "right": 42}
    assert field[rows["top"], columns["left"]].argmax() == 0
    assert field[rows["bottom"], columns["left"]].argmax() == 1
    assert field[24, columns["right"]].argmax() == 2
    assert np.abs(field.sum(axis=2).astype(int) - 255).max() <= 2  # three shares, rounded
    assert last["numbers"] == {"fa": None, "ra": 1.0, "ta": pytest.approx(1, abs=0.05), "mia": None}


def test_differences_and_numbers_by_hand() -> None:
    p = np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])
    q = np.array([[0.0, 0.5, 0.5], [1.0, 0.0, 0.0]])
    assert _variation(p, q) == 0.25  # half of (0.5 + 0 + 0.5), and 0
    sure, doubt = [0.99, 0.01], [0.6, 0.4]
    rows = {
        "forget": (np.array([sure, [0.4, 0.6]]), np.array([0, 0])),
        "retain": (np.array([sure] * 40), np.zeros(40, int)),
        "test": (np.array([doubt] * 30 + [[0.4, 0.6]] * 10), np.zeros(40, int)),
    }
    # the attack sees that members are sure: it takes the first for one, the second not
    assert _numbers(rows, 0) == {"fa": 0.5, "ra": 1.0, "ta": 0.75, "mia": 0.5}


@pytest.mark.slow
def test_events_come_in_order_and_frames_are_of_the_real_run(stage: Stage) -> None:
    scene = BY_ID["outlier"].at(1)
    events = list(stage.play(scene))
    ids = ["original", "retrain", *(pick.id for pick in scene.methods)]
    assert [event["who"] for event in events if event["kind"] == "done"] == ids
    assert events[0]["kind"] == "scene" and events[-1] == {"kind": "end"}
    json.dumps(events)
    for who in ids:
        frames = [e for e in events if e["kind"] == "frame" and e["who"] == who]
        assert 2 <= len(frames) <= FRAMES
        steps = [frame["step"] for frame in frames]
        assert steps == sorted(set(steps)) or steps == [0, 0]  # a method without steps has ends
        assert {frame["of"] for frame in frames} == {steps[-1]}
        assert frames[0]["share"] == 0 and frames[-1]["share"] == 1
        assert frames[-1]["numbers"] == done(events)[who]["numbers"]
    # the observer changed no bit
    with stage.records() as store:
        played = Playing(stage, store, scene, lambda: False)
        list(played.original())
        spec, run = played.spec.original(), played.session.run(played.spec, scene.seed)
        alone, _ = training.train_original(spec, run, played.splits)
        seen = played.start.network.state_dict()
        assert all(torch.equal(t, seen[name]) for name, t in alone.state_dict().items())
        assert played.data is not None
        retrain = training.retrain(spec.retrained(), run, played.splits, played.data.retain)
    look = played.look(retrain)
    last = [e for e in events if e["kind"] == "frame" and e["who"] == "retrain"][-1]
    assert last["grid"] == look.encoded()
    assert done(events)["retrain"]["difference"] == look.difference(
        played.look(played.start.network)
    )


def test_a_scene_ends_when_asked_and_at_its_limit(tmp_path: Path) -> None:
    stage, asked = Stage(tmp_path), []

    def cancelled() -> bool:
        asked.append(1)
        return len(asked) > 100  # it is asked at every step, and a training has 480

    events = stage.play(BY_ID["twin"].scene, cancelled=cancelled)
    assert next(events)["kind"] == "scene"
    with pytest.raises(Cancelled):
        list(events)
    assert len(asked) == 101
    late = list(stage.play(BY_ID["twin"].scene, limit=0.0))
    assert [event["kind"] for event in late] == ["scene", "error", "end"]
    assert late[1]["who"] == "original" and "0 seconds" in late[1]["sentence"]


@pytest.mark.slow
def test_what_trainings_record_goes_with_its_scene(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MUCORE_STORE_URL", f"sqlite:///{tmp_path}/shared.db")
    monkeypatch.setenv("MUCORE_ARTIFACTS", f"file://{tmp_path}/shared")
    home = tmp_path / "home"
    home.mkdir()
    stage, most = Stage(home), 0
    amnesiac = {"id": "amnesiac", "parameters": {"store": "per_step"}}
    scene = BY_ID["outlier"].at(1).model_dump(mode="json") | {"methods": [amnesiac]}
    for event in stage.play(Scene.read(scene)):
        if event.get("who") == "amnesiac":
            most = sum(file.stat().st_size for file in home.rglob("*") if file.is_file())
        assert event["kind"] != "error"
    assert most > 1_000_000 and [*tmp_path.rglob("*")] == [home]
    left = stage.play(Scene.read(scene))
    next(left)
    assert [*home.iterdir()]
    left.close()  # nobody wants it any more
    assert not [*home.iterdir()]


@pytest.mark.slow
def test_what_does_not_serve_says_so_and_the_others_go_on(stage: Stage) -> None:
    refusing = next(each for each in METHODS if not catalog.serves(catalog.method(each), "ids"))
    picks = [{"id": refusing}, {"id": "finetune"}]
    scene = BY_ID["outlier"].at(1).model_dump(mode="json") | {"methods": picks}
    events = list(stage.play(Scene.read(scene)))
    assert [e["who"] for e in events if e["kind"] == "error"] == [refusing]
    assert "finetune" in done(events)
    nothing = list(stage.play(Scene.read(scene | {"forget": []})))
    assert [e["kind"] for e in nothing[-2:]] == ["error", "end"] and "original" in done(nothing)


# -- what presets teach: 0 is Retrain everywhere, 1 its opposite


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 3])
def test_a_twin_leaves_the_plane_as_it_was_and_an_outlier_does_not(seed: int, stage: Stage) -> None:
    way = {}
    for name in ("twin", "outlier"):
        scene = BY_ID[name].at(seed).model_copy(update={"methods": ()})
        way[name] = done(list(stage.play(scene)))["retrain"]["difference"]
    assert way["twin"]["at_forget"] < 0.05 and way["twin"]["mean"] < 0.05
    assert way["outlier"]["at_forget"] > 0.5
    assert way["outlier"]["mean"] > 1.5 * way["twin"]["mean"]


@pytest.mark.slow
def test_a_defect_of_one_method_ends_neither_the_scene_nor_the_process(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real = Playing.unlearned

    def broken(self: Playing, pick: Any) -> Any:
        if pick.id == "ssd":
            raise ValueError("zip() argument 2 is shorter than argument 1")
        return real(self, pick)

    monkeypatch.setattr(Playing, "unlearned", broken)
    asked = BY_ID["outlier"].at(1).model_dump(mode="json")
    events = list(stage.play(Scene.read(asked | {"methods": [{"id": "ssd"}, {"id": "finetune"}]})))
    assert [(e["who"], "zip()" in e["sentence"]) for e in events if e["kind"] == "error"] == [
        ("ssd", True)
    ]
    assert "finetune" in done(events) and events[-1] == {"kind": "end"}
    assert any(record.exc_info for record in caplog.records)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_every_method_plays_or_says_why_not(method: str, stage: Stage) -> None:
    preset, kind = (("outlier", "few"), ("class", "many"))[METHODS.index(method) % 2]
    asked = BY_ID[preset].at(1).model_dump(mode="json") | {"methods": [{"id": method}]}
    events = list(stage.play(Scene.read(asked)))
    found = done(events).get(method)
    problems = [e["sentence"] for e in events if e["kind"] == "error"]
    assert (found is None) == bool(problems)
    setting = SETTINGS.get(method, {}).get(kind)
    if found is None:
        assert problems[0].endswith(".")
    elif setting is not None and preset in setting.left:  # the file holds what was measured
        way = done(events)["retrain"]["difference"]
        left = np.mean([found["difference"][each] / way[each] for each in way])
        # another processor rounds otherwise, and some methods then end as on another seed
        low, high = min(setting.left[preset]), max(setting.left[preset])
        room = high - low + 0.02
        assert low - room < left < high + room
