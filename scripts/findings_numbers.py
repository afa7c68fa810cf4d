"""The statistics of docs/findings.md: pure functions of numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

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
    return tau(x, y), *_ends(found)


def _ends(drawn: Sequence[float] | np.ndarray) -> tuple[float, float]:
    """Of the 95 % interval of what was drawn; NaN where nothing could be."""
    if not len(drawn):
        return math.nan, math.nan
    low, high = np.percentile(drawn, (2.5, 97.5))
    return float(low), float(high)


def tau_p(x: Sequence[float], y: Sequence[float]) -> float:
    """Two-sided p of Kendall's test; 1 where one of the columns never varies."""
    p = float(kendall(np.array([x, y], dtype=float))[1][0, 1])
    return 1.0 if math.isnan(p) else p


def seeds_needed(differences: Sequence[float]) -> int | None:
    """The smallest number of seeds, two at least, with which the paired t interval of this mean
    difference and this spread excludes zero; None where `MOST_SEEDS` do not suffice.
    """
    mean, spread = float(np.mean(differences)), float(np.std(differences, ddof=1))
    enough = np.flatnonzero(spread * HALVES < abs(mean))
    return int(COUNTS[enough[0]]) if len(enough) else None


def spread_error(seeds: int) -> tuple[float, float]:
    """What a standard deviation of so many seeds may have to be multiplied by (95 %)."""
    free = seeds - 1
    low, high = chi2.ppf(((1 + LEVEL) / 2, (1 - LEVEL) / 2), free)
    return float(math.sqrt(free / low)), float(math.sqrt(free / high))


@dataclass(frozen=True)
class Agreement:
    """How often a method that forgot lies nearer to Retrain in a metric than one that did not, ties
    half: by task, and the same (draws, tasks) of methods drawn with replacement. NaN where a task
    has not the metric, or a draw no method on one side.
    """

    values: np.ndarray
    drawn: np.ndarray

    @property
    def mean(self) -> Interval:
        return float(np.nanmean(self.values)), *_ends(_means(self.drawn))

    def less(self, other: Agreement) -> Interval:
        """How far this one's mean lies above the other's, over the tasks that both have."""
        gap = self.values - other.values
        return float(np.nanmean(gap)), *_ends(_means(self.drawn - other.drawn))


def agreements(
    metrics: Mapping[str, Sequence[tuple[Mapping[str, float], Mapping[str, float]] | None]],
) -> dict[str, Agreement]:
    """By metric, `Agreement` of what it says of the methods that forgot in each task, and of the
    others; None where a task has not the metric. The methods drawn are the same for all metrics
    and tasks, so that their agreements can be compared pair by pair.
    """
    names = sorted(
        {n for tasks in metrics.values() for t in tasks if t for side in t for n in side}
    )
    size = max(len(names), 1)
    weights = numpy_rng(0, "findings/metrics").multinomial(size, [1 / size] * size, size=DRAWS)
    column = dict(zip(names, weights.T, strict=False))
    found = {}
    for metric, tasks in metrics.items():
        values, drawn = [], []
        for task in tasks:
            forgot, others = task or ({}, {})
            if not forgot or not others:
                values.append(math.nan)
                drawn.append(np.full(DRAWS, math.nan))
                continue
            apart = np.subtract.outer([*others.values()], [*forgot.values()])
            nearer = (apart > 0) + 0.5 * (apart == 0)
            rows, columns = (np.array([column[n] for n in side]).T for side in (others, forgot))
            pairs = rows.sum(axis=1) * columns.sum(axis=1)
            won = ((rows @ nearer) * columns).sum(axis=1)
            values.append(float(nearer.mean()))
            drawn.append(np.where(pairs > 0, won / np.maximum(pairs, 1), math.nan))
        found[metric] = Agreement(np.array(values), np.array(drawn).T)
    return found


def _means(drawn: np.ndarray) -> np.ndarray:
    """Over tasks, of the draws that have one."""
    there = ~np.isnan(drawn)
    some = there.any(axis=1)
    return np.nansum(drawn, axis=1)[some] / there.sum(axis=1)[some]


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
    columns = _by_seed(scores)
    return _known(tau(a, b) for a, b in itertools.combinations(columns.values(), 2))


def seed_by_seed(
    one: Mapping[str, Mapping[int, float]], other: Mapping[str, Mapping[int, float]]
) -> list[float]:
    """Kendall's tau between two tasks over the methods that both have, on every shared seed."""
    names = [name for name in one if name in other]
    first, second = (_by_seed({name: part[name] for name in names}) for part in (one, other))
    return _known(tau(first[seed], second[seed]) for seed in first if seed in second)


def _by_seed(scores: Mapping[str, Mapping[int, float]]) -> dict[int, list[float]]:
    """Of the seeds that all methods have."""
    if not scores:
        return {}
    shared = sorted(set.intersection(*(set(each) for each in scores.values())))
    return {seed: [each[seed] for each in scores.values()] for seed in shared}


def _known(values: Iterable[float]) -> list[float]:
    return [each for each in values if not math.isnan(each)]
