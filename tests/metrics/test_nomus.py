"""NoMUS and its attack; the 45 published values are in test_published_forgetting.py."""

from __future__ import annotations

import numpy as np
import pytest

from mucore.metrics.nomus import attack_accuracy, forgetting_score, nomus


def losses(seed: int, count: int, scale: float) -> np.ndarray:
    return np.random.default_rng(seed).exponential(scale, count)


def test_losses_of_the_same_kind_cannot_be_told_apart_and_disjoint_ones_can():
    """Of 2 · 400 judgements by guessing, the share of right ones has a standard deviation of
    0.018.
    """
    assert (
        abs(
            attack_accuracy(
                forget=losses(0, 400, 1.0), unseen=losses(1, 900, 1.0), evaluation_seed=0
            )
            - 0.5
        )
        < 0.06
    )
    assert (
        attack_accuracy(forget=losses(0, 50, 0.1), unseen=9 + losses(1, 50, 0.1), evaluation_seed=0)
        == 1.0
    )
    assert (
        attack_accuracy(forget=9 + losses(0, 50, 0.1), unseen=losses(1, 50, 0.1), evaluation_seed=0)
        == 1.0
    )


def test_a_threshold_between_two_groups_is_what_the_attack_learns():
    """Nine in ten of one kind have loss 0 and of the other loss 10, the rest the other way round:
    no threshold does better than 0.9.
    """
    low, high = np.zeros(90), np.full(90, 10.0)
    found = attack_accuracy(
        forget=np.concatenate([low, high[:10]]),
        unseen=np.concatenate([high, low[:10]]),
        evaluation_seed=3,
    )
    assert found == pytest.approx(0.9)


def test_sides_are_balanced_by_a_draw_of_the_evaluation_seed():
    forget, unseen = losses(0, 40, 1.0), losses(1, 4000, 2.0)
    found = [
        attack_accuracy(forget=forget, unseen=unseen, evaluation_seed=seed) for seed in (0, 0, 1)
    ]
    assert found[0] == found[1] != found[2]
    # Were all 4,000 used, calling everything unseen would be right in 99 %.
    assert found[0] < 0.85


def test_the_score_by_hand():
    """MUFAC, Original: 0.5 · 0.5951 + 0.5 · (1 − 2 · 0.2136)."""
    assert (
        forgetting_score(attack_accuracy=0.7136)
        == forgetting_score(attack_accuracy=0.2864)
        == pytest.approx(0.2136)
    )
    assert nomus(accuracy=0.5951, forgetting_score=0.2136) == pytest.approx(0.58395)
    assert nomus(accuracy=1.0, forgetting_score=0.0) == 1.0
    assert nomus(accuracy=0.0, forgetting_score=0.5) == 0.0
