"""Looks at the models of a scene: which frame is theirs at a moment, and how far from Retrain."""

from __future__ import annotations

import base64

import numpy as np
import pytest
from playing import STEPS, events_of

from dashboard.frames import playground_events as frames
from mucore.playground.scene import PRESETS

SCENE = PRESETS[0].scene


def frame(who: str, share: float, grid: list[list[int]]) -> dict[str, object]:
    """A frame of 2 x 1 places of two classes would not be square: `grid` has four of them."""
    content = base64.b64encode(np.array(grid, np.uint8).tobytes()).decode()
    numbers = {"fa": share, "ra": 1.0, "ta": 0.5, "mia": None}
    step = round(10 * share)
    return {
        "kind": "frame",
        "who": who,
        "step": step,
        "of": 10,
        "share": share,
        "grid": content,
        "numbers": numbers,
    }


def by_hand() -> list[dict[str, object]]:
    sure, half, none = [[255, 0]] * 4, [[128, 127]] * 4, [[0, 255]] * 4
    away = {"mean": 1.0, "at_forget": 0.25}
    return [
        {"kind": "scene", "classes": 2},
        frame("original", 1.0, sure),
        {"kind": "done", "who": "original", "seconds": 1.0, "difference": None},
        frame("retrain", 1.0, none),
        {
            "kind": "done",
            "who": "retrain",
            "seconds": 2.0,
            "difference": {"mean": 1.0, "at_forget": 0.75},
        },
        frame("finetune", 0.0, sure),
        frame("finetune", 0.5, half),
        frame("finetune", 1.0, none),
        {"kind": "done", "who": "finetune", "seconds": 3.0, "difference": away},
        {"kind": "error", "who": "ssd", "sentence": "It came to nothing."},
        {"kind": "end"},
    ]


def test_a_method_is_seen_at_the_moment_and_the_references_at_their_end():
    original, retrain, method, failed = frames.looks(by_hand(), 0.7)
    assert (original.who, retrain.who, failed.error) == (
        "original",
        "retrain",
        "It came to nothing.",
    )
    assert (method.step, method.of, method.last) == (5, 10, False)
    assert method.mean == pytest.approx(128 / 255) and method.at_forget is method.seconds is None
    assert retrain.mean is retrain.at_forget is None
    assert (original.mean, original.at_forget) == (1.0, 0.75)
    last = frames.looks(by_hand())[2]
    assert (last.mean, last.at_forget, last.seconds, last.last) == (0, 0.25, 3.0, True)
    assert frames.looks(by_hand(), 0.0)[2].step == 0


def test_numbers_stand_in_tables_as_the_stage_writes_them():
    table = frames.table(frames.looks(by_hand(), 0.5))
    assert list(table["Model"]) == ["Original", "Retrain", "Fine-tune"]
    assert list(table["Steps"]) == ["10 of 10", "10 of 10", "5 of 10"]
    assert list(table["Forgotten points correct"]) == ["100 %", "100 %", "50 %"]
    assert list(table["From Retrain, everywhere"]) == ["100 %", "–", "50 %"]
    running = frames.running(by_hand())
    assert list(running["Step"]) == ["0 of 10", "5 of 10", "10 of 10"]


def test_every_model_of_a_scene_has_a_look():
    events = list(events_of(SCENE))
    looks = frames.looks(events)
    assert [look.who for look in looks] == [
        "original",
        "retrain",
        *(pick.id for pick in SCENE.methods),
    ]
    assert all(look.step == STEPS and look.grid.shape == (8, 8, 2) for look in looks)
    (alone,) = frames.looks(events_of(SCENE.bare))
    assert alone.who == "original" and alone.mean is None
