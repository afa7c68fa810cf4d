"""Replays of unlearning runs as a page shows them: accuracies, classes and probabilities at each
frame, and one or two runs on one clock. Shares are in percent. No Streamlit, no plotly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

import numpy as np
import pandas as pd

from dashboard.text.labels import THIN
from mucore import catalog
from mucore.errors import UnknownName
from mucore.metrics.accuracy import per_class

Clock = Literal["own", "seconds"]
SETS: Final = {"forget": "Forget set", "retain": "Retain set", "test": "Test set"}
METRICS: Final = {"forget": "fa", "retain": "ra", "test": "ta"}
BINS: Final = 20  # of the probability of the true class
MOST_CLASSES: Final = 10  # that bars show
TICKS: Final = 24  # moments on a clock of seconds, after the first
_FEW: Final = 1e-9
NEAREST: Final = 10  # samples of the start among which a shared map places a point


@dataclass(frozen=True, eq=False)
class Replay:
    """One run with the value of its analysis `replay` (mucore/analysis/replay.py).

    `seconds` are those of the stored run; `levels` Retrain's accuracies by set and `level_classes`
    (C,) those of the classes of the test set, in percent, NaN or missing where unknown; `names` of
    the classes by number, empty where they have none.
    """

    key: str
    title: str
    method: str
    seconds: float | None
    value: Mapping[str, Any]
    levels: Mapping[str, float]
    level_classes: np.ndarray
    names: tuple[str, ...]

    @property
    def frames(self) -> int:
        return len(self.value["steps"])

    @property
    def between(self) -> bool:
        """Whether there is anything between the start and the end."""
        return bool(self.value["between"])

    @cached_property
    def progress(self) -> np.ndarray:
        """(f,) percent of the optimiser steps; of a method without steps 0 and 100."""
        steps = np.asarray(self.value["steps"], float)
        return 100 * steps / steps[-1] if steps[-1] else np.linspace(0, 100, len(steps))

    @cached_property
    def times(self) -> np.ndarray:
        """(f,) seconds since the start, the stored run's shared out by the work done."""
        return np.asarray(self.value["work"], float) * (self.seconds or 0.0)

    def at(self, clock: Clock) -> np.ndarray:
        return self.progress if clock == "own" else self.times

    @cached_property
    def accuracy(self) -> dict[str, np.ndarray]:
        """(f,) percent right, by set."""
        return {
            name: 100
            * (self.value[f"{name}/predicted"] == self.value[f"{name}/labels"]).mean(axis=1)
            for name in SETS
        }

    @cached_property
    def class_accuracy(self) -> np.ndarray:
        """(f, C) percent of the test samples of each class that are right; NaN where the replay
        looked at none.
        """
        labels, right = (
            self.value["test/labels"],
            self.value["test/predicted"] == self.value["test/labels"],
        )
        found = np.full((self.frames, int(self.value["classes"])), np.nan)
        for label in np.unique(labels):
            found[:, label] = 100 * right[:, labels == label].mean(axis=1)
        return found

    @cached_property
    def histogram(self) -> dict[str, np.ndarray]:
        """(f, `BINS`) percent of a set whose true class has a probability in each of as many equal
        parts of 0..1.
        """
        found = {}
        for name in SETS:
            shares = np.asarray(self.value[f"{name}/probability"], float)
            bins = np.minimum((shares * BINS).astype(int), BINS - 1)
            found[name] = np.array(
                [100 * np.bincount(row, minlength=BINS) / len(row) for row in bins]
            )
        return found

    @property
    def asked(self) -> tuple[int, ...]:
        """Classes that forgotten samples are of."""
        return tuple(int(label) for label in np.unique(self.value["forget/labels"]))

    @property
    def gone(self) -> tuple[int, ...]:
        """Classes that were to be forgotten whole."""
        return tuple(int(label) for label in self.value["gone"])

    def name(self, label: int) -> str:
        return self.names[label] if label < len(self.names) else str(label)

    def shown_classes(self) -> list[int]:
        """Up to `MOST_CLASSES` in order: those gone first, then those whose accuracy moved most."""
        known = [
            label
            for label in range(self.class_accuracy.shape[1])
            if np.isfinite(self.class_accuracy[0, label])
        ]
        moved = np.ptp(self.class_accuracy, axis=0)
        first = sorted(known, key=lambda label: (label not in self.gone, -moved[label]))[
            :MOST_CLASSES
        ]
        return sorted(first)


def levels_of(metrics: Mapping[str, float | None]) -> dict[str, float]:
    """Retrain's accuracies in percent by set, from its metrics."""
    return {
        name: 100 * value
        for name, metric in METRICS.items()
        if (value := metrics.get(metric)) is not None
    }


def class_levels(confusion: Sequence | None, classes: int) -> np.ndarray:
    """(C,) percent right of each class from counts (C, C) on the test set; NaN without."""
    if confusion is None or np.ndim(confusion) != 2:
        return np.full(classes, np.nan)
    return 100 * per_class(confusion=np.asarray(confusion))


# -- a clock for one or two


@dataclass(frozen=True)
class Tick:
    """A moment of the slider: its label, where it is on the clock, and the frame that each replay
    shows.
    """

    label: str
    at: float
    frames: tuple[int, ...]


def ticks(replays: Sequence[Replay], clock: Clock) -> tuple[Tick, ...]:
    """The moments that a slider goes through. A replay shows its last frame until the next one is
    due, and waits at its end.

    By their own progress the moments are the frames of the replay that has most, and another one
    shows what it has by then, give or take half a moment. By seconds they are equally far from each
    other, or the quicker of two would seem slower than it is.
    """
    places = [replay.at(clock) for replay in replays]
    if clock == "own":
        moments = np.unique(max(places, key=len))
        slack = np.diff(moments).min() / 2
        labels = (
            [f"{moment:.0f}{THIN}%" for moment in moments]
            if any(replay.between for replay in replays)
            else ["before", "after"]
        )
    else:
        last = max(float(place[-1]) for place in places)
        moments, slack = np.linspace(0, last, TICKS + 1), _FEW
        digits = max(0, math.ceil(-math.log10(last / TICKS))) if last > 0 else 0
        labels = [f"{moment:.{digits}f}{THIN}s" for moment in moments]
    shown = [np.searchsorted(place, moments + slack, side="right") - 1 for place in places]
    return tuple(
        Tick(label, float(moment), tuple(int(frames[number]) for frames in shown))
        for number, (label, moment) in enumerate(zip(labels, moments, strict=True))
    )


# -- one map for two


@dataclass(frozen=True, eq=False)
class SharedMap:
    """Positions of the same samples in two replays that begin at the same network, in one map:
    `points` are (f, m, 2) for each replay.
    """

    points: tuple[np.ndarray, ...]


def shared_map(replays: Sequence[Replay]) -> SharedMap | None:
    """Two replays in the map of the first; None where they look at other samples, or do not begin
    at the same network.

    Each replay has a t-SNE map of its own frames, and two such maps differ by more than a turn:
    laid on each other by their common first frame they miss by 30 to 90 % of its spread. What both
    keep is which samples are near. So the first frame of the first replay is the ground, and every
    later point of either stands at the mean of its `NEAREST` samples of the start, nearest in the
    map of its own run, weighted by the inverse of the squared distance there (Shepard, A
    two-dimensional interpolation function for irregularly-spaced data, 1968).
    """
    if len(replays) != 2 or not _same_start(*replays):
        return None
    own = [np.asarray(replay.value["map/points"], float) for replay in replays]
    ground = own[0][0]
    placed = tuple(_among(points, ground) for points in own)
    return SharedMap(placed)


def _same_start(one: Replay, other: Replay) -> bool:
    """Whether both look at the same samples and their networks say the same of each at first."""
    samples = ["map/ids", "map/labels", "map/forgotten", *(f"{name}/ids" for name in SETS)]
    said = [f"{name}/{what}" for name in SETS for what in ("predicted", "probability")]
    return all(np.array_equal(one.value[name], other.value[name]) for name in samples) and all(
        np.array_equal(one.value[name][0], other.value[name][0]) for name in said
    )


def _among(points: np.ndarray, ground: np.ndarray) -> np.ndarray:
    """(f, m, 2) positions on `ground` (m, 2), where the samples stand at first, of points whose own
    map is `points` (f, m, 2).
    """
    placed = np.empty_like(points)
    placed[0] = ground
    for frame in range(1, len(points)):
        near, squared = _nearest(points[frame], points[0])
        weights = 1 / np.maximum(squared, _FEW)
        placed[frame] = (weights[..., None] * ground[near]).sum(axis=1) / weights.sum(
            axis=1, keepdims=True
        )
    return placed


def _nearest(points: np.ndarray, ground: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(m, `NEAREST`) numbers of the samples of `ground` nearest to each point, and their squared
    distances.
    """
    squared = ((points[:, None] - ground[None]) ** 2).sum(axis=-1)
    near = np.argsort(squared, axis=1, kind="stable")[:, :NEAREST]
    return near, np.take_along_axis(squared, near, axis=1)


# -- numbers


def table(replays: Sequence[Replay]) -> pd.DataFrame:
    """The numbers behind the figure: one line a run and frame, in percent."""
    made = []
    for replay in replays:
        means = {
            name: 100 * np.asarray(replay.value[f"{name}/probability"], float).mean(axis=1)
            for name in SETS
        }
        for frame in range(replay.frames):
            line: dict[str, Any] = {
                "Run": replay.title,
                "Steps": int(replay.value["steps"][frame]),
                "Steps (%)": float(replay.progress[frame]),
                "Seconds, about": float(replay.times[frame])
                if replay.seconds is not None
                else None,
            }
            line |= {
                f"{SETS[name]} accuracy (%)": float(replay.accuracy[name][frame]) for name in SETS
            }
            line |= {f"{SETS[name]} probability (%)": float(means[name][frame]) for name in SETS}
            line |= {
                f"Test {replay.name(label)} (%)": float(replay.class_accuracy[frame, label])
                for label in range(replay.class_accuracy.shape[1])
                if np.isfinite(replay.class_accuracy[frame, label])
            }
            made.append(line)
    return pd.DataFrame(made)


def has_steps(method: str) -> bool:
    """Whether a method can be replayed."""
    try:
        return (
            method not in ("original", "uploaded")
            and "shards" not in catalog.method(method).records
        )
    except UnknownName:  # a method of the reader's own whose file is gone
        return False
