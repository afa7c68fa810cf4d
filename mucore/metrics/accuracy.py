"""Accuracies in 0..1, all read from confusion counts: (C, C), rows true class, columns predicted class; (A, 2, 2) for attributes.

Counts cover the whole split even where single predictions are kept for a part of it, so these numbers are never a sample's.
Source: MUBox (Li, Thuraisingham, Wei; SACMAT 2025), section 3.4; TFA and TRA: Are We Truly Forgetting? (Kim, Cha, Kim); attributes: Choi
and Na, Towards Machine Unlearning Benchmarks, 2023 (MUCAC).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mucore.errors import BadValue


def accuracy(*, confusion: np.ndarray) -> float:
    """Share of samples whose most probable class is the true one; for attributes, share of all of them that are predicted right.

    Raises `BadValue` for a split without samples.
    """
    total = int(confusion.sum())
    if not total:
        raise BadValue("An accuracy needs at least one sample, but this split has none.")
    return float(np.trace(confusion, axis1=-2, axis2=-1).sum() / total)


def accuracy_of_classes(*, confusion: np.ndarray, classes: Sequence[int]) -> float:
    """Accuracy over the samples whose true class is one of `classes`. Raises `BadValue` where there are none."""
    rows = list(classes)
    total = int(confusion[rows].sum())
    if not total:
        raise BadValue("An accuracy needs at least one sample, but this split has none of the classes asked for.")
    return float(confusion[rows, rows].sum() / total)


def per_class(*, confusion: np.ndarray) -> np.ndarray:
    """Accuracy of each true class, (C,), or of each attribute, (A,); NaN for a class without samples."""
    totals = confusion.sum(axis=1) if confusion.ndim == 2 else confusion.sum(axis=(1, 2))
    right = np.diagonal(confusion) if confusion.ndim == 2 else np.trace(confusion, axis1=1, axis2=2)
    return np.divide(right, totals, out=np.full(len(confusion), np.nan), where=totals > 0)
