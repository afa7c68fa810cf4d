"""How far a setting is from Retrain, in units of Retrain's own spread. Pure functions of numbers.

The score J is the mean over a scenario's terms of min(|gap to Retrain| / u, `CAP`), where u is the
standard deviation of the difference between two Retrains of different seeds. Another seed's Retrain
has J of about sqrt(2 / pi) = 0.8, so 1 is as good as Retrain and 5 is visibly off. The rule is
ours; DeepUnlearn (Cadet et al., 2024) adds up gaps in percent, in which a term on which all
Retrains agree and one on which they scatter weigh alike.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

import numpy as np

from mucore import catalog
from mucore.catalog.metrics.persons import PERSONS
from mucore.errors import BadValue

REVISION = 1  # of `score` and `units`, raised when what they give can change; suites name it
# A unit is this at least: where all Retrains agree to the last sample, that term would rule.
FLOOR = 0.002
CAP = 100.0  # a term counts as this at most, so that one alone cannot hide the others
WORST = 200.0  # diverged, collapsed, over the cap of work, failed: further away than any score
UNMOVED = 0.1  # of the way to Retrain: less counts as standing still, as in a verdict
VISIBLE = 2.0  # units between original and Retrain, from which standing still can be told
STILL = 1.0  # added to the score of a setting that stood still
COLLAPSED = 0.9  # of the validation predictions in one class

NUMBERS: Mapping[str, str] = {
    "ra": "accuracy on a sample of the retain set",
    "fa": "accuracy on the forget set",
    "fa_true": "accuracy on the forget set's true labels",
    "va": "validation accuracy",
    "va_forgotten": "validation accuracy on the forgotten classes",
    "va_remaining": "validation accuracy on the remaining classes",
    "va_poisoned": "validation accuracy where the poison acts, on true labels",
    "mia": "efficacy of the confidence attack, non-members from the validation set",
    "mia_loss": "accuracy of the attack on losses, forget set against validation set",
}


def revision(scenario: object) -> int:
    """The rule of searches under a scenario, raised with `REVISION` and when its `terms` change:
    studies of another rule are not gone on with. Poison is one ahead, since the attacker's labels
    (`fa`) count.
    """
    return REVISION + any(card.poisons and card.id == scenario for card in catalog.SCENARIOS)


def terms(scenario: str) -> tuple[str, ...]:
    """The numbers that make the score under a scenario, keys of `NUMBERS`. Raises `UnknownName`."""
    card = catalog.scenario(scenario)
    if card.poisons:
        # `fa` is the attacker's success: right labels may be as rare as after Retrain while every
        # wrong one is the attacker's
        return "ra", "va", "fa", "fa_true", "va_poisoned"
    if card.class_wise:
        return "ra", "va_forgotten", "va_remaining", "mia"
    return ("ra", "fa", "va", "mia_loss") if card.id in PERSONS else ("ra", "fa", "va", "mia")


def telling(scenario: str) -> str:
    """The number that tells whether a setting moved at all."""
    return "fa_true" if catalog.scenario(scenario).poisons else "fa"


def units(retrains: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Of each number u = max(sqrt(2) s, `FLOOR`), s the standard deviation (ddof 1) over Retrains
    of different seeds. Raises `BadValue` below two.
    """
    if len(retrains) < 2:
        raise BadValue(f"A spread needs two Retrains at least, but got {len(retrains)}.")
    return {
        name: max(math.sqrt(2) * statistics.stdev(each[name] for each in retrains), FLOOR)
        for name in retrains[0]
    }


def score(gaps: Mapping[str, float], unit: Mapping[str, float], names: Sequence[str]) -> float:
    """J over the terms `names`; `gaps` are fractions, their signs do not matter."""
    return statistics.fmean(min(abs(gaps[name]) / unit[name], CAP) for name in names)


def collapsed(confusion: np.ndarray, gone: Sequence[int]) -> bool:
    """Whether a network gives nearly all samples one class, by counts [true, predicted]. Those of
    classes that are `gone` are left out: who never saw a class has to call it another.
    """
    kept = confusion.copy()
    kept[list(gone)] = 0
    predicted, true = (kept.sum(axis=axis) / max(kept.sum(), 1) for axis in (0, 1))
    favourite = int(predicted.argmax())
    return bool(predicted[favourite] > COLLAPSED >= true[favourite])


def is_visible(original: float, retrain: float, unit: float) -> bool:
    """Whether original and Retrain are far enough apart to tell if a setting moved."""
    return abs(original - retrain) >= VISIBLE * unit


def stood_still(value: float, *, original: float, retrain: float, unit: float) -> bool:
    """Whether a setting went less than `UNMOVED` of the way from the original to Retrain; False
    where that cannot be told.
    """
    return is_visible(original, retrain, unit) and abs(value - original) < UNMOVED * abs(
        original - retrain
    )


def penalised(found: float, *, original: float) -> float:
    """The score of a setting that stood still: never better than one that moved and is no worse
    than the original, whose score `original` is.
    """
    return max(found, original) + STILL
