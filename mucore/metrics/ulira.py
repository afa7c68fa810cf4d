"""U-LiRA: a likelihood-ratio attack of its own for every forget sample, with unlearned and
retrained models as shadow models.

Inputs are logit-scaled confidences (N, S), as in forgetting_quality.py: one row a model, one column
a forget sample. Each model is judged by Gaussians fitted to the others. Rates are fractions in
0..1; a method that forgets as Retrain does leaves the attack at guessing: accuracy and AUC 0.5,
true-positive rate equal to the false-positive rate.
Source: Hayes et al., Inexact Unlearning Needs More Careful Evaluations to Avoid a False Sense of
Privacy, 2024, after LiRA (Carlini et al., S&P 2022).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mucore.errors import BadValue
from mucore.metrics.mia import auc, tpr_at_fpr

# below this, one variance for all samples is more precise than one for each (Carlini et al.)
FEW_MODELS = 64
VARIANCE_FLOOR = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class Attack:
    """What the attack found; positives are (unlearned model, sample) pairs, negatives (retrained
    model, sample) pairs.
    """

    accuracy: float  # balanced
    auc: float
    tpr_01: float | None  # at 0.1 % false positives, of 1,000 negatives at least
    tpr_1: float  # at 1 %
    shared_variance: bool


def attack(*, unlearned: np.ndarray, retrained: np.ndarray) -> Attack:
    """Tell unlearned (N, S) from retrained (M, S) models on each sample by the ratio of
    likelihoods, always leaving out the judged model.

    Needs three models of a kind. With fewer than 64 of a kind the samples share one variance.
    Raises `BadValue`.
    """
    u, r = np.asarray(unlearned, np.float64), np.asarray(retrained, np.float64)
    if u.ndim != 2 or u.shape[1:] != r.shape[1:] or min(len(u), len(r)) < 3 or not u.shape[1]:
        raise BadValue(
            "U-LiRA compares three unlearned and three retrained models at least on the same "
            f"samples, but got arrays of shape {u.shape} and {r.shape}."
        )
    if not (np.isfinite(u).all() and np.isfinite(r).all()):
        raise BadValue("U-LiRA needs finite confidences, but some are not: a model has diverged.")
    shared = min(len(u), len(r)) < FEW_MODELS
    of_unlearned = _log_likelihood(u, *_others(u, shared)) - _log_likelihood(u, *_all(r, shared))
    of_retrained = _log_likelihood(r, *_all(u, shared)) - _log_likelihood(r, *_others(r, shared))
    # A tie is a coin: it counts one half on either side.
    by_sample = (_share_above(of_unlearned) + 1 - _share_above(of_retrained)) / 2
    positives, negatives = of_unlearned.ravel(), of_retrained.ravel()
    return Attack(
        accuracy=float(by_sample.mean()),
        auc=auc(positives=positives, negatives=negatives),
        tpr_01=tpr_at_fpr(positives=positives, negatives=negatives, fpr=0.001)
        if len(negatives) >= 1000
        else None,
        tpr_1=tpr_at_fpr(positives=positives, negatives=negatives, fpr=0.01),
        shared_variance=shared,
    )


def _share_above(scores: np.ndarray) -> np.ndarray:
    return ((scores > 0) + 0.5 * (scores == 0)).mean(axis=0)


def _all(confidences: np.ndarray, shared: bool) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of each sample over all models, (S,) each."""
    return confidences.mean(axis=0), _pool(confidences.var(axis=0, ddof=1), shared)


def _others(confidences: np.ndarray, shared: bool) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of each sample over all models but the one of the row, (N, S) each."""
    n = len(confidences)
    off = confidences - confidences.mean(axis=0)
    squares = (off**2).sum(axis=0) - off**2 * n / (n - 1)
    return confidences - off * n / (n - 1), _pool(squares / (n - 2), shared)


def _pool(variance: np.ndarray, shared: bool) -> np.ndarray:
    pooled = (
        np.broadcast_to(variance.mean(axis=-1, keepdims=True), variance.shape)
        if shared
        else variance
    )
    return np.maximum(pooled, VARIANCE_FLOOR)


def _log_likelihood(x: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Of a Gaussian, without the constant that every term shares."""
    return -((x - mean) ** 2) / (2 * variance) - np.log(variance) / 2
