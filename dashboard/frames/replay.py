"""Replays of unlearning runs as a page shows them: accuracies and classes at each frame, and the
moments of one or two runs on one slider. Shares are in percent. No Streamlit, no plotly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import pandas as pd

from dashboard.text.labels import THIN
from mucore import catalog
from mucore.errors import UnknownName
from mucore.metrics.accuracy import per_class

SETS: Final = {"forget": "Forget set", "retain": "Retain set", "test": "Test set"}
METRICS: Final = {"forget": "fa", "retain": "ra", "test": "ta"}
MOST_CLASSES: Final = 10  # that bars show


@dataclass(frozen=True, eq=False)
class Replay:
    """One run with the value of its analysis `replay` (mucore/analysis/replay.py).

    `levels` are Retrain's accuracies by set and `level_classes` (C,) those of the classes of the
    test set, in percent, NaN or missing where unknown; `names` of the classes by number, empty
    where they have none.
    """

    key: str
    title: str
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


# -- one slider for one or two


@dataclass(frozen=True)
class Tick:
    """A moment of the slider: its label, how many percent of the steps are done, and the frame that
    each replay shows.
    """

    label: str
    at: float
    frames: tuple[int, ...]


def ticks(replays: Sequence[Replay]) -> tuple[Tick, ...]:
    """The moments that a slider goes through: the frames of the replay that has most. Another one
    shows what it has by then, give or take half a moment.
    """
    moments = np.unique(max((replay.progress for replay in replays), key=len))
    slack = np.diff(moments).min() / 2
    labels = (
        [f"{moment:.0f}{THIN}%" for moment in moments]
        if any(replay.between for replay in replays)
        else ["before", "after"]
    )
    shown = [
        np.searchsorted(replay.progress, moments + slack, side="right") - 1 for replay in replays
    ]
    return tuple(
        Tick(label, float(moment), tuple(int(frames[number]) for frames in shown))
        for number, (label, moment) in enumerate(zip(labels, moments, strict=True))
    )


# -- numbers


def table(replays: Sequence[Replay]) -> pd.DataFrame:
    """The numbers behind the figure: one line a run and frame, in percent."""
    made = []
    for replay in replays:
        frame = pd.DataFrame(
            {"Run": replay.title, "Steps": replay.value["steps"], "Steps (%)": replay.progress}
            | {f"{title} accuracy (%)": replay.accuracy[name] for name, title in SETS.items()}
        )
        classes = pd.DataFrame(replay.class_accuracy).dropna(axis=1)
        classes.columns = [f"Test {replay.name(label)} (%)" for label in classes.columns]
        made.append(frame.join(classes))
    return pd.concat(made)


def has_steps(method: str) -> bool:
    """Whether a method can be replayed."""
    try:
        return (
            method not in ("original", "uploaded")
            and "shards" not in catalog.method(method).records
        )
    except UnknownName:  # a method of the reader's own whose file is gone
        return False
