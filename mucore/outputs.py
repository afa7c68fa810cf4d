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

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from mucore.catalog.cards import Task

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

    def __getitem__(self, name: str) -> SplitOutputs:
        return self.splits[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.splits)

    def __len__(self) -> int:
        return len(self.splits)


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
    return Outputs(
        {
            name: replace(each, features=(found[name] * scale).astype(np.float16))
            if name in found
            else each
            for name, each in outputs.items()
        }
    )


def task_of(labels: np.ndarray) -> Task:
    """The task that labels (n,) or (n, A) belong to."""
    return "attributes" if labels.ndim == 2 else "classes"


def confusion(labels: np.ndarray, predicted: np.ndarray, classes: int) -> np.ndarray:
    """Counts (C, C), rows true, columns predicted; from labels and predictions (n, A) one such
    matrix an attribute, (A, 2, 2).
    """
    if task_of(labels) == "attributes":
        return np.stack([confusion(*pair, 2) for pair in zip(labels.T, predicted.T, strict=True)])
    return np.bincount(labels * classes + predicted, minlength=classes * classes).reshape(
        classes, classes
    )


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
    return (
        probabilities
        if task == "classes"
        else np.stack([1 - probabilities, probabilities], axis=-1).reshape(-1, 2)
    )


def cross_entropy(logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Per-sample loss −ln p_y, (n,) float64; for attributes the mean over them."""
    if task_of(labels) == "attributes":
        wrong = np.where(labels == 1, -1.0, 1.0) * logits.astype(np.float64)
        return np.logaddexp(0.0, wrong).mean(axis=1)
    shifted = logits.astype(np.float64) - logits.max(axis=1, keepdims=True)
    return np.log(np.exp(shifted).sum(axis=1)) - shifted[np.arange(len(labels)), labels]
