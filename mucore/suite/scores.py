"""How far runs lie from Retrain, and how far Retrains lie from each other. Imports no torch.

The score of a run is that of searches (mucore/tuning/objective.py) on the numbers that its verdict
rests on, test data among them: the gaps to the Retrain of the same seed in units of how far two
Retrains lie apart. Another seed's Retrain has about 0.8 on average if Retrains differ as normal
noise does.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import scipy  # its parts load when they are named

from mucore.statistics.significance import apart
from mucore.store.rows import Result
from mucore.tuning import objective
from mucore.verdicts import Spread, rules_of
from mucore.verdicts.rule import FEWEST


def values_of(runs: Mapping[int, Result], metric: str) -> dict[int, float]:
    """What runs measured, by seed, without those that have no value."""
    return {
        seed: measured.value
        for seed, run in runs.items()
        if (measured := run.metrics.get(metric)) is not None and measured.value is not None
    }


def scores_of(
    runs: Mapping[int, Result], retrains: Mapping[int, Result], scenario: str
) -> dict[int, float]:
    """The score of each run, by seed; empty where two Retrains make no spread yet, or a number is
    missing.
    """
    names = rules_of(scenario).metrics
    references, mine = complete(retrains, names), complete(runs, names)
    if len(references) < 2:
        return {}
    units = objective.units([*references.values()])
    return {
        seed: objective.score(
            {name: numbers[name] - references[seed][name] for name in names}, units, names
        )
        for seed, numbers in mine.items()
        if seed in references
    }


def complete(runs: Mapping[int, Result], names: Iterable[str]) -> dict[int, dict[str, float]]:
    """The numbers `names` of the runs that have all of them, by seed."""
    columns = {name: values_of(runs, name) for name in names}
    return {
        seed: {name: values[seed] for name, values in columns.items()}
        for seed in runs
        if all(seed in values for values in columns.values())
    }


def noise(
    retrains: Mapping[int, Result], names: Sequence[str]
) -> tuple[dict[str, tuple[float, float]], float | None]:
    """How far Retrains lie apart, over all ordered pairs of seeds: percentiles of each gap and of
    the score, and the mean score.
    """
    numbers = complete(retrains, names)
    pairs = list(itertools.permutations(numbers.values(), 2))
    if not pairs:
        return {}, None
    units = objective.units([*numbers.values()])
    gaps = [{name: one[name] - other[name] for name in names} for one, other in pairs]
    scores = [objective.score(each, units, names) for each in gaps]
    band = {"score": (float(np.percentile(scores, 2.5)), float(np.percentile(scores, 97.5)))}
    for name in names:
        half = apart([each[name] for each in numbers.values()])
        assert half is not None  # there are pairs
        band[name] = (-half, half)
    return band, float(np.mean(scores))


def paired_p(one: Mapping[int, float], other: Mapping[int, float]) -> float:
    """Two-sided p of the t test of paired differences; 1 where fewer than two seeds are shared."""
    d = np.array([one[seed] - other[seed] for seed in one if seed in other])
    if len(d) < 2:
        return 1.0
    error = float(d.std(ddof=1)) / len(d) ** 0.5
    if error == 0:
        return 0.0 if d.any() else 1.0
    return float(2 * scipy.special.stdtr(len(d) - 1, -abs(float(d.mean())) / error))


def repeat_band(retrains: Sequence[float], others: Sequence[float], *, samples: int) -> float:
    """How far a number may come out otherwise on another processor: as two seeds lie apart by
    chance, of Retrain or of `others`, the method's other seeds where they are enough to say it,
    whichever is more.
    """
    told = [retrains, others] if len(others) >= FEWEST else [retrains]
    return max(Spread.of(each, samples=samples).band for each in told)
