"""What several seeds and several scenarios say together: intervals, paired tests, average ranks,
rank agreement.

The seed axis is always that of the training seed; no interval runs over classes or samples. p
values and confidences are fractions in 0..1. Values are finite: who asks leaves out what is not.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its parts load when they are named

LEVEL = 0.95


@dataclass(frozen=True, kw_only=True)
class Interval:
    """Mean of n seeds with its confidence interval (t distribution, n − 1 degrees of freedom); one
    seed has neither spread nor interval.
    """

    n: int
    mean: float
    std: float | None  # sample standard deviation
    low: float | None
    high: float | None


def t_interval(values: Sequence[float]) -> Interval:
    """Mean, sample standard deviation and interval mean ± t · std / √n of one value a training
    seed.
    """
    x = np.asarray(values, float)
    mean = float(x.mean())
    if len(x) < 2:
        return Interval(n=1, mean=mean, std=None, low=None, high=None)
    std = float(x.std(ddof=1))
    half = float(scipy.special.stdtrit(len(x) - 1, (1 + LEVEL) / 2)) * std / len(x) ** 0.5
    return Interval(n=len(x), mean=mean, std=std, low=mean - half, high=mean + half)


def half_band(values: Sequence[float]) -> float | None:
    """Half of the 95 % band of these values: that 95 % of the differences of every two of them,
    taken either way, fall into. None below two values. How far two lie apart by chance is another
    number, √2 times their standard deviation.

    The band says what these values did. Of few it is less than chance can do: of normal values on
    average 59 % of it with three, 78 % with five, 91 % with ten; `verdicts.Spread` allows for the
    rest.
    """
    if len(values) < 2:
        return None
    differences = [one - other for one, other in itertools.permutations(values, 2)]
    return float(np.percentile(differences, 97.5))  # and the 2.5th with a minus before it


# -- paired tests


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two methods on the same n blocks. `difference` is the median of first − second."""

    first: str
    second: str
    n: int
    difference: float
    p: float
    p_holm: float  # corrected for all pairs of the family


def wilcoxon_holm(scores: Mapping[str, Sequence[float]]) -> tuple[Pair, ...]:
    """Wilcoxon signed-rank test, two-sided, between every two methods on matched seeds, with Holm's
    correction over all pairs.

    `scores` by method, one value a seed in the same order for all. Equal results on every seed give
    p = 1. With n seeds p is never below 2^(1−n): fewer than six seeds cannot reach 0.05, whatever
    the difference.
    """
    columns = {name: np.asarray(values, float) for name, values in scores.items()}
    pairs = list(itertools.combinations(columns, 2))
    # rounded, so that 0.10 − 0.09 and 0.32 − 0.31 tie
    differences = np.array([columns[a] - columns[b] for a, b in pairs]).round(12)
    p, blocks = [_signed_rank_p(each) for each in differences], differences.shape[1]
    medians = np.median(differences, axis=1).tolist()
    return tuple(
        Pair(first=a, second=b, n=blocks, difference=median, p=raw, p_holm=corrected)
        for (a, b), median, raw, corrected in zip(pairs, medians, p, holm(p), strict=True)
    )


def _signed_rank_p(differences: np.ndarray) -> float:
    """Exact two-sided p of Wilcoxon's signed-rank test: zeros are dropped, ties share their mean
    rank; 1 where nothing is left.
    """
    d = differences[differences != 0]
    # How many choices of signs give each sum of positive ranks: doubled ranks are whole, so that
    # the sums can be counted one by one.
    ranks = np.rint(2 * scipy.stats.rankdata(np.abs(d))).astype(int)
    ways = np.zeros(ranks.sum() + 1)
    ways[0] = 1
    for rank in ranks:
        ways[rank:] += ways[:-rank].copy()
    reached = int(ranks[d > 0].sum())
    least = min(ways[: reached + 1].sum(), ways[reached:].sum())
    return float(min(1.0, 2 * least / ways.sum()))


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """p values corrected by Holm's step-down procedure, in the given order (Holm, 1979)."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    corrected = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    found = np.empty_like(p)
    found[order] = corrected
    return tuple(float(value) for value in found)


# -- ranks


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """Average ranks over blocks (scenarios); rank 1 is the best. Two methods differ if their ranks
    do by more than `critical_difference`; `groups` are sets of methods that do not differ,
    neighbours in rank, for the bars of a critical-difference diagram.
    """

    ranks: dict[str, float]  # best first
    blocks: int
    p: float  # Friedman's test that all methods are alike
    critical_difference: float
    groups: tuple[tuple[str, ...], ...]


def average_ranks(scores: Mapping[str, Sequence[float]]) -> Ranking:
    """Friedman test and Nemenyi's critical difference over three methods at least, one value a
    block in the same order for all; smaller is better.

    Ties share their mean rank.
    Source: Demšar, JMLR 2006, section 3.2.
    """
    # rounded, so that means of the same numbers tie, in whatever order they were added up
    table = np.array([*scores.values()], float).round(12)
    methods, blocks = table.shape
    means = scipy.stats.rankdata(table, axis=0).mean(axis=1)
    all_tied = (table == table[0]).all()
    quantile = float(scipy.stats.studentized_range.ppf(LEVEL, methods, np.inf)) / 2**0.5
    difference = quantile * (methods * (methods + 1) / (6 * blocks)) ** 0.5
    ranks = dict(sorted(zip(scores, means.tolist(), strict=True), key=lambda item: item[1]))
    return Ranking(
        ranks=ranks,
        blocks=blocks,
        p=1.0 if all_tied else float(scipy.stats.friedmanchisquare(*table).pvalue),
        critical_difference=difference,
        groups=_groups(ranks, difference),
    )


def _groups(ranks: Mapping[str, float], difference: float) -> tuple[tuple[str, ...], ...]:
    """Runs of neighbouring ranks no further apart than `difference`, of two methods at least, none
    inside another.
    """
    names, found, reached = list(ranks), [], 0
    for start, name in enumerate(names):
        end = start + sum(0 <= ranks[each] - ranks[name] <= difference for each in names[start:])
        if end > max(reached, start + 1):
            found.append(tuple(names[start:end]))
        reached = max(reached, end)
    return tuple(found)
