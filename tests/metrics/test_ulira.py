"""U-LiRA against a loop over left-out models, and against what two Gaussians allow."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from mucore.metrics import ulira


def draw(seed: int, shift: float, models: int, samples: int = 25) -> np.ndarray:
    return np.random.default_rng(seed).normal(shift, 1.0, (models, samples))


@pytest.mark.parametrize(("n", "m"), [(5, 8), (70, 66)])
def test_attack_is_the_literal_leave_one_out(n: int, m: int):
    """Few models share one variance, many have one for each sample."""
    u, r = draw(0, 0.8, n), draw(1, 0.0, m)
    few = min(n, m) < 64

    def score(x: np.ndarray, own: np.ndarray, other: np.ndarray) -> np.ndarray:
        def log_density(models: np.ndarray) -> np.ndarray:
            variance = models.var(axis=0, ddof=1)
            return norm.logpdf(
                x, models.mean(axis=0), np.sqrt(variance.mean() if few else variance)
            )

        return log_density(own) - log_density(other)

    of_unlearned = np.array([score(u[i], np.delete(u, i, axis=0), r) for i in range(n)])
    of_retrained = np.array([score(r[i], u, np.delete(r, i, axis=0)) for i in range(m)])
    got = ulira.attack(unlearned=u, retrained=r)
    assert got.shared_variance is few
    by_sample = ((of_unlearned > 0).mean(axis=0) + (of_retrained <= 0).mean(axis=0)) / 2
    assert got.accuracy == pytest.approx(by_sample.mean())
    beats = (of_unlearned.ravel()[:, None] > of_retrained.ravel()).mean()
    assert got.auc == pytest.approx(beats)
    allowed = np.sort(of_retrained.ravel())[-1 - int(0.01 * of_retrained.size)]
    assert got.tpr_1 == pytest.approx((of_unlearned > allowed).mean())


def test_equal_distributions_leave_the_attack_at_guessing_and_known_ones_at_the_best_possible():
    """Two unit Gaussians two apart: the best accuracy is Φ(1), the AUC Φ(√2). 100 · 200 judgements
    a side.
    """
    blind = ulira.attack(unlearned=draw(0, 0.0, 100, 200), retrained=draw(1, 0.0, 100, 200))
    assert abs(blind.accuracy - 0.5) < 0.02 and abs(blind.auc - 0.5) < 0.02 and blind.tpr_1 < 0.03
    assert blind.tpr_01 is not None and blind.tpr_01 < 0.01
    known = ulira.attack(unlearned=draw(0, 2.0, 100, 200), retrained=draw(1, 0.0, 100, 200))
    assert known.accuracy == pytest.approx(norm.cdf(1), abs=0.01)
    assert known.auc == pytest.approx(norm.cdf(math.sqrt(2)), abs=0.01)
