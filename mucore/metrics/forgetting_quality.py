"""Forgetting quality: can N unlearned models be told from N retrained ones, sample by sample? After
the NeurIPS 2023 competition.

Inputs are logit-scaled confidences of the true class, (N, S): one row a model (independent seeds),
one column a forget sample, the same samples for both kinds of model. ε is in nats. An attack is a
rule that calls a model "positive" by the confidence it gives one sample: above a threshold, the
positive distribution being that of the larger median; or between two thresholds, the positive one
being that of the smaller range. The supremum over thresholds is exact: error rates change at the
confidences themselves only, so sorting finds them all. The organisers scan a grid of 100 thresholds
per unit instead, and only intervals about as long as the narrower range. Short intervals find what
is chance: 512 retrained models have F = 0.05 against 512 others here, and 0.18 there (normal
confidences, measured), so the two are not to be compared.
Source: Triantafillou et al., Are We Making Progress in Unlearning? (evaluation of the competition),
Algorithm 1; ties as in the organisers' code (google-deepmind/unlearning_evaluation, metric.py). Bad
input raises `BadValue`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import scipy  # its parts load when they are named

from mucore.errors import BadValue

DELTA = 1e-5
CAP = 50.0  # stands for infinite ε
BIN = 0.5
BINS = 13  # that score above 0: [0, 6.5)
DEGENERATE = 0.01  # a range below this share of the other one's
PROBABILITY_FLOOR = 1e-45
FEW_MODELS = 64
TIME_LIMIT = 0.2  # of the mean retraining time
_BLOCK = 64  # samples at once: their tables stay in the cache


def logit_scaled_confidence(*, logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """ln p_y − ln Σ_{c≠y} p_c in float64 from logits (..., S, C) and labels (S,): (..., S), both
    probabilities floored at 1e-45.
    """
    z = np.asarray(logits, dtype=np.float64)
    if z.shape[-1] < 2:
        raise BadValue(
            "Confidence weighs the true class against the others, but the model has one class only."
        )
    true = np.arange(z.shape[-1]) == np.asarray(labels)[:, None]
    own = np.where(true, z, 0.0).sum(axis=-1)
    others = scipy.special.logsumexp(np.where(true, -np.inf, z), axis=-1)
    # p_y and 1 − p_y are never small together, so flooring either is the same as limiting the
    # difference.
    limit = -np.log(PROBABILITY_FLOOR)
    return np.clip(own - others, -limit, limit)


def forgetting_quality(epsilons: np.ndarray) -> float | None:
    """F, the mean of H(s) over the samples that have an ε, in 0..1 (1 is Retrain); None where none
    has.

    Even Retrain against Retrain is below 1, because chance finds a rule for every sample: read F
    beside that of two halves of the retrained models.
    """
    known = epsilons[~np.isnan(epsilons)]
    return float(sample_scores(known).mean()) if len(known) else None


def sample_scores(epsilons: np.ndarray) -> np.ndarray:
    """H(s) = 2 / 2^n(s) with n(s) = ⌊ε / 0.5⌋ + 1, and 0 beyond the last bin."""
    number = np.floor(epsilons / BIN) + 1
    return np.where(number > BINS, 0.0, 2.0 ** (1 - number))


def epsilons(*, unlearned: np.ndarray, retrained: np.ndarray) -> np.ndarray:
    """ε^s of each sample, (S,) in 0..50, from confidences (N, S) and (M, S): the largest over both
    kinds of rule and all thresholds.

    A rule without errors gives ∞ (shown as 50); one that errs on one side only is discarded, having
    too few models to tell. 50 also where the narrower range is below 1 % of the wider: a constant
    output is no forgetting. NaN where every rule was discarded.
    """
    u, r = (np.sort(np.asarray(models, np.float64).T, axis=-1) for models in (unlearned, retrained))
    if (
        not (u.ndim == r.ndim == 2)
        or len(u) != len(r)
        or not len(u)
        or min(u.shape[1], r.shape[1]) < 2
    ):
        raise BadValue(
            "Forgetting quality compares two unlearned and two retrained models at least on the "
            f"same samples, but got arrays of shape {np.shape(unlearned)} and "
            f"{np.shape(retrained)}."
        )
    if not (np.isfinite(u).all() and np.isfinite(r).all()):
        raise BadValue(
            "Forgetting quality needs finite confidences, but some are not: a model has diverged."
        )
    unlearned_above, unlearned_narrower = _positives(u, r)
    found = np.empty(len(u))
    for start in range(0, len(u), _BLOCK):
        rows = slice(start, start + _BLOCK)
        one = _either(_one_threshold, u[rows], r[rows], unlearned_above[rows])
        two = _either(_two_thresholds, u[rows], r[rows], unlearned_narrower[rows])
        found[rows] = np.maximum(one, two)
    found[degenerate(unlearned=unlearned, retrained=retrained)] = CAP
    return np.where(found < 0, np.nan, np.minimum(found, CAP))


def degenerate(*, unlearned: np.ndarray, retrained: np.ndarray) -> np.ndarray:
    """Whether one kind of model is all but constant on a sample, (S,)."""
    u, r = (np.ptp(np.asarray(models, np.float64), axis=0) for models in (unlearned, retrained))
    return np.minimum(u, r) < DEGENERATE * np.maximum(u, r)


@dataclass(frozen=True, kw_only=True)
class Rule:
    """An attack on one sample: a model whose confidence lies in (low, high] is called `positive`.
    One threshold has `high` ∞.
    """

    positive: Literal["unlearned", "retrained"]
    low: float
    high: float
    fnr: float  # share of the positive models outside
    fpr: float  # share of the others inside
    epsilon: float  # in 0..CAP


def best_rule(*, unlearned: np.ndarray, retrained: np.ndarray) -> Rule | None:
    """The rule that gives one sample its ε, from confidences (N,) and (M,); None where every rule
    was discarded.

    Thresholds lie midway between the confidences around them. What is degenerate has ε = CAP
    whatever its best rule says.
    """
    u, r = (np.sort(np.asarray(models, np.float64))[None] for models in (unlearned, retrained))
    above, narrower = (bool(flag[0]) for flag in _positives(u, r))
    found = [
        rule
        for two, unlearned_positive in ((False, above), (True, narrower))
        if (
            rule := _best(
                *((u, r) if unlearned_positive else (r, u)),
                "unlearned" if unlearned_positive else "retrained",
                two,
            )
        )
        is not None
    ]
    # one threshold where both say the same
    return max(found, key=lambda rule: rule.epsilon, default=None)


def _best(
    positive: np.ndarray, negative: np.ndarray, name: Literal["unlearned", "retrained"], two: bool
) -> Rule | None:
    """The best rule of one kind for sorted (1, n) and (1, m)."""
    cuts, values = (array[0] for array in _cuts(positive, negative))
    # (left, right)
    inside = cuts[None, :] - cuts[:, None] if two else cuts[-1:, None].T - cuts[:, None]
    epsilons = np.where(
        inside >= 0, _table(positive.shape[1], negative.shape[1])[np.maximum(inside, 0)], -1.0
    )
    left, right = np.unravel_index(int(epsilons.argmax()), epsilons.shape)
    if epsilons[left, right] < 0:
        return None
    low, high = _midway(values, int(left)), _midway(values, int(right) if two else len(cuts) - 1)
    called = [((models[0] > low) & (models[0] <= high)).mean() for models in (positive, negative)]
    return Rule(
        positive=name,
        low=low,
        high=high,
        fnr=1 - float(called[0]),
        fpr=float(called[1]),
        epsilon=float(min(epsilons[left, right], CAP)),
    )


def _midway(values: np.ndarray, place: int) -> float:
    """The threshold of a place: between its two neighbours, or infinite at an end."""
    below, above = float(values[place]), float(values[place + 1])
    return (
        below + (above - below) / 2
        if np.isfinite(below) and np.isfinite(above)
        else below
        if np.isinf(below)
        else above
    )


# -- ε, exactly


def _positives(u: np.ndarray, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whether the unlearned models are the positive ones, (S,): for one threshold and for two."""
    above = np.median(u, axis=1) >= np.median(r, axis=1)
    u_range, r_range = np.ptp(u, axis=1), np.ptp(r, axis=1)
    # The organisers let the distribution of the smaller median be the narrow one where both are
    # equally wide.
    return above, np.where(u_range == r_range, ~above, u_range < r_range)


def _either(
    rule: Callable[[np.ndarray, np.ndarray], np.ndarray],
    u: np.ndarray,
    r: np.ndarray,
    unlearned_positive: np.ndarray,
) -> np.ndarray:
    """A rule's largest ε, (S,), with the unlearned models as the positive ones on some samples and
    the retrained on the others.
    """
    found = np.empty(len(u))
    for positive, negative, rows in ((u, r, unlearned_positive), (r, u, ~unlearned_positive)):
        if rows.any():
            found[rows] = rule(positive[rows], negative[rows])
    return found


def _one_threshold(positive: np.ndarray, negative: np.ndarray) -> np.ndarray:
    """Largest ε, (S,), over the rules "above t", from sorted (S, n) and (S, m); −1 where all are
    discarded.
    """
    cuts, _ = _cuts(positive, negative)
    return _table(positive.shape[1], negative.shape[1])[cuts[:, -1:] - cuts].max(axis=1)


def _two_thresholds(positive: np.ndarray, negative: np.ndarray) -> np.ndarray:
    """Largest ε, (S,), over the rules "from l to r", from sorted (S, n) and (S, m); −1 where all
    are discarded.
    """
    cuts, _ = _cuts(positive, negative)
    table = _table(positive.shape[1], negative.shape[1])
    found = np.full(len(cuts), -1.0)
    for right in range(1, cuts.shape[1]):
        rules = table.take(cuts[:, right : right + 1] - cuts[:, :right])
        np.maximum(found, rules.max(axis=1), out=found)
    return found


def _cuts(positive: np.ndarray, negative: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All places to cut between confidences, (S, n + m + 1) from below all to above all, and the
    confidences around them.

    A place is positives · (m + 1) + negatives below it, so that the difference of two places says
    what lies between them and is an index of `_table`. Equal confidences cannot be parted: a place
    among them is moved above them. The second array is (S, n + m + 2), −∞ first and ∞ last; place k
    lies between its columns k and k + 1.
    """
    samples, n, m = len(positive), positive.shape[1], negative.shape[1]
    joined = np.concatenate([positive, negative], axis=1)
    order = joined.argsort(axis=1, kind="stable")
    values = np.take_along_axis(joined, order, axis=1)
    places = np.where(order < n, m + 1, 1).cumsum(axis=1)
    parted = np.concatenate([values[:, 1:] > values[:, :-1], np.ones((samples, 1), bool)], axis=1)
    places = np.minimum.accumulate(np.where(parted, places, (n + 1) * (m + 1))[:, ::-1], axis=1)[
        :, ::-1
    ]
    edge = np.full((samples, 1), np.inf)
    return (
        np.concatenate([np.zeros((samples, 1), np.int64), places], axis=1).astype(np.int32),
        np.concatenate([-edge, values, edge], axis=1),
    )


@lru_cache(maxsize=4)
def _table(n: int, m: int) -> np.ndarray:
    """ε of a rule under which p of n positives and q of m negatives are called positive, at p · (m
    + 1) + q; −1 for a discarded one.
    """
    fnr = np.repeat(np.arange(n, -1, -1) / n, m + 1)
    fpr = np.tile(np.arange(m + 1) / m, n + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        one, other = np.log(1 - DELTA - fpr) - np.log(fnr), np.log(1 - DELTA - fnr) - np.log(fpr)
        # A rate of 1 leaves nothing to take the logarithm of; the other side decides.
        value = np.fmax(np.fmax(one, other), 0.0)
    return np.where((fpr == 0) & (fnr == 0), np.inf, np.where((fpr == 0) | (fnr == 0), -1.0, value))
