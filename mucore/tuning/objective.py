"""How far a setting is from Retrain, in the margins of the verdict: 1.0 is at the margin.

The objective of one seed is the largest share of a margin that is used up: of forgetting metrics
|gap| / Δ, of utility the loss / ω, over all that decide the verdict under a scenario
(`mucore/verdicts`), here on validation data in place of test data. A search goes by its mean over
three seeds. The margins follow from Original and Retrain of these seeds, so that what was measured
by an earlier version is scored anew when it is read. Pure functions of numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mucore.verdicts import Line, Spread, rules_of
from mucore.verdicts.rules import BLINDABLE, check

REVISION = 3  # of `score` and `limits`; trials of another one are scored anew
CAP = 100.0  # a score is this at most where there are numbers
WORST = 200.0  # diverged, collapsed, over the cap of work, failed: further away than any score
COLLAPSED = 0.9  # of the validation predictions in one class

# What a search measures in place of a verdict's metric: validation data for test data, and of the
# attack on losses its accuracy, as far from Retrain's as the forgetting score or further.
MEASURED: Mapping[str, str] = {
    "ta": "va",
    "tfa": "va_forgotten",
    "tra": "va_remaining",
    BLINDABLE: "mia",
    "forgetting_score": "mia_loss",
}
Numbers = Mapping[str, float]


@dataclass(frozen=True)
class Limit:
    """The margin of a number, a fraction, and the sign of a gap that counts; 0: both count."""

    margin: float
    side: float

    def share(self, gap: float) -> float:
        """How much of the margin is used up."""
        return (max(0.0, self.side * gap) if self.side else abs(gap)) / self.margin


def terms(scenario: str) -> tuple[str, ...]:
    """The numbers that make the score under a scenario. Raises `UnknownName`."""
    return tuple(MEASURED.get(name, name) for name in rules_of(scenario).metrics)


def limits(
    scenario: str, originals: Sequence[Numbers], retrains: Sequence[Numbers], *, chance: float
) -> dict[str, Limit]:
    """By number, the margins of a scenario, from those of Original and Retrain on the same seeds,
    three or more; `chance` is the accuracy of guessing. Of poison only what lies short of Retrain
    is a fault. Raises `KeyError` where a number is missing.
    """
    rules, found = rules_of(scenario, chance=chance), {}
    for metric in rules.metrics:
        name = MEASURED.get(metric, metric)
        before, after = ([each[name] for each in part] for part in (originals, retrains))
        line = Line(values={metric: after}, original={metric: before}, retrain={metric: after})
        seen = check(metric, line, Spread.of(after, samples=1), rules)
        if metric in rules.utility:
            found[name] = Limit(seen.margin, -1.0)
        elif not rules.poisoned:
            found[name] = Limit(seen.margin, 0.0)
        elif seen.resolvable:
            found[name] = Limit(seen.margin, math.copysign(1.0, seen.original - seen.retrain))
    return found


def score(gaps: Numbers, limits: Mapping[str, Limit]) -> float:
    """The objective of one seed; `gaps` are fractions, the setting's numbers less Retrain's."""
    return short(min(max(limit.share(gaps[name]) for name, limit in limits.items()), CAP))


def short(value: float) -> float:
    """As it is written down, so that a study that was read again goes on alike."""
    return float(f"{value:.6g}")


def collapsed(confusion: np.ndarray, gone: Sequence[int]) -> bool:
    """Whether a network gives nearly all samples one class, by counts [true, predicted]. Those of
    classes that are `gone` are left out: who never saw a class has to call it another.
    """
    kept = confusion.copy()
    kept[list(gone)] = 0
    predicted, true = (kept.sum(axis=axis) / max(kept.sum(), 1) for axis in (0, 1))
    favourite = int(predicted.argmax())
    return bool(predicted[favourite] > COLLAPSED >= true[favourite])
