"""What every metric eats: the predictions and features of one model, per split, as numpy arrays.

Conventions, stated once: `logits` (n, C) float32 before softmax; `labels` (n,) int64; `ids` (n,)
int64 sample ids; `features` (m, d) float16 of the first m samples, penultimate layer, or None, all
splits of a model divided by one power of two where they exceed float16 (`with_common_scale`);
`confusion` (C, C) int64 counts over the *whole* split, rows true, columns predicted. All in eval
mode, without augmentation. A large split keeps logits of a fixed sample only; the confusion counts
cover all. Accuracies are fractions in 0..1; percent exists only on screen.

Where the task is attributes, `labels` are (n, A) of 0 and 1, `logits` (n, A) before the sigmoid,
`confusion` (A, 2, 2). Each attribute is a problem of two classes, and what a sample has one of (a
loss, an entropy) is the mean over its attributes (engine/losses.py).
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mucore.catalog.cards import Task
from mucore.errors import BadFile, BadValue
from mucore.userfiles import doors

KEEP_FEATURES = 4_000  # samples of a split
DOWNSTREAM = "downstream/"  # opens the names of splits of other data sets


@dataclass(frozen=True, kw_only=True, eq=False)
class SplitOutputs:
    """Predictions of one model on one split."""

    logits: np.ndarray
    labels: np.ndarray
    ids: np.ndarray
    confusion: np.ndarray
    features: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def total(self) -> int:
        """Samples in the whole split, of which `len(self)` are kept one by one."""
        return int(self.confusion.sum() if self.confusion.ndim == 2 else self.confusion[0].sum())

    @property
    def task(self) -> Task:
        return task_of(self.labels)


@dataclass(frozen=True, eq=False)
class Outputs(Mapping[str, SplitOutputs]):
    """Splits by name: `forget`, `retain`, `validation`, `test`; `train` instead of the first two
    where nothing was forgotten.

    Where the training data were poisoned, `forget_true` is the forget set under its true labels,
    with confusion counts alone, and `triggered` the whole test set under the trigger, if there is
    one. `downstream/NAME/train` and `downstream/NAME/test` are parts of another data set, with its
    labels: their features matter, their confusion counts are zero.
    """

    splits: Mapping[str, SplitOutputs]

    @classmethod
    def of(cls, **arrays: Any) -> Outputs:
        """Of a user's own network: `forget_logits` (n, C) before softmax and `forget_labels` (n,)
        int from 0, likewise `retain_` and `test_`; where wanted `_features` (n, d), what goes into
        the last layer, and `_ids` (n,) int, each sample's own. `numpy.savez(FILE, **arrays)` keeps
        them for `read`. Raises `BadValue`.
        """
        found: dict[str, SplitOutputs] = {}
        try:
            for name in ("forget", "retain", "test"):
                found[name] = _given(arrays, name, sum(map(len, found.values())))
        except (LookupError, TypeError, ValueError) as error:
            raise BadValue(
                "Outputs need NAME_logits (n, classes), finite and before softmax, and NAME_labels "
                "(n,), integers from 0, of forget, retain and test, and may have NAME_ids (n,), "
                f"integers, and NAME_features (n, d). {name}: {type(error).__name__}, {error}."
            ) from error
        return with_common_scale(cls(found))

    @classmethod
    def read(cls, path: Path) -> Outputs:
        """From an .npz file. Raises `BadFile`."""
        doors.check()
        try:
            with np.load(path) as file:
                return cls.of(**file)
        except (OSError, ValueError, EOFError, zipfile.BadZipFile, BadValue) as error:
            raise BadFile(f"{path} holds no outputs: {error}") from error

    def __getitem__(self, name: str) -> SplitOutputs:
        return self.splits[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.splits)

    def __len__(self) -> int:
        return len(self.splits)


def _given(arrays: Mapping[str, Any], name: str, first: int) -> SplitOutputs:
    """A split, in the order that `engine.collect` has; its ids count from `first` unless given."""
    logits, labels = (np.asarray(arrays[f"{name}_{each}"]) for each in ("logits", "labels"))
    logits = check_logits(logits.astype(np.float32), len(labels), labels)
    ids = np.asarray(arrays.get(f"{name}_ids", range(first, first + len(labels))))
    ids = ids.astype(np.int64, casting="same_kind")
    if ids.shape != labels.shape or len(np.unique(ids)) < len(labels):
        raise ValueError(f"the ids of {name} have shape {[*ids.shape]}, or one comes twice")
    shown = first_shown(labels, KEEP_FEATURES)
    order = np.concatenate([shown, np.delete(np.arange(len(labels)), shown)])
    if (features := arrays.get(f"{name}_features")) is not None:
        features = halved(np.asarray(features, np.float32).reshape(len(labels), -1)[shown])
    counts = confusion(labels.astype(np.int64), logits.argmax(1), logits.shape[1])
    each = {"labels": labels[order].astype(np.int64), "ids": ids[order]}
    return SplitOutputs(logits=logits[order], confusion=counts, features=features, **each)


def check_logits(logits: np.ndarray, count: int, labels: np.ndarray) -> np.ndarray:
    """Logits (count, C) as they are. Raises `ValueError` where they are none, or where `labels`
    have no place among the classes.
    """
    if logits.ndim != 2 or len(logits) != count:
        raise ValueError(f"it gives {[*logits.shape]} for {count}")
    if not np.isfinite(logits).all():
        raise ValueError("some are NaN or infinite; it has diverged")
    if (logits >= 0).all() and np.abs(logits.sum(1) - 1).max() < 1e-3:
        raise ValueError("it gives probabilities, which a softmax made of them")
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or not len(labels):
        raise ValueError(f"labels have shape {[*labels.shape]} and {labels.dtype}")
    low, high, classes = labels.min(), labels.max(), logits.shape[1]
    if low < 0 or high >= classes:
        raise ValueError(f"it has {classes} outputs, and labels go from {low} to {high}")
    return logits


def halved(features: np.ndarray) -> np.ndarray:
    """In float16, unless that makes a finite feature infinite."""
    with np.errstate(over="ignore"):
        half = features.astype(np.float16)
    return features if (np.isinf(half) & np.isfinite(features)).any() else half


def with_common_scale(outputs: Outputs) -> Outputs:
    """Features of one model in float16. Where a split has them in float32, since finite ones exceed
    65,504, those of all splits are divided by the least power of two under which they fit.

    One for all: a probe learns on one split and is asked on another. CKA, neighbours by cosine and
    a probe of standardised features do not change with it.
    """
    found = {name: each.features for name, each in outputs.items() if each.features is not None}
    if all(each.dtype == np.float16 for each in found.values()):
        return outputs
    largest = max(
        float(np.abs(each, where=np.isfinite(each), out=np.zeros_like(each)).max(initial=0))
        for each in found.values()
    )
    scale = 2.0 ** -np.ceil(np.log2(largest / float(np.finfo(np.float16).max)))
    scaled = {name: (each * scale).astype(np.float16) for name, each in found.items()}
    more = {name: replace(outputs[name], features=each) for name, each in scaled.items()}
    return Outputs({**outputs, **more})


def first_shown(labels: np.ndarray, features: int) -> np.ndarray:
    """Positions, sorted, of those of the kept samples whose features are stored: the first ones, or
    where a class is missing among these the first share of each class, one sample at least.

    Files of some data sets are sorted by class. Attributes (n, A) are no classes.
    """
    first = np.arange(min(features, len(labels)))
    if not len(first) or labels.ndim == 2:
        return first
    _, each, counts = np.unique(labels, return_inverse=True, return_counts=True)
    if len(np.unique(each[first])) == len(counts):
        return first
    by_class = np.argsort(each, kind="stable")
    place = np.empty(len(labels))  # among those of its class
    place[by_class] = np.arange(len(labels)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.sort(np.argsort(place / counts[each], kind="stable")[:features])


def task_of(labels: np.ndarray) -> Task:
    """The task that labels (n,) or (n, A) belong to."""
    return "attributes" if labels.ndim == 2 else "classes"


def confusion(labels: np.ndarray, predicted: np.ndarray, classes: int) -> np.ndarray:
    """Counts (C, C), rows true, columns predicted; from labels and predictions (n, A) one such
    matrix an attribute, (A, 2, 2).
    """
    if task_of(labels) == "attributes":
        return np.stack([confusion(*pair, 2) for pair in zip(labels.T, predicted.T, strict=True)])
    counts = np.bincount(labels * classes + predicted, minlength=classes * classes)
    return counts.reshape(classes, classes)


def softmax(logits: np.ndarray) -> np.ndarray:
    """Row-wise probabilities in float64."""
    shifted = logits.astype(np.float64) - logits.max(axis=1, keepdims=True)
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=1, keepdims=True)


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """Probabilities of attributes in float64."""
    return np.exp(-np.logaddexp(0.0, -logits.astype(np.float64)))


def probabilities(logits: np.ndarray, task: Task) -> np.ndarray:
    """(n, C) that sum to 1 in each row, or of each attribute (n, A); float64."""
    return softmax(logits) if task == "classes" else sigmoid(logits)


def answers(probabilities: np.ndarray, task: Task) -> np.ndarray:
    """Probabilities (n, C) as they are, or of attributes (n, A) as (n · A, 2), sample by sample;
    `labels.ravel()` are the right ones.
    """
    both = np.stack([1 - probabilities, probabilities], axis=-1)
    return probabilities if task == "classes" else both.reshape(-1, 2)


def cross_entropy(logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Per-sample loss −ln p_y, (n,) float64; for attributes the mean over them."""
    if task_of(labels) == "attributes":
        wrong = np.where(labels == 1, -1.0, 1.0) * logits.astype(np.float64)
        return np.logaddexp(0.0, wrong).mean(axis=1)
    shifted = logits.astype(np.float64) - logits.max(axis=1, keepdims=True)
    return np.log(np.exp(shifted).sum(axis=1)) - shifted[np.arange(len(labels)), labels]
