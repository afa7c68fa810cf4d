"""The five membership attacks: features by formula, attacks against scikit-learn on ten samples a
side, rates against brute force.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC

from mucore.errors import BadValue
from mucore.metrics import mia

# p over three classes and true label; one sure and right, one sure and wrong, one spread, one exact
# 0 and 1.
P = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4], [1.0, 0.0, 0.0]])
Y = np.array([0, 0, 2, 0])


# -- features, by hand


def test_correctness_and_confidence():
    assert mia.correctness(probabilities=P, labels=Y).tolist() == [1, 0, 1, 1]
    assert mia.confidence(probabilities=P, labels=Y).tolist() == [0.7, 0.1, 0.4, 1.0]


def test_entropy_of_certainty_is_zero():
    expected = [
        -(0.7 * math.log(0.7) + 0.2 * math.log(0.2) + 0.1 * math.log(0.1)),
        -(0.8 * math.log(0.8) + 0.2 * math.log(0.1)),
        -(0.6 * math.log(0.3) + 0.4 * math.log(0.4)),
        0.0,
    ]
    np.testing.assert_allclose(mia.entropy(probabilities=P), expected, atol=1e-12)


def test_modified_entropy_follows_the_formula():
    """−(1−p_y) ln p_y − Σ_{c≠y} p_c ln(1−p_c). Row 2: −0.9 ln 0.1 − 0.8 ln 0.2 − 0.1 ln 0.9."""
    expected = [
        -(0.3 * math.log(0.7) + 0.2 * math.log(0.8) + 0.1 * math.log(0.9)),
        -(0.9 * math.log(0.1) + 0.8 * math.log(0.2) + 0.1 * math.log(0.9)),
        -(0.6 * math.log(0.4) + 2 * 0.3 * math.log(0.7)),
        0.0,
    ]
    np.testing.assert_allclose(mia.m_entropy(probabilities=P, labels=Y), expected, atol=1e-12)


def test_modified_entropy_floors_its_logs():
    """All mass on a wrong class: both terms are −1 · ln 1e-30."""
    value = mia.m_entropy(probabilities=np.array([[0.0, 1.0]]), labels=np.array([0]))
    np.testing.assert_allclose(value, [-2 * math.log(1e-30)])


# -- whole attacks, against scikit-learn


def _ten(seed: int, margin: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = np.arange(10) % 3
    logits = rng.normal(size=(10, 3)) + margin * np.eye(3)[labels]
    exponentials = np.exp(logits)
    return exponentials / exponentials.sum(axis=1, keepdims=True), labels


def _feature_by_hand(attack: str, p: np.ndarray, y: int) -> list[float]:
    return {
        "correctness": [1.0 if max(p) == p[y] else 0.0],
        "confidence": [p[y]],
        "entropy": [-sum(x * math.log(x) for x in p)],
        "m_entropy": [
            -(1 - p[y]) * math.log(p[y])
            - sum(x * math.log(1 - x) for c, x in enumerate(p) if c != y)
        ],
        "prob": list(p),
    }[attack]


@pytest.mark.parametrize("attack", mia.ATTACKS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_attack_on_ten_samples_is_what_scikit_learn_gives(attack: str, seed: int):
    forget, members, nonmembers = _ten(seed, 1.0), _ten(seed + 10, 2.0), _ten(seed + 20, 0.5)
    split = mia.split_attack_data(members=10, nonmembers=10, cap=100, evaluation_seed=seed)
    got = mia.run_attack(
        attack, forget=forget, members=members, nonmembers=nonmembers, cap=100, evaluation_seed=seed
    )

    asked, inside, outside = (
        [_feature_by_hand(attack, p, y) for p, y in zip(*role, strict=True)]
        for role in (forget, members, nonmembers)
    )
    rows = [inside[i] for i in split.member_fit] + [outside[i] for i in split.nonmember_fit]
    machine = SVC(C=3, gamma="auto", kernel="rbf").fit(rows, [1] * 5 + [0] * 5)
    assert got.efficacy == np.mean(machine.predict(asked) == 0)
    held_members = machine.predict([inside[i] for i in split.member_held])
    held_nonmembers = machine.predict([outside[i] for i in split.nonmember_held])
    assert got.attack_accuracy == pytest.approx(
        (np.mean(held_members == 1) + np.mean(held_nonmembers == 0)) / 2
    )
    assert got.held_out == 10

    if attack == "prob":
        scores = machine.decision_function(asked)
        against = machine.decision_function(
            [outside[i] for i in sorted(set(range(10)) - {*split.nonmember_fit})]
        )
    else:
        sign = -1 if "entropy" in attack else 1
        scores, against = sign * np.array(asked)[:, 0], sign * np.array(outside)[:, 0]
    truth = [1] * len(scores) + [0] * len(against)
    assert got.auc == pytest.approx(roc_auc_score(truth, np.round([*scores, *against], 12)))
    assert got.tpr_01 == got.tpr_1 == pytest.approx(np.mean(scores > max(against) + 1e-12))


def test_attack_data_is_balanced_capped_disjoint_and_drawn_with_the_evaluation_seed():
    split = mia.split_attack_data(members=1000, nonmembers=41, cap=30, evaluation_seed=3)
    assert [
        len(x)
        for x in (split.member_fit, split.member_held, split.nonmember_fit, split.nonmember_held)
    ] == [15, 15, 15, 15]
    assert not {*split.member_fit} & {*split.member_held}
    assert not {*split.nonmember_fit} & {*split.nonmember_held}
    again, other = (
        mia.split_attack_data(members=1000, nonmembers=41, cap=30, evaluation_seed=seed)
        for seed in (3, 4)
    )
    assert (split.member_fit == again.member_fit).all()
    assert (split.member_fit != other.member_fit).any()
    assert (
        len(
            mia.split_attack_data(
                members=1000, nonmembers=41, cap=100, evaluation_seed=3
            ).nonmember_fit
        )
        == 21
    )


def test_too_few_samples_for_an_attack_is_said_in_words():
    with pytest.raises(
        BadValue, match="two members and two non-members at least, but got 1 and 50"
    ):
        mia.split_attack_data(members=1, nonmembers=50, cap=100, evaluation_seed=0)


# -- predictors


def test_weighted_distinct_rows_give_the_machine_of_all_rows():
    rng = np.random.default_rng(0)
    inside = rng.choice([0.0, 1.0], (60, 1), p=[0.1, 0.9])
    outside = rng.choice([0.0, 1.0], (60, 1), p=[0.6, 0.4])
    score = mia.fit_predictor(members=inside, nonmembers=outside)
    plain = SVC(C=3, gamma="auto").fit(np.concatenate([inside, outside]), [1] * 60 + [0] * 60)
    asked = np.array([[0.0], [1.0], [1.0]])
    np.testing.assert_allclose(score(asked), plain.decision_function(asked), atol=1e-3)


@pytest.mark.parametrize("spread", [0.01, 1.0, 30.0])
def test_the_decision_on_one_number_is_libsvms(spread: float):
    rng = np.random.default_rng(0)
    inside, outside = (spread * rng.normal(shift, 1, (300, 1)) for shift in (0, 0.4))
    asked = spread * rng.normal(0, 2, (1000, 1))  # not a multiple of the rows scored at once
    score = mia.fit_predictor(members=inside, nonmembers=outside)
    # rows in the order that `np.unique` gives, for the solver goes through them in order
    rows = np.unique(
        np.column_stack([np.concatenate([inside, outside]), np.repeat([1, 0], 300)]), axis=0
    )
    machine = SVC(C=3, gamma="auto").fit(rows[:, :1], rows[:, 1])
    np.testing.assert_allclose(score(asked), machine.decision_function(asked), rtol=0, atol=1e-10)


def test_the_score_of_vectors_is_the_machines_and_equal_ones_tie():
    rng = np.random.default_rng(0)
    inside, outside = rng.dirichlet(np.full(5, 0.2), 300), rng.dirichlet(np.full(5, 0.6), 300)
    asked = rng.dirichlet(np.full(5, 0.4), 1000)
    score = mia.fit_predictor(members=inside, nonmembers=outside)
    rows = np.unique(
        np.column_stack([np.concatenate([inside, outside]), np.repeat([1, 0], 300)]), axis=0
    )
    machine = SVC(C=3, gamma="auto").fit(rows[:, :5], rows[:, 5])
    np.testing.assert_allclose(score(asked), machine.decision_function(asked), rtol=0, atol=1e-10)
    assert len(set(score(asked[[7] * 301]))) == 1


def test_probability_vectors_are_scored_once_for_accuracy_and_rates():
    rng = np.random.default_rng(0)
    forget, members, nonmembers = (
        (rng.dirichlet(np.full(4, shape), count), rng.integers(0, 4, count))
        for shape, count in ((1.0, 30), (0.5, 80), (1.5, 90))
    )
    split = mia.split_attack_data(members=80, nonmembers=90, cap=60, evaluation_seed=0)
    found = mia.run_attack(
        "prob", forget=forget, members=members, nonmembers=nonmembers, cap=60, evaluation_seed=0
    )
    score = mia.fit_predictor(
        members=members[0][split.member_fit], nonmembers=nonmembers[0][split.nonmember_fit]
    )
    negatives = score(np.delete(nonmembers[0], split.nonmember_fit, axis=0))
    assert found.auc == mia.auc(positives=score(forget[0]), negatives=negatives)
    assert found.attack_accuracy == mia.balanced_accuracy(
        member_scores=score(members[0][split.member_held]),
        nonmember_scores=score(nonmembers[0][split.nonmember_held]),
    )


def test_the_best_cut_in_either_direction():
    """Members 0.6 0.8 0.9, others 0.1 0.2 0.7. Cuts 0.4 and 0.75 both err once in six; the first
    wins.
    """
    inside, outside = np.array([0.6, 0.8, 0.9]), np.array([0.1, 0.2, 0.7])
    assert mia.best_cut(members=inside, nonmembers=outside) == (pytest.approx(0.4), 1.0)
    assert mia.best_cut(members=-inside, nonmembers=-outside) == (pytest.approx(-0.75), -1.0)


# -- rates

SCORES = st.lists(st.integers(-3, 3), min_size=1, max_size=25).map(
    lambda values: np.array(values, float)
)


@given(positives=SCORES, negatives=SCORES)
@settings(max_examples=60)
def test_auc_is_scikit_learns(positives: np.ndarray, negatives: np.ndarray):
    truth = [1] * len(positives) + [0] * len(negatives)
    assert mia.auc(positives=positives, negatives=negatives) == pytest.approx(
        roc_auc_score(truth, [*positives, *negatives])
    )


@given(positives=SCORES, negatives=SCORES, fpr=st.sampled_from([0.001, 0.01, 0.1, 0.25, 0.5, 1.0]))
@settings(max_examples=100)
def test_tpr_at_fpr_is_the_best_threshold_of_all(
    positives: np.ndarray, negatives: np.ndarray, fpr: float
):
    thresholds = [*positives, *negatives, np.inf]
    allowed = [
        np.mean(positives >= t)
        for t in thresholds
        if np.sum(negatives >= t) <= fpr * len(negatives)
    ]
    assert mia.tpr_at_fpr(positives=positives, negatives=negatives, fpr=fpr) == max(allowed)


def test_balanced_accuracy_weighs_both_sides_alike():
    scores = {
        "member_scores": np.array([1.0, 1.0, -1.0, 0.0]),
        "nonmember_scores": np.array([-1.0, 0.0]),
    }
    # three of four members, one of two others: a score of 0 says "member"
    assert mia.balanced_accuracy(**scores) == 0.625


@pytest.mark.parametrize(
    ("right", "n"),
    [(50, 100), (59, 100), (41, 100), (62, 100), (530, 1000), (540, 1000), (450, 1000)],
)
def test_blind_attacks_are_those_a_binomial_test_cannot_refute(right: int, n: int):
    """The interval holds 95 % of what guessing gives; a two-sided test at 5 % rejects the rest."""
    assert mia.attack_is_blind(right / n, n) == (binomtest(right, n).pvalue > 0.05)


# -- scores sample by sample


def test_roc_passes_equal_scores_together():
    """Positives 3, 2, 2 and negatives 2, 1: above 2 one of three and none; from 2 on all positives
    and one of two negatives; then all.
    """
    false, true = mia.roc(positives=np.array([3.0, 2.0, 2.0]), negatives=np.array([2.0, 1.0]))
    np.testing.assert_allclose(false, [0, 0, 0.5, 1])
    np.testing.assert_allclose(true, [0, 1 / 3, 1, 1])


@pytest.mark.parametrize("attack", mia.ATTACKS)
def test_scores_are_those_behind_auc_and_tpr(attack: str):
    generator = np.random.default_rng(3)
    forget, members, nonmembers = (
        (generator.dirichlet(np.ones(3), count), generator.integers(0, 3, count))
        for count in (25, 40, 30)
    )
    found = mia.run_attack(
        attack, forget=forget, members=members, nonmembers=nonmembers, cap=20, evaluation_seed=1
    )
    scores = mia.score_samples(
        attack, forget=forget, members=members, nonmembers=nonmembers, cap=20, evaluation_seed=1
    )
    assert [len(each) for each in (scores.forget, scores.retain, scores.test)] == [25, 40, 30]
    # ten of the thirty fitted the score
    assert len(scores.negatives) == (20 if attack == "prob" else 30)
    ends = {"positives": scores.forget, "negatives": scores.negatives}
    assert mia.auc(**ends) == found.auc
    assert (mia.tpr_at_fpr(**ends, fpr=0.001), mia.tpr_at_fpr(**ends, fpr=0.01)) == (
        found.tpr_01,
        found.tpr_1,
    )
    if attack == "prob":
        assert scores.cut == 0.0
        assert mia.share_called_unseen(scores=scores.forget) == found.efficacy
