"""CKA, neighbours and the scores of representations: hand cases, invariances, literal formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from builders import literal_unbiased
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ortho_group
from sklearn.neighbors import KNeighborsClassifier

from mucore.errors import BadValue
from mucore.metrics import representation as rep


def draw(seed: int, n: int, d: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


# -- CKA


@pytest.mark.parametrize(("n", "d", "e"), [(40, 6, 9), (12, 30, 20), (12, 3, 30)])
def test_cka_is_symmetric_and_blind_to_rotation_scale_and_shift(n: int, d: int, e: int):
    x, y = draw(0, n, d), draw(1, n, e)
    y[:, : min(d, e)] += x[:, : min(d, e)]
    value = rep.linear_cka(x, y)
    assert rep.linear_cka(x, x) == pytest.approx(1.0, abs=1e-12)
    assert rep.linear_cka(y, x) == pytest.approx(value, abs=1e-12)
    turned = -3.5 * x @ ortho_group.rvs(d, random_state=np.random.default_rng(2)) + draw(3, 1, d)
    assert rep.linear_cka(turned, y) == pytest.approx(value, abs=1e-12)
    assert rep.linear_cka(x * np.arange(1, d + 1), y) != pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(("n", "d", "e"), [(30, 4, 7), (9, 20, 15), (9, 4, 20)])
def test_both_forms_are_the_literal_formula(n: int, d: int, e: int):
    """Fewer features than samples goes through products, more through Gram matrices."""
    x, y = draw(4, n, d) + 5, draw(5, n, e) - 3
    assert rep.linear_cka(x, y) == pytest.approx(literal_unbiased(x, y), abs=1e-10)


def test_independent_noise_has_a_cka_of_zero_on_average():
    pairs = [(draw(seed, 40, 20), draw(1000 + seed, 40, 20)) for seed in range(300)]
    unbiased = np.array([rep.linear_cka(x, y) for x, y in pairs])
    assert abs(unbiased.mean()) < 3 * unbiased.std() / math.sqrt(300)
    assert (unbiased < 0).any()


def test_layers_are_compared_with_layers():
    first = {"stem": draw(0, 32, 2 * 3 * 3).reshape(32, 2, 3, 3), "head": draw(1, 32, 5)}
    second = {"a": draw(2, 32, 4), "b": first["stem"], "c": draw(3, 32, 40)}
    table = rep.cka_by_layer(first, second)
    assert table.shape == (2, 3)
    assert table[0, 1] == pytest.approx(1.0)
    assert table[1, 2] == pytest.approx(literal_unbiased(first["head"], second["c"]))
    with pytest.raises(BadValue, match="needs 32 samples, but there are 31"):
        rep.cka_by_layer({"a": draw(2, 31, 4)}, {"a": draw(2, 31, 4)})


# -- neighbours


def test_neighbours_by_hand():
    """Angles 0, 10, 50, 80 degrees at different lengths; the query lies at 20."""
    angles = np.radians([0, 10, 50, 80])
    gallery = np.stack([np.cos(angles), np.sin(angles)], 1) * np.array([[1], [9], [0.1], [3]])
    query = np.array([[math.cos(math.radians(20)), math.sin(math.radians(20))]])
    positions, cosines = rep.nearest(query, gallery, k=3)
    assert positions.tolist() == [[1, 0, 2]]
    np.testing.assert_allclose(cosines, np.cos(np.radians([[10, 20, 30]])), atol=1e-12)
    assert rep.nearest(gallery, gallery, k=1, own=np.arange(4))[0].tolist() == [[1], [0], [3], [2]]


def test_equally_near_neighbours_come_in_their_order_and_zero_features_are_at_a_right_angle():
    gallery = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0], [0.0, 0.0], [3.0, 0.0], [-1.0, 0.0]])
    positions, cosines = rep.nearest(np.array([[1.0, 0.0]]), gallery, k=5)
    assert positions.tolist() == [[1, 2, 4, 0, 3]]
    assert cosines.tolist() == [[1.0, 1.0, 1.0, 0.0, 0.0]]
    assert rep.nearest(np.array([[1.0, 0.0]]), gallery, k=2)[0].tolist() == [[1, 2]]


def test_votes_that_tie_go_to_the_lowest_class():
    """Neighbours in order: classes 2, 2, 1, 1, 0. Two votes each for 2 and 1."""
    train = np.array([[1.0, 0.0], [1.0, 0.1], [1.0, 0.2], [1.0, 0.3], [1.0, 0.4], [-1.0, 0.0]])
    labels, query = np.array([2, 2, 1, 1, 0, 3]), np.array([[1.0, 0.0]])

    def right(true: int, k: int = 5) -> float:
        return rep.knn_accuracy(
            train=train, train_labels=labels, test=query, test_labels=np.array([true]), k=k
        )

    assert [right(true) for true in range(4)] == [0, 1, 0, 0]
    assert [right(true, k=3) for true in range(4)] == [0, 0, 1, 0]


@given(seed=st.integers(0, 1000))
@settings(max_examples=20)
def test_accuracy_of_neighbours_is_scikit_learns(seed: int):
    rng = np.random.default_rng(seed)
    train, test = rng.normal(size=(60, 8)), rng.normal(size=(25, 8))
    labels, truth = rng.integers(0, 5, 60), rng.integers(0, 5, 25)
    reference = (
        KNeighborsClassifier(5, metric="cosine", algorithm="brute").fit(train, labels).predict(test)
    )
    assert rep.knn_accuracy(
        train=train, train_labels=labels, test=test, test_labels=truth
    ) == np.mean(reference == truth)


# -- scores

RETRAINED = {"fa": 0.0, "ra": 0.8, "ta": 0.7, "tfa": 0.1, "tra": 0.75, "mia_confidence": 0.9}
UNLEARNED = {"fa": 0.1, "ra": 0.6, "ta": 0.75, "tfa": 0.1, "tra": 0.8, "mia_confidence": 0.5}


def test_gaps_by_hand():
    """Over the classes 0.1, 0.2, 0, 0.05; over the samples 0.1, 0.2, 0.05, 0.4."""
    assert rep.average_gap(unlearned=UNLEARNED, retrained=RETRAINED) == pytest.approx(0.35 / 4)
    assert rep.average_gap(
        unlearned=UNLEARNED, retrained=RETRAINED, over=rep.SAMPLE_ACCURACIES
    ) == pytest.approx(0.75 / 4)
    assert rep.agl(unlearned=UNLEARNED, retrained=RETRAINED) == pytest.approx(0.9 * 0.8 * 0.95)
    assert rep.agl(unlearned=RETRAINED, retrained=RETRAINED) == 1


def test_agr_and_h_lr_by_hand():
    """Gaps 0.1 and 0.3 average 0.2, CKA 0.9 and 0.5 average 0.7: 0.8 · 0.7."""
    assert rep.agr(knn_gaps={"a": 0.1, "b": 0.3}, ckas={"a": 0.9, "b": 0.5}) == pytest.approx(0.56)
    assert rep.h_lr(agl=0.5, agr=1.0) == pytest.approx(2 / 3)
    assert rep.h_lr(agl=1.0, agr=1.0) == 1
    assert (
        rep.h_lr(agl=0.0, agr=0.9)
        == rep.h_lr(agl=0.9, agr=0.0)
        == rep.h_lr(agl=0.9, agr=-0.01)
        == 0
    )
