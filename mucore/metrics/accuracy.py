"""Accuracies in 0..1, all read from confusion counts: (C, C), rows true class, columns predicted
class; (A, 2, 2) for attributes.

Counts cover the whole split even where single predictions are kept for a part of it, so these
numbers are never a sample's.
Source: MUBox (Li, Thuraisingham, Wei; SACMAT 2025), section 3.4; TFA and TRA: Are We Truly
Forgetting? (Kim, Cha, Kim); attributes: Choi and Na, Towards Machine Unlearning Benchmarks, 2023
(MUCAC; top-2 accuracy: MUFAC).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mucore.errors import BadValue


def accuracy(*, confusion: np.ndarray) -> float:
    """Share of samples whose most probable class is the true one; for attributes, share of all of
    them that are predicted right.

    Raises `BadValue` for a split without samples.
    """
    return _share(np.trace(confusion, axis1=-2, axis2=-1).sum(), confusion.sum())


def accuracy_of_classes(*, confusion: np.ndarray, classes: Sequence[int]) -> float:
    """Accuracy over the samples whose true class is one of `classes`. Raises `BadValue` where there
    are none.
    """
    rows = list(classes)
    return _share(confusion[rows, rows].sum(), confusion[rows].sum())


def attack_success(*, confusion: np.ndarray, target: int, others: bool) -> float:
    """Share in 0..1 of triggered samples that are predicted as the target class; `others`: among
    those of the other classes alone (MUBox, section 5.3).

    Raises `BadValue` for counts without such samples.
    """
    rows = np.arange(len(confusion)) != target if others else np.ones(len(confusion), dtype=bool)
    return _share(confusion[rows, target].sum(), confusion[rows].sum())


def top_accuracy(*, logits: np.ndarray, labels: np.ndarray, k: int) -> float:
    """Share of samples, logits (n, C), whose true class is among the `k` most probable; equal ones
    count in its favour, and a sample with a logit that is not a number against it.

    The only accuracy that confusion counts cannot tell, so it is that of the samples whose
    predictions were kept. Raises `BadValue` for attributes, which have two answers each, where
    there are no more than `k` classes, and without samples.
    """
    if labels.ndim == 2:
        raise BadValue(f"Top-{k} accuracy is about classes, but these data have yes-or-no labels.")
    if logits.shape[1] <= k:
        raise BadValue(
            f"Among {logits.shape[1]} classes every one is in the top {k}, so top-{k} accuracy "
            "says nothing."
        )
    own = np.take_along_axis(logits, labels[:, None], axis=1)
    right = ((logits > own).sum(axis=1) < k) & ~np.isnan(logits).any(axis=1)
    return _share(right.sum(), len(labels))


def per_class(*, confusion: np.ndarray) -> np.ndarray:
    """Accuracy of each true class, (C,), or of each attribute, (A,); NaN for a class without
    samples.
    """
    totals = confusion.sum(axis=1) if confusion.ndim == 2 else confusion.sum(axis=(1, 2))
    right = np.diagonal(confusion) if confusion.ndim == 2 else np.trace(confusion, axis1=1, axis2=2)
    return np.divide(right, totals, out=np.full(len(confusion), np.nan), where=totals > 0)


def _share(right: int, total: int) -> float:
    if not total:
        raise BadValue("An accuracy needs at least one sample, but this split has none of them.")
    return float(right / total)
