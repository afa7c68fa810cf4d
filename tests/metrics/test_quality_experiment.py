"""The numbers of the forgetting-quality experiment, by hand on a few models, and what Retrain says
of itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mucore import catalog
from mucore.metrics.quality_experiment import Assessment, Models, assess, confidences
from mucore.outputs import SplitOutputs

CONDITIONS = {"device": "cpu", "precision": "fp32", "threads": 1}
# four models, one sample; either half is like the whole
ALIKE = np.array([[0.0], [3.0], [0.0], [3.0]])


def models(
    values: np.ndarray,
    *,
    ra: float = 0.8,
    ta: float = 0.5,
    seconds: float | None = 10.0,
    **cost: Any,
) -> Models:
    n = len(values)
    return Models(
        confidences=values,
        ra=[ra] * n,
        ta=[ta] * n,
        costs=[{**CONDITIONS, "seconds": seconds, **cost}] * n,
    )


def test_two_samples_by_hand():
    """On one sample both kinds give the same confidences, ε = 0 and H = 1; on the other a threshold
    parts them without error, H = 0.
    """
    r = np.hstack([ALIKE, ALIKE])
    u = np.hstack([ALIKE, ALIKE + 100])
    found = assess(unlearned=models(u, ra=0.6, ta=0.45, seconds=1.0), retrained=models(r))
    assert found.forgetting_quality == 0.5
    assert (found.utility_ra, found.utility_ta) == (pytest.approx(0.75), pytest.approx(0.9))
    assert found.competition_score == pytest.approx(0.5 * 0.75 * 0.9)
    assert found.score_missing is None
    assert (found.seconds, found.retrain_seconds, found.time_share) == (1.0, 10.0, 0.1)
    assert (found.models, found.samples, found.missing, found.degenerate) == (4, 2, 0, 0)
    assert found.histogram[0] == found.histogram[-1] == 1 and sum(found.histogram) == 2
    assert found.median_epsilon == 25.0  # of 0 and the cap
    assert (found.half_models, found.half_quality, found.retrain_quality) == (2, 0.5, 1.0)


def test_a_slow_method_has_a_quality_and_no_score():
    found = assess(unlearned=models(ALIKE, seconds=2.1), retrained=models(ALIKE))
    assert found.forgetting_quality == 1.0 and found.competition_score is None
    assert "Rejected" in (found.score_missing or "")
    assert (
        assess(unlearned=models(ALIKE, seconds=2.0), retrained=models(ALIKE)).competition_score
        == 1.0
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [({"seconds": None}, "is not known"), ({"threads": 2}, "equal conditions")],
)
def test_times_that_do_not_compare_give_no_score(change: dict[str, Any], reason: str):
    found = assess(unlearned=models(ALIKE, **{"seconds": 1.0, **change}), retrained=models(ALIKE))
    assert found.competition_score is None and found.time_share is None
    assert reason in (found.score_missing or "")
    assert found.forgetting_quality == 1.0


def test_a_retrain_that_learned_nothing_gives_no_score():
    found = assess(unlearned=models(ALIKE, seconds=1.0), retrained=models(ALIKE, ra=0.0))
    assert found.utility_ra is None and found.competition_score is None
    assert "Retrain's is 0" in (found.score_missing or "")


def test_a_constant_method_is_degenerate_and_says_why():
    found = assess(
        unlearned=models(np.full((4, 3), 1.5), seconds=0.0),
        retrained=models(np.hstack([ALIKE] * 3)),
    )
    assert found.degenerate == found.samples == 3
    assert found.forgetting_quality == 0.0
    assert any("draws nothing at random" in sentence for sentence in found.cautions)


def test_retrain_against_retrain_is_what_chance_gives():
    """Models of one distribution: halves are as alike as other models are to them, and U-LiRA
    guesses. A shift shows in both.
    """
    rng = np.random.default_rng(0)
    scale = rng.uniform(0.5, 2.0, 150)
    u, r = rng.normal(size=(2, 64, 150)) * scale
    same = assess(unlearned=models(u, seconds=1.0), retrained=models(r))
    assert same.half_quality == pytest.approx(same.retrain_quality, abs=0.04)
    assert same.ulira_accuracy == pytest.approx(0.5, abs=0.03)
    assert not any("rough estimate" in sentence for sentence in same.cautions)
    shifted = assess(unlearned=models(u + 2.5 * scale, seconds=1.0), retrained=models(r))
    assert (shifted.forgetting_quality or 0) < (same.forgetting_quality or 0) / 2
    assert shifted.retrain_quality == same.retrain_quality
    assert shifted.ulira_accuracy > 0.85


def test_confidences_are_in_the_order_of_sample_ids():
    logits = np.log(np.array([[0.9, 0.1], [0.4, 0.6]], np.float32))
    split = SplitOutputs(
        logits=logits,
        labels=np.array([0, 0]),
        ids=np.array([7, 3]),
        confusion=np.zeros((2, 2), np.int64),
    )
    np.testing.assert_allclose(confidences(split), [np.log(0.4 / 0.6), np.log(9)], rtol=1e-6)


def test_of_attributes_the_mean_counts():
    """ln p − ln (1 − p) of a sigmoid is its logit; a wrong answer's has the other sign."""
    split = SplitOutputs(
        logits=np.array([[2.0, -3.0]], np.float32),
        labels=np.array([[1, 1]]),
        ids=np.array([0]),
        confusion=np.zeros((2, 2, 2), np.int64),
    )
    np.testing.assert_allclose(confidences(split), [-0.5])
    other = replace(split, labels=np.array([[1, 0]]))
    np.testing.assert_allclose(confidences(other), [2.5])


def test_cards_of_the_experiment_are_fields_of_its_numbers():
    ids = {card.id for card in catalog.metrics() if card.group == "experiment"}
    assert ids and ids <= set(Assessment.__dataclass_fields__)
    assert not ids & {card.id for card in catalog.metrics() if card.group != "experiment"}
