"""The statistics of docs/findings.md: pure functions of numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import binomtest, chi2, t

from mucore.rng import numpy_rng
from mucore.statistics.kendall import kendall

DRAWS = 1000
LEVEL = 0.95
MOST_SEEDS = 1000
COUNTS = np.arange(2, MOST_SEEDS + 1)
HALVES = t.ppf((1 + LEVEL) / 2, COUNTS - 1) / np.sqrt(COUNTS)  # of an interval of unit spread
Interval = tuple[float, float, float]  # a value, and the ends of its interval


def tau(x: Sequence[float], y: Sequence[float]) -> float:
    """Kendall's tau-b of two columns; NaN where one of them never varies."""
    return float(kendall(np.array([x, y], dtype=float))[0][0, 1])


def tau_interval(x: Sequence[float], y: Sequence[float], *, name: str) -> Interval:
    """Kendall's tau-b over methods, and the 95 % interval of its bootstrap over them. `name` names
    the random stream.
    """
    one, other = (np.sign(np.subtract.outer(each, each)) for each in (np.array(x), np.array(y)))
    generator, found = numpy_rng(0, f"findings/{name}"), []
    for _ in range(DRAWS):
        chosen = generator.integers(len(x), size=len(x))
        a, b = one[np.ix_(chosen, chosen)], other[np.ix_(chosen, chosen)]
        if (untied := np.abs(a).sum() * np.abs(b).sum()) > 0:
            found.append(float((a * b).sum() / math.sqrt(untied)))
    low, high = np.percentile(found, (2.5, 97.5))
    return tau(x, y), float(low), float(high)


def seeds_needed(differences: Sequence[float]) -> int | None:
    """The smallest number of seeds, two at least, with which the paired t interval of this mean
    difference and this spread leaves zero out; None where `MOST_SEEDS` do not suffice.
    """
    mean, spread = float(np.mean(differences)), float(np.std(differences, ddof=1))
    enough = np.flatnonzero(spread * HALVES < abs(mean))
    return int(COUNTS[enough[0]]) if len(enough) else None


def spread_error(seeds: int) -> tuple[float, float]:
    """What a standard deviation of so many seeds may have to be multiplied by (95 %)."""
    free = seeds - 1
    low, high = chi2.ppf(((1 + LEVEL) / 2, (1 - LEVEL) / 2), free)
    return float(math.sqrt(free / low)), float(math.sqrt(free / high))


def auc(forgot: Sequence[float], others: Sequence[float]) -> float:
    """How often a method that forgot lies nearer to Retrain than one that did not, ties half."""
    apart = np.subtract.outer(np.asarray(others, float), np.asarray(forgot, float))
    return float(((apart > 0) + 0.5 * (apart == 0)).mean())


def mean_auc(tasks: Sequence[tuple[Sequence[float], Sequence[float]]], *, name: str) -> Interval:
    """The mean of `auc` over tasks, and its interval by a bootstrap over methods, drawn anew within
    those that forgot and those that did not.
    """
    generator, drawn = numpy_rng(0, f"findings/{name}"), []
    scores = []
    for forgot, others in tasks:
        apart = np.subtract.outer(np.asarray(others, float), np.asarray(forgot, float))
        scores.append((apart > 0) + 0.5 * (apart == 0))
    for _ in range(DRAWS // 2):
        each = []
        for table in scores:
            rows, columns = (generator.integers(size, size=size) for size in table.shape)
            each.append(table[np.ix_(rows, columns)].mean())
        drawn.append(np.mean(each))
    low, high = np.percentile(drawn, (2.5, 97.5))
    return float(np.mean([table.mean() for table in scores])), float(low), float(high)


def t_mean(values: Sequence[float]) -> Interval:
    """Mean and 95 % t interval of two values or more."""
    mean = float(np.mean(values))
    half = float(t.ppf((1 + LEVEL) / 2, len(values) - 1)) * float(np.std(values, ddof=1))
    half /= math.sqrt(len(values))
    return mean, mean - half, mean + half


def sign_p(wins: int, losses: int) -> float:
    """Two-sided p of the sign test; 1 where nothing differs."""
    return float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0


def seed_taus(scores: Mapping[str, Mapping[int, float]]) -> list[float]:
    """Kendall's tau over methods between every two training seeds that all of them have."""
    shared = sorted(set.intersection(*(set(each) for each in scores.values())))
    columns = {seed: [each[seed] for each in scores.values()] for seed in shared}
    return [tau(columns[one], columns[other]) for one, other in itertools.combinations(shared, 2)]
