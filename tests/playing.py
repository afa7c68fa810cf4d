"""A room for the playground's pages that answers at once, in the format of the real one, and a
stage without a browser.

The room's models are the simplest that have a decision field: how likely a class is falls with the
distance to the mean of its points. Original's means are of all points, Retrain's of those that
stay, and a method walks from the one to the other.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import streamlit as st
from streamlit.testing.v1 import AppTest

from mucore.playground.scene import Scene, points_of

SIDE = 8  # cells of a grid along an axis
STEPS = 4  # of a method


def _means(train: np.ndarray, classes: int) -> np.ndarray:
    found = [train[train[:, 2] == each, :2] for each in range(classes)]
    # a class that is gone is nowhere near
    return np.stack([each.mean(axis=0) if len(each) else np.full(2, 9.0) for each in found])


def _field(means: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Probabilities (n, C) at places (n, 2)."""
    weight = np.exp(-4 * ((places[:, None] - means) ** 2).sum(axis=2))
    return weight / weight.sum(axis=1, keepdims=True)


def _numbers(
    means: np.ndarray, train: np.ndarray, forgotten: np.ndarray
) -> dict[str, float | None]:
    right = _field(means, train[:, :2]).argmax(axis=1) == train[:, 2]
    return {
        "fa": float(right[forgotten].mean()) if forgotten.any() else None,
        "ra": float(right[~forgotten].mean()),
        "ta": float(right.mean()),
        "mia": 0.5 if forgotten.any() else None,
    }


def _frame(who: str, means: np.ndarray, step: int, numbers: dict[str, Any]) -> dict[str, Any]:
    axis = np.linspace(-1, 1, SIDE)
    places = np.stack([np.tile(axis, SIDE), np.repeat(axis[::-1], SIDE)], axis=1)
    grid = np.rint(255 * _field(means, places)).astype(np.uint8)
    return {
        "kind": "frame",
        "who": who,
        "step": step,
        "of": STEPS,
        "share": step / STEPS,
        "grid": base64.b64encode(grid.tobytes()).decode(),
        "numbers": numbers,
    }


def events_of(scene: Scene) -> Iterator[dict[str, Any]]:
    """All events of a scene, from its points to its end."""
    train = np.array(points_of(scene), float)
    classes = int(train[:, 2].max()) + 1
    forgotten = np.isin(np.arange(len(train)), scene.forget)
    yield {
        "kind": "scene",
        "train": train.tolist(),
        "test": train.tolist(),
        "forget": [*scene.forget],
        "classes": classes,
    }
    ends = {"original": _means(train, classes), "retrain": _means(train[~forgotten], classes)}
    if not scene.forget:
        del ends["retrain"]
    for who in (*ends, *(pick.id for pick in scene.methods)):
        for step in range(STEPS + 1):
            share = step / STEPS
            if who in ends:
                means = ends[who]
            else:
                means = (1 - share) * ends["original"] + share * ends["retrain"]
            numbers = _numbers(means, train, forgotten)
            yield _frame(who, means, step, numbers)
        away = None
        if scene.forget:  # of Retrain: how far the original is from it
            base = _field(ends["original" if who == "retrain" else "retrain"], train[:, :2])
            gap = np.abs(_field(means, train[:, :2]) - base).sum(axis=1) / 2
            away = {"mean": float(gap.mean()), "at_forget": float(gap[forgotten].mean())}
        yield {"kind": "done", "who": who, "seconds": 0.1, "numbers": numbers, "difference": away}
    yield {"kind": "end"}


class QuickRoom:
    """Has every scene's events as soon as it is asked for; `asked` are the scenes in which
    something is forgotten and by whom, once each; `looked` those that show Original alone.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[Scene, str]] = []
        self.looked: list[Scene] = []
        self.kept: dict[str, list[Mapping[str, Any]]] = {}

    def submit(self, scene: Scene, who: str) -> str:
        if not scene.forget:
            self.looked.append(scene)
            ticket = f"field {len(self.looked)}"
        else:
            if (scene, who) not in self.asked:
                self.asked.append((scene, who))
            ticket = f"{1 + self.asked.index((scene, who))}"
        self.kept[ticket] = list(events_of(scene))
        return ticket

    def events(self, ticket: str, after: int = 0) -> list[Mapping[str, Any]]:
        return self.kept[ticket][after:]

    def knows(self, ticket: str) -> bool:
        return ticket in self.kept

    def ahead(self, ticket: str) -> int:
        return 0


class Stage:
    """In the place of what a browser draws: a button that asks for whatever the test wants."""

    def __init__(self) -> None:
        self.shown: dict[str, dict[str, Any]] = {}  # what each stage was drawn from, by its key
        self.asks: Any = None

    def mount(self, data: dict[str, Any], key: str, on_ask: Callable[[Any], None]) -> None:
        self.shown[key] = json.loads(json.dumps(data))
        st.button("ask", key=f"ask:{key}", on_click=lambda: on_ask(self.asks))

    def ask(self, at: AppTest, asked: Any, key: str) -> dict[str, Any]:
        """What the stage of that key is drawn from after it has asked for something."""
        self.asks = asked
        at.button(key=f"ask:{key}").click().run()
        assert not at.exception and not at.error
        return self.shown[key]
