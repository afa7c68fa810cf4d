"""Accuracies, all read from confusion counts: (C, C), rows true class, columns predicted class. Values are fractions in 0..1.

Counts cover the whole split even where single predictions are kept for a part of it, so these numbers are never a sample's.
Source: MUBox (Li, Thuraisingham, Wei; SACMAT 2025), section 3.4; TFA and TRA: Are We Truly Forgetting? (Kim, Cha, Kim).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mucore.errors import BadValue


def accuracy(*, confusion: np.ndarray) -> float:
    """Share of samples whose most probable class is the true one. Raises `BadValue` for a split without samples."""
    total = int(confusion.sum())
    if not total:
        raise BadValue("An accuracy needs at least one sample, but this split has none.")
    return float(np.trace(confusion) / total)


def accuracy_of_classes(*, confusion: np.ndarray, classes: Sequence[int]) -> float:
    """Accuracy over the samples whose true class is one of `classes`. Raises `BadValue` where there are none."""
    rows = list(classes)
    total = int(confusion[rows].sum())
    if not total:
        raise BadValue("An accuracy needs at least one sample, but this split has none of the classes asked for.")
    return float(confusion[rows, rows].sum() / total)


def per_class(*, confusion: np.ndarray) -> np.ndarray:
    """Accuracy of each true class, (C,); NaN for a class without samples."""
    totals = confusion.sum(axis=1)
    return np.divide(np.diagonal(confusion), totals, out=np.full(len(confusion), np.nan), where=totals > 0)
