"""Forgetting quality: can N unlearned models be told from N retrained ones, sample by sample? After
the NeurIPS 2023 competition.

Inputs are logit-scaled confidences of the true class, (N, S): one row a model (independent seeds),
one column a forget sample, the same samples for both kinds of model. ε is in nats. An attack is a
rule that calls a model "positive" by the confidence it gives one sample: above a threshold, the
positive distribution being that of the larger median; or between two thresholds, the positive one
being that of the smaller range. The supremum over thresholds is exact: error rates change at the
confidences themselves only, so sorting finds them all. The organisers scan a grid of 100 thresholds
per unit instead, and only intervals about as long as the narrower range: see `Intervals`.
Source: Triantafillou et al., Are We Making Progress in Unlearning? (evaluation of the competition),
Algorithm 1; ties as in the organisers' code (google-deepmind/unlearning_evaluation, metric.py). Bad
input raises `BadValue`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Literal

import numpy as np
import scipy  # its parts load when they are named

from mucore.errors import BadValue

DELTA = 1e-5
CAP = 50.0  # stands for infinite ε
BIN = 0.5
DOCUMENT_BINS = 13
DEGENERATE = 0.01  # a range below this share of the other one's
PROBABILITY_FLOOR = 1e-45
FEW_MODELS = 64
TIME_LIMIT = 0.2  # of the mean retraining time
Bins = Literal["document", "code"]
# Which pairs of thresholds count: all; or, as in the organisers' code, those whose upper one lies
# within 2 of the narrower distribution's largest confidence and whose distance is within 2 of its
# range. Short intervals find what is chance: 512 retrained models have F = 0.05 against 512 others
# under `all`, and 0.18 under `organisers` (normal confidences, measured), so the two are not to be
# compared.
Intervals = Literal["all", "organisers"]
_BUFFER = 2.0
_BLOCK = 64  # samples at once: their tables stay in the cache


@dataclass(frozen=True, kw_only=True, eq=False)
class ForgettingQuality:
    """F and what it rests on."""

    # F, mean of H(s) over the samples that have an ε, in 0..1 (1 is Retrain); None if none has
    quality: float | None
    epsilons: np.ndarray  # (S,) in 0..CAP, NaN where every rule was discarded
    scores: np.ndarray  # H(s), (S,) in 0..1, NaN as above
    missing: int  # samples without ε
    degenerate: int  # samples on which one kind of model is all but constant
    bins: int
    models: int  # of the kind of which there are fewer
    largest_finite: float  # the largest finite ε that so many models can show

    @property
    def caution(self) -> str | None:
        """What a reader must know before believing F, if anything."""
        if self.models >= FEW_MODELS:
            return None
        return (
            f"With {self.models} models of a kind no finite ε above {self.largest_finite:.1f} can "
            "be seen, and chance alone parts few models: forgetting quality is a rough estimate "
            f"below {FEW_MODELS} models."
        )


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


def forgetting_quality(
    *,
    unlearned: np.ndarray,
    retrained: np.ndarray,
    bins: Bins = "document",
    intervals: Intervals = "all",
) -> ForgettingQuality:
    """F of unlearned (N, S) against retrained (M, S) confidences. `bins`: 13 as in the document, or
    as the organisers' code has them.

    Even Retrain against Retrain is below 1, because chance finds a rule for every sample: read F
    beside that of two halves of the retrained models.
    """
    values, degenerate = _epsilons(unlearned, retrained, intervals)
    largest = largest_finite_epsilon(unlearned=len(unlearned), retrained=len(retrained))
    count = number_of_bins(bins, largest_finite=largest)
    scores = sample_scores(values, bins=count)
    known = ~np.isnan(values)
    return ForgettingQuality(
        quality=float(scores[known].mean()) if known.any() else None,
        epsilons=values,
        scores=scores,
        missing=int((~known).sum()),
        degenerate=int(degenerate.sum()),
        bins=count,
        models=min(len(unlearned), len(retrained)),
        largest_finite=largest,
    )


def number_of_bins(bins: Bins, *, largest_finite: float) -> int:
    """Bins that score above 0: 13 in the document ([0, 6.5) for N = 512), ⌈ln(N − 1)⌉ / 0.5 in the
    organisers' later code (14 for 512).
    """
    return DOCUMENT_BINS if bins == "document" else round(np.ceil(largest_finite) / BIN)


def largest_finite_epsilon(*, unlearned: int, retrained: int) -> float:
    """ln(N − 1) for N models of each kind, because an error rate that is not 0 is at least 1/N;
    with N and M the larger of ln(N − N/M) and ln(M − M/N).
    """
    n, m = unlearned, retrained
    return float(np.log(max(n - n / m, m - m / n)))


def sample_scores(epsilons: np.ndarray, *, bins: int) -> np.ndarray:
    """H(s) = 2 / 2^n(s) with n(s) = ⌊ε / 0.5⌋ + 1, and 0 beyond the last bin; NaN stays NaN."""
    number = np.floor(epsilons / BIN) + 1
    return np.where(np.isnan(epsilons), np.nan, np.where(number > bins, 0.0, 2.0 ** (1 - number)))


def epsilons(
    *, unlearned: np.ndarray, retrained: np.ndarray, intervals: Intervals = "all"
) -> np.ndarray:
    """ε^s of each sample, (S,) in 0..50, from confidences (N, S) and (M, S): the largest over both
    kinds of rule and all thresholds.

    A rule without errors gives ∞ (shown as 50); one that errs on one side only is discarded, having
    too few models to tell. 50 also where the narrower range is below 1 % of the wider: a constant
    output is no forgetting. NaN where every rule was discarded.
    """
    return _epsilons(unlearned, retrained, intervals)[0]


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


def final_score(
    *,
    quality: float,
    unlearned_ra: Sequence[float],
    retrained_ra: Sequence[float],
    unlearned_ta: Sequence[float],
    retrained_ta: Sequence[float],
    unlearned_seconds: Sequence[float],
    retrained_seconds: Sequence[float],
) -> float:
    """F · (RA_U / RA_R) · (TA_U / TA_R) with accuracies averaged over the models; 1 is Retrain, and
    above 1 is possible.

    Raises `BadValue` where the mean unlearning time exceeds 20 % of the mean retraining time: the
    competition rejects such a method.
    """
    spent, allowed = (
        float(np.mean(unlearned_seconds)),
        TIME_LIMIT * float(np.mean(retrained_seconds)),
    )
    if spent > allowed:
        raise BadValue(
            f"Rejected: unlearning took {spent:.3g} s on average, but the competition allows "
            f"{TIME_LIMIT:.0%} of the time of retraining, {allowed:.3g} s. A method this slow has "
            "a forgetting quality and no final score."
        )
    return (
        quality
        * utility(unlearned=unlearned_ra, retrained=retrained_ra)
        * utility(unlearned=unlearned_ta, retrained=retrained_ta)
    )


def utility(*, unlearned: Sequence[float], retrained: Sequence[float]) -> float:
    """Mean accuracy of the unlearned models relative to that of the retrained ones, at least 0; 1
    is Retrain.
    """
    reference = float(np.mean(retrained))
    if not reference > 0:
        raise BadValue(
            "Accuracy is divided by Retrain's, but Retrain's is 0 on average. Train it for longer."
        )
    return float(np.mean(unlearned)) / reference


# -- ε, exactly


def _epsilons(
    unlearned: np.ndarray, retrained: np.ndarray, intervals: Intervals
) -> tuple[np.ndarray, np.ndarray]:
    """ε (S,), and whether a sample is degenerate, (S,)."""
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
        two = _either(
            partial(_two_thresholds, intervals=intervals),
            u[rows],
            r[rows],
            unlearned_narrower[rows],
        )
        found[rows] = np.maximum(one, two)
    u_range, r_range = np.ptp(u, axis=1), np.ptp(r, axis=1)
    degenerate = np.minimum(u_range, r_range) < DEGENERATE * np.maximum(u_range, r_range)
    found[degenerate] = CAP
    return np.where(found < 0, np.nan, np.minimum(found, CAP)), degenerate


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


def _two_thresholds(
    positive: np.ndarray, negative: np.ndarray, *, intervals: Intervals
) -> np.ndarray:
    """Largest ε, (S,), over the rules "from l to r", from sorted (S, n) and (S, m); −1 where all
    are discarded.
    """
    cuts, values = _cuts(positive, negative)
    table = _table(positive.shape[1], negative.shape[1])
    found = np.full(len(cuts), -1.0)
    if intervals == "all":
        for right in range(1, cuts.shape[1]):
            np.maximum(
                found,
                table.take(cuts[:, right : right + 1] - cuts[:, :right]).max(axis=1),
                out=found,
            )
        return found
    # l may move between the values around the left cut, (low, high], and r between those around the
    # right one, [low, high).
    low, high = values[:, :-1], values[:, 1:]
    largest, width = positive[:, -1:], np.ptp(positive, axis=1)[:, None]
    least, most = np.maximum(low, largest - _BUFFER), np.minimum(high, largest + _BUFFER)
    least = np.where((least < high) & (least <= largest + _BUFFER), least, np.inf)
    for right in range(1, cuts.shape[1]):
        here = slice(right, right + 1)
        allowed = (least[:, here] - high[:, :right] <= width + _BUFFER) & (
            most[:, here] - low[:, :right] > width - _BUFFER
        )
        rules = np.where(allowed, table.take(cuts[:, here] - cuts[:, :right]), -1.0)
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
