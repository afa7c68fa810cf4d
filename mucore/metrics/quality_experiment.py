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
    CAP,
    TIME_LIMIT,
    Bins,
    Intervals,
    final_score,
    forgetting_quality,
    logit_scaled_confidence,
    utility,
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


def assess(
    *, unlearned: Models, retrained: Models, bins: Bins = "document", intervals: Intervals = "all"
) -> Assessment:
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
    found = forgetting_quality(unlearned=u, retrained=r, bins=bins, intervals=intervals)
    attack = ulira.attack(unlearned=u, retrained=r)
    half = len(u) // 2
    others = r[half : 2 * half]
    seconds, retrain_seconds, times_missing = _times(unlearned, retrained)
    score, score_missing = None, times_missing
    if found.quality is None:
        score_missing = (
            "No sample has an ε: every rule errs on one side only. More models are needed."
        )
    elif times_missing is None:
        try:
            score = final_score(
                quality=found.quality,
                unlearned_ra=unlearned.ra,
                retrained_ra=retrained.ra,
                unlearned_ta=unlearned.ta,
                retrained_ta=retrained.ta,
                unlearned_seconds=_seconds(unlearned),
                retrained_seconds=_seconds(retrained),
            )
        except BadValue as error:
            score_missing = str(error)
    known = found.epsilons[~np.isnan(found.epsilons)]
    edges = np.append(BIN * np.arange(found.bins + 1), CAP + 1)
    return Assessment(
        models=len(u),
        samples=u.shape[1],
        forgetting_quality=found.quality,
        competition_score=score,
        score_missing=score_missing,
        utility_ra=_utility(unlearned.ra, retrained.ra),
        utility_ta=_utility(unlearned.ta, retrained.ta),
        seconds=seconds,
        retrain_seconds=retrain_seconds,
        time_share=seconds / retrain_seconds
        if times_missing is None and seconds is not None and retrain_seconds
        else None,
        ulira_accuracy=attack.accuracy,
        ulira_auc=attack.auc,
        ulira_tpr_01=attack.tpr_01,
        ulira_tpr_1=attack.tpr_1,
        missing=found.missing,
        degenerate=found.degenerate,
        median_epsilon=float(np.median(known)) if len(known) else None,
        histogram=tuple(int(count) for count in np.histogram(known, edges)[0]),
        largest_finite=found.largest_finite,
        half_models=half,
        half_quality=forgetting_quality(
            unlearned=u[:half], retrained=others, bins=bins, intervals=intervals
        ).quality,
        retrain_quality=forgetting_quality(
            unlearned=r[:half], retrained=others, bins=bins, intervals=intervals
        ).quality,
        cautions=tuple(_cautions(unlearned, retrained, found.caution, attack.shared_variance)),
    )


def _utility(unlearned: Sequence[float], retrained: Sequence[float]) -> float | None:
    return (
        utility(unlearned=unlearned, retrained=retrained) if float(np.mean(retrained)) > 0 else None
    )


def _times(unlearned: Models, retrained: Models) -> tuple[float | None, float | None, str | None]:
    """Mean seconds of both kinds, and why they cannot be compared, if so."""
    own, reference = (_mean_seconds(models) for models in (unlearned, retrained))
    if own is None or reference is None:
        return (
            own,
            reference,
            (
                "What some of the models took is not known, so nobody can say whether the method "
                "is fast enough."
            ),
        )
    first = retrained.costs[0]
    if all(
        comparable(unlearned=cost, retrained=first) for cost in (*unlearned.costs, *retrained.costs)
    ):
        return own, reference, None
    reason = (
        f"The score has a limit of {TIME_LIMIT:.0%} of Retrain's time, and times compare under "
        "equal conditions only, but some models were made on another device, in another "
        "precision or with another number of threads. Make all of them in one place."
    )
    return own, reference, reason


def _mean_seconds(models: Models) -> float | None:
    known = _seconds(models)
    return float(np.mean(known)) if len(known) == len(models.costs) else None


def _seconds(models: Models) -> list[float]:
    """Of the models whose time is known."""
    return [seconds for cost in models.costs if (seconds := taken(cost)) is not None]


def _cautions(
    unlearned: Models, retrained: Models, few: str | None, shared_variance: bool
) -> list[str]:
    said = [few] if few else []
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
