"""How far runs lie from Retrain, and how far Retrains lie from each other. Imports no torch.

The score J of a run is the mean over the numbers that its verdict rests on of min(|gap to the
Retrain of the same seed| / u, `CAP`), where u is the standard deviation of the difference between
two Retrains of different seeds. Another seed's Retrain has about sqrt(2 / pi) = 0.8 if Retrains
differ as normal noise does; 5 is visibly off. The rule is ours; DeepUnlearn (Cadet et al., 2024)
adds up gaps in percent, in which a term on which all Retrains agree and one on which they scatter
weigh alike.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from mucore.statistics.significance import half_band
from mucore.store.records import Result
from mucore.verdicts import Spread, rules_of
from mucore.verdicts.rules import FEWEST

REVISION: Final = 1  # of `score` and `units`, raised when what they give can change
# A unit is this at least: where all Retrains agree to the last sample, that term would rule.
FLOOR: Final = 0.002
CAP: Final = 100.0  # a term counts as this at most, so that one alone cannot hide the others


def units(retrains: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Of each number u = max(sqrt(2) s, `FLOOR`), s the standard deviation (ddof 1) over two and
    more Retrains of different seeds.
    """
    return {
        name: max(math.sqrt(2) * statistics.stdev(each[name] for each in retrains), FLOOR)
        for name in retrains[0]
    }


def score(gaps: Mapping[str, float], unit: Mapping[str, float], names: Sequence[str]) -> float:
    """J over the terms `names`; `gaps` are fractions, their signs do not matter."""
    return statistics.fmean(min(abs(gaps[name]) / unit[name], CAP) for name in names)


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
    unit = units([*references.values()])
    return {
        seed: score({name: numbers[name] - references[seed][name] for name in names}, unit, names)
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
    """The 95 % band of Retrains, over all ordered pairs of seeds: percentiles of each gap and of
    the score, and the mean score.
    """
    numbers = complete(retrains, names)
    pairs = list(itertools.permutations(numbers.values(), 2))
    if not pairs:
        return {}, None
    unit = units([*numbers.values()])
    gaps = [{name: one[name] - other[name] for name in names} for one, other in pairs]
    scores = [score(each, unit, names) for each in gaps]
    band = {"score": (float(np.percentile(scores, 2.5)), float(np.percentile(scores, 97.5)))}
    for name in names:
        half = half_band([each[name] for each in numbers.values()])
        assert half is not None  # there are pairs
        band[name] = (-half, half)
    return band, float(np.mean(scores))


def repeat_band(retrains: Sequence[float], others: Sequence[float], *, samples: int) -> float:
    """How far a number may come out otherwise on another processor: the 95 % band of two seeds, of
    Retrain or of `others`, the method's other seeds where they are enough to say it,
    whichever is more.
    """
    told = [retrains, others] if len(others) >= FEWEST else [retrains]
    return max(Spread.of(each, samples=samples).band for each in told)
