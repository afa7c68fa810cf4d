"""What every metric eats: the predictions and features of one model, per split, as numpy arrays.

Conventions, stated once: `logits` (n, C) float32 before softmax; `labels` (n,) int64; `ids` (n,) int64 sample ids; `features` (m, d)
float16 of the first m samples, penultimate layer, or None; `confusion` (C, C) int64 counts over the *whole* split, rows true, columns
predicted. All in eval mode, without augmentation. A large split keeps logits of a fixed sample only; the confusion counts cover all.
Accuracies are fractions in 0..1; percent exists only on screen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np


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
        return int(self.confusion.sum())


@dataclass(frozen=True, eq=False)
class Outputs(Mapping[str, SplitOutputs]):
    """Splits by name: `forget`, `retain`, `validation`, `test`; `train` instead of the first two where nothing was forgotten."""

    splits: Mapping[str, SplitOutputs]

    def __getitem__(self, name: str) -> SplitOutputs:
        return self.splits[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.splits)

    def __len__(self) -> int:
        return len(self.splits)


def confusion(labels: np.ndarray, predicted: np.ndarray, classes: int) -> np.ndarray:
    """Counts (C, C), rows true, columns predicted."""
    return np.bincount(labels * classes + predicted, minlength=classes * classes).reshape(classes, classes)


def softmax(logits: np.ndarray) -> np.ndarray:
    """Row-wise probabilities in float64."""
    shifted = logits.astype(np.float64) - logits.max(axis=1, keepdims=True)
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=1, keepdims=True)


def cross_entropy(logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Per-sample loss −ln p_y, (n,) float64."""
    shifted = logits.astype(np.float64) - logits.max(axis=1, keepdims=True)
    return np.log(np.exp(shifted).sum(axis=1)) - shifted[np.arange(len(labels)), labels]
