"""The forgetting-quality experiment of one method: N unlearned models beside N retrained ones, as
plain functions of stored arrays.

Values are fractions in 0..1, ratios to Retrain, seconds and counts. Source: Triantafillou et al.,
Are We Making Progress in Unlearning? Findings from the First NeurIPS Unlearning Competition, 2024;
what is ours beside it is the comparison of Retrain with itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mucore.errors import BadValue
from mucore.metrics import ulira
from mucore.metrics.cost import comparable, taken
from mucore.metrics.forgetting_quality import (
    BIN,
    BINS,
    CAP,
    FEW_MODELS,
    TIME_LIMIT,
    degenerate,
    epsilons,
    forgetting_quality,
    logit_scaled_confidence,
)
from mucore.outputs import SplitOutputs

FEWEST_MODELS = 4  # two halves of two retrained models; U-LiRA needs three


@dataclass(frozen=True, kw_only=True, eq=False)
class Models:
    """Models of one kind that differ in their seeds alone, one after another."""

    confidences: np.ndarray  # (N, S) logit-scaled, of the same forget samples for every kind
    ra: Sequence[float]
    ta: Sequence[float]
    costs: Sequence[Mapping[str, Any]]  # as in cost.py


@dataclass(frozen=True, kw_only=True)
class Assessment:
    """What the experiment says of one method. Names of metrics are the ids of their cards."""

    models: int  # of each kind
    samples: int  # forgotten ones
    forgetting_quality: float | None  # F; None where no sample has an ε
    competition_score: float | None  # F · utility_ra · utility_ta; None for `score_missing`
    score_missing: str | None
    utility_ra: float | None  # mean RA relative to Retrain's; None where Retrain's is 0
    utility_ta: float | None
    seconds: float | None  # mean time of unlearning
    retrain_seconds: float | None
    time_share: float | None  # seconds / retrain_seconds; None where they do not compare
    ulira_accuracy: float
    ulira_auc: float
    ulira_tpr_01: float | None
    ulira_tpr_1: float
    missing: int  # samples without ε, every rule having been discarded
    # samples on which one kind of model is all but constant; they count as not forgotten
    degenerate: int
    median_epsilon: float | None
    histogram: tuple[int, ...]  # samples by bins of ε, 0.5 nats wide, the last one open
    largest_finite: float  # the largest finite ε that so many models can show
    half_models: int  # of each kind in the next two
    # F of half the unlearned models against the second half of the retrained ones
    half_quality: float | None
    # F of the first half of the retrained models against that second half
    retrain_quality: float | None
    cautions: tuple[str, ...]


def confidences(split: SplitOutputs) -> np.ndarray:
    """Logit-scaled confidence of each sample, (S,), in the order of sample ids; of attributes the
    mean over them.
    """
    order = np.argsort(split.ids, kind="stable")
    logits, labels = split.logits[order], split.labels[order]
    if split.task == "attributes":
        return (np.where(labels == 1, 1.0, -1.0) * logits.astype(np.float64)).mean(axis=1)
    return logit_scaled_confidence(logits=logits, labels=labels)


def assess(*, unlearned: Models, retrained: Models) -> Assessment:
    """Everything about one method. Raises `BadValue` for fewer than four models of a kind or for
    kinds of different sizes.

    Chance parts few models, so that even Retrain against Retrain is below 1: `retrain_quality` says
    how far, for halves of the retrained models, and `half_quality` is the method's own with as few
    models against the same half.
    """
    u, r = unlearned.confidences, retrained.confidences
    if len(u) != len(r) or len(u) < FEWEST_MODELS:
        raise BadValue(
            f"Forgetting quality takes as many unlearned as retrained models, {FEWEST_MODELS} of "
            f"each at least, but got {len(u)} and {len(r)}."
        )
    found = epsilons(unlearned=u, retrained=r)
    known = found[~np.isnan(found)]
    quality, half = forgetting_quality(found), len(u) // 2
    half_quality, retrain_quality = (
        forgetting_quality(epsilons(unlearned=each[:half], retrained=r[half : 2 * half]))
        for each in (u, r)
    )
    attack = ulira.attack(unlearned=u, retrained=r)
    seconds, retrain_seconds = _seconds(unlearned), _seconds(retrained)
    untimed = _untimed(unlearned, retrained)
    utility_ra = _utility(unlearned.ra, retrained.ra)
    utility_ta = _utility(unlearned.ta, retrained.ta)
    score, score_missing = None, untimed
    if quality is None:
        score_missing = (
            "No sample has an ε: every rule errs on one side only. More models are needed."
        )
    elif seconds is None or retrain_seconds is None or untimed:
        pass
    elif seconds > (allowed := TIME_LIMIT * retrain_seconds):
        score_missing = (
            f"Rejected: unlearning took {seconds:.3g} s on average. The limit is "
            f"{100 * TIME_LIMIT:.0f} % of Retrain's time, {allowed:.3g} s. It gets an F but no "
            "final score."
        )
    elif utility_ra is None or utility_ta is None:
        score_missing = (
            "Accuracy is divided by Retrain's, but Retrain's is 0 on average. Train it for longer."
        )
    else:
        score = quality * utility_ra * utility_ta
    edges = np.append(BIN * np.arange(BINS + 1), CAP + 1)
    return Assessment(
        models=len(u),
        samples=u.shape[1],
        forgetting_quality=quality,
        competition_score=score,
        score_missing=score_missing,
        utility_ra=utility_ra,
        utility_ta=utility_ta,
        seconds=seconds,
        retrain_seconds=retrain_seconds,
        time_share=None
        if untimed or seconds is None or not retrain_seconds
        else seconds / retrain_seconds,
        ulira_accuracy=attack.accuracy,
        ulira_auc=attack.auc,
        ulira_tpr_01=attack.tpr_01,
        ulira_tpr_1=attack.tpr_1,
        missing=len(found) - len(known),
        degenerate=int(degenerate(unlearned=u, retrained=r).sum()),
        median_epsilon=float(np.median(known)) if len(known) else None,
        histogram=tuple(np.histogram(known, edges)[0].tolist()),
        largest_finite=float(np.log(len(u) - 1)),
        half_models=half,
        half_quality=half_quality,
        retrain_quality=retrain_quality,
        cautions=tuple(_cautions(unlearned, retrained, attack.shared_variance)),
    )


def _utility(unlearned: Sequence[float], retrained: Sequence[float]) -> float | None:
    """Mean accuracy of the unlearned models relative to that of the retrained ones."""
    reference = float(np.mean(retrained))
    return float(np.mean(unlearned)) / reference if reference > 0 else None


def _seconds(models: Models) -> float | None:
    """The mean; None where that of some is not known."""
    known = [seconds for cost in models.costs if (seconds := taken(cost)) is not None]
    return float(np.mean(known)) if len(known) == len(models.costs) else None


def _untimed(unlearned: Models, retrained: Models) -> str | None:
    """Why times cannot be compared, if so."""
    costs, first = (*unlearned.costs, *retrained.costs), retrained.costs[0]
    if any(taken(cost) is None for cost in costs):
        return (
            "What some of the models took is not known, so nobody can say whether the method is "
            "fast enough."
        )
    if all(comparable(unlearned=cost, retrained=first) for cost in costs):
        return None
    return (
        f"The score has a limit of {TIME_LIMIT:.0%} of Retrain's time, and times compare under "
        "equal conditions only, but some models were made on another device, in another "
        "precision or with another number of threads. Make all of them in one place."
    )


def _cautions(unlearned: Models, retrained: Models, shared_variance: bool) -> list[str]:
    said, models = [], len(unlearned.confidences)
    if models < FEW_MODELS:
        said.append(
            f"With {models} models of a kind no finite ε above {np.log(models - 1):.1f} can be "
            "seen, and chance alone parts few models: forgetting quality is a rough estimate "
            f"below {FEW_MODELS} models."
        )
    if shared_variance:
        said.append(
            "U-LiRA took one variance for all samples, because a variance of each cannot be told "
            "from so few models."
        )
    if not np.ptp(unlearned.confidences, axis=0).any():
        said.append(
            "All unlearned models answer alike: from one original the method draws nothing at "
            "random, and a constant output counts as not forgotten. An original for each model "
            "(originals: each) gives them a distribution."
        )
    if any(cost.get("shared_device") for cost in (*unlearned.costs, *retrained.costs)):
        said.append("Some of the times were taken while other runs shared the device.")
    return said
