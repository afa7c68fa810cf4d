"""Divergence of outputs, linear probe and relearn time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from mucore.metrics import divergence, retention


def draw_probabilities(seed: int, n: int = 30) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.full(4, 0.5), n)


def test_divergence_by_hand():
    """(1, 0) and (0, 1) share nothing: one bit. (1, 0) and (½, ½): middle (¾, ¼), (log2 4/3 + ½
    log2 2/3 + ½ log2 2) / 2.
    """
    p = np.array([[1.0, 0.0], [1.0, 0.0], [0.3, 0.7]])
    q = np.array([[0.0, 1.0], [0.5, 0.5], [0.3, 0.7]])
    expected = [1.0, (math.log2(4 / 3) + 0.5 * math.log2(2 / 3) + 0.5) / 2, 0.0]
    np.testing.assert_allclose(divergence.jensen_shannon(p, q), expected, atol=1e-12)
    assert divergence.js_to_retrain(unlearned=p, retrained=q) == pytest.approx(sum(expected) / 3)
    assert divergence.zrf(unlearned=p, incompetent=q) == pytest.approx(1 - sum(expected) / 3)


def test_divergence_is_scipys_squared_distance_and_symmetric():
    p, q = draw_probabilities(0), draw_probabilities(1)
    np.testing.assert_allclose(
        divergence.jensen_shannon(p, q),
        [jensenshannon(a, b, base=2) ** 2 for a, b in zip(p, q, strict=True)],
    )
    np.testing.assert_allclose(divergence.jensen_shannon(p, q), divergence.jensen_shannon(q, p))
    assert divergence.zrf(unlearned=p, incompetent=p) == 1.0


def clusters(seed: int, spread: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = np.arange(120) % 3
    centres = np.array([[0.0, 0.0, 9.0], [10.0, 0.0, 9.0], [0.0, 10.0, 9.0]])
    return centres[labels] + spread * rng.normal(size=(120, 3)), labels


def test_a_probe_finds_what_is_linear_and_nothing_in_features_without_information():
    (train, train_labels), (test, test_labels) = clusters(0, 0.5), clusters(1, 0.5)
    found = retention.linear_probe_accuracy(
        train=train, train_labels=train_labels, test=test, test_labels=test_labels, classes=range(3)
    )
    assert found == 1.0
    flat = np.ones_like(train)
    blind = retention.linear_probe_accuracy(
        train=flat, train_labels=train_labels, test=flat, test_labels=test_labels, classes=range(3)
    )
    assert blind == pytest.approx(1 / 3)


def test_a_probe_is_judged_on_the_classes_asked_for():
    """Classes 0 and 1 lie on each other, class 2 apart: one of the two is never named, class 2
    always.
    """
    train, labels = clusters(0, 0.5)
    train[labels == 1] -= [10.0, 0.0, 0.0]
    test, truth = train.copy(), labels.copy()

    def probe(*classes: int) -> float:
        return retention.linear_probe_accuracy(
            train=train, train_labels=labels, test=test, test_labels=truth, classes=classes
        )

    assert probe(2) == 1.0
    assert 0.3 < probe(0, 1) < 0.8
    assert probe(0, 1) == pytest.approx((probe(0) + probe(1)) / 2)


def test_relearn_time_counts_epochs_until_the_target():
    curve = [0.1, 0.5, 0.89, 0.95, 0.8]
    assert retention.relearn_epochs(accuracies=curve, target=0.9) == 3
    assert retention.relearn_epochs(accuracies=curve, target=0.9, slack=0.05) == 2
    assert retention.relearn_epochs(accuracies=curve, target=0.1) == 0
    assert retention.relearn_epochs(accuracies=curve, target=0.99) is None
