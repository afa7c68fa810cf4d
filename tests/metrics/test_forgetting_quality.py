"""Forgetting quality against a slow, literal reading of the competition's Algorithm 1."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mucore.metrics import forgetting_quality as fq

DELTA = 1e-5


# -- the document, word by word


def literal_rule(fpr: float, fnr: float) -> float | None:
    """ε of one rule: None if it is discarded."""
    if fpr == 0 and fnr == 0:
        return math.inf
    if fpr == 0 or fnr == 0:
        return None
    sides = [
        math.log(1 - DELTA - a) - math.log(b)
        for a, b in ((fpr, fnr), (fnr, fpr))
        if 1 - DELTA - a > 0
    ]
    return max([0.0, *sides])


def literal_epsilon(unlearned: list[float], retrained: list[float]) -> float | None:
    """ε of one sample, over thresholds at and beyond all confidences."""
    widths = {"u": max(unlearned) - min(unlearned), "r": max(retrained) - min(retrained)}
    narrow, wide = sorted(widths.values())
    if wide > 0 and narrow / wide < 0.01:
        return 50.0
    thresholds = sorted({-math.inf, math.inf, *unlearned, *retrained})
    positive, negative = (
        (unlearned, retrained)
        if np.median(unlearned) >= np.median(retrained)
        else (retrained, unlearned)
    )
    rules = [
        [lambda c, t=t: c >= t for t in thresholds],
        [
            lambda c, a=a, b=b: a <= c <= b
            for a, b in itertools.combinations_with_replacement(thresholds, 2)
        ],
    ]
    found = []
    for number, family in enumerate(rules):
        if number == 1 and max(positive) - min(positive) >= max(negative) - min(negative):
            positive, negative = negative, positive
        for called_positive in family:
            fpr = sum(called_positive(c) for c in negative) / len(negative)
            fnr = sum(not called_positive(c) for c in positive) / len(positive)
            found.append(literal_rule(fpr, fnr))
    kept = [epsilon for epsilon in found if epsilon is not None]
    return min(max(kept), 50.0) if kept else None


def literal_quality(epsilons: list[float | None], bins: int) -> float | None:
    scores = []
    for epsilon in epsilons:
        if epsilon is not None:
            n = math.floor(epsilon / 0.5) + 1
            scores.append(2 / 2**n if n <= bins else 0.0)
    return sum(scores) / len(scores) if scores else None


def check(unlearned: np.ndarray, retrained: np.ndarray) -> None:
    expected = [
        literal_epsilon(u.tolist(), r.tolist())
        for u, r in zip(unlearned.T, retrained.T, strict=True)
    ]
    got = fq.epsilons(unlearned=unlearned, retrained=retrained)
    np.testing.assert_allclose(got, [np.nan if e is None else e for e in expected], rtol=1e-12)
    assert fq.forgetting_quality(got) == pytest.approx(literal_quality(expected, 13))


@given(
    n=st.integers(2, 9),
    m=st.integers(2, 9),
    digits=st.sampled_from([0, 1, 6]),
    shift=st.sampled_from([0.0, 1.0, 5.0]),
    seed=st.integers(0, 999),
)
@settings(max_examples=60)
def test_sorting_finds_what_the_literal_algorithm_finds(
    n: int, m: int, digits: int, shift: float, seed: int
):
    """Rounded confidences tie within and across the two kinds of model."""
    rng = np.random.default_rng(seed)
    check(
        rng.normal(0, 1 + seed % 3, (n, 8)).round(digits),
        rng.normal(shift, 1, (m, 8)).round(digits),
    )


def test_more_samples_than_a_block_and_both_directions_at_once():
    rng = np.random.default_rng(0)
    shift, spread = rng.normal(0, 2, 150), rng.uniform(0.2, 3, 150)
    check(rng.normal(0, 1, (7, 150)), rng.normal(shift, spread, (6, 150)))


# -- cases by hand


def one(unlearned: list[float], retrained: list[float]) -> tuple[list[float], float | None]:
    """The sample's ε, and F."""
    found = fq.epsilons(
        unlearned=np.array(unlearned)[:, None], retrained=np.array(retrained)[:, None]
    )
    return found.tolist(), fq.forgetting_quality(found)


def test_one_model_on_the_wrong_side_of_each_is_the_largest_finite_epsilon():
    """N = 4 with one exchanged: FPR = FNR = ¼, ε = ln(¾ − δ) − ln ¼, just below ln 3. The third bin
    scores ¼.
    """
    epsilons, quality = one([0.0, 1.0, 2.0, 10.0], [3.0, 11.0, 12.0, 13.0])
    assert epsilons == [pytest.approx(math.log(0.75 - DELTA) - math.log(0.25))]
    assert quality == 0.25


def test_distributions_apart_and_one_inside_a_gap_of_the_other_are_told_for_certain():
    assert one([0.0, 1.0, 2.0], [3.0, 4.0, 5.0]) == ([50.0], 0.0)
    assert one([-5.0, -4.0, 4.0, 5.0], [-1.0, 0.0, 1.0]) == ([50.0], 0.0)


def test_a_constant_output_is_no_forgetting():
    """The range 0.009 is below 1 % of 1; 0.011 is not."""
    wide = [0.0, 0.4, 0.6, 1.0]
    narrow, less = [0.5, 0.503, 0.506, 0.509], [0.4, 0.404, 0.408, 0.411]
    found = fq.degenerate(unlearned=np.array([narrow, less]).T, retrained=np.array([wide, wide]).T)
    assert found.tolist() == [True, False]
    assert one(narrow, wide) == ([50.0], 0.0)
    assert one(wide, [0.5, 0.5, 0.5, 0.5]) == ([50.0], 0.0)


def test_a_sample_without_any_rule_is_missing_and_counted():
    """All confidences equal: whatever is called positive is all or nothing, so every rule errs on
    one side only.
    """
    unlearned, retrained = np.array([[1.0, 0.0], [1.0, 2.0]]), np.array([[1.0, 1.0], [1.0, 3.0]])
    got = fq.epsilons(unlearned=unlearned, retrained=retrained)
    assert np.isnan(got).tolist() == [True, False]
    assert fq.forgetting_quality(got) == fq.sample_scores(got)[1]
    assert one([1.0, 1.0], [1.0, 1.0])[1] is None


def test_scores_of_bins():
    """[0, 0.5) scores 1, [0.5, 1) ½, ..., [6, 6.5) 2⁻¹²; 6.5 is beyond the last bin."""
    epsilons = np.array([0.0, 0.49, 0.5, 0.99, 1.0, 6.49, 6.5, 50.0])
    expected = [1.0, 1.0, 0.5, 0.5, 0.25, 2.0**-12, 0, 0]
    np.testing.assert_array_equal(fq.sample_scores(epsilons), expected)


@given(n=st.integers(2, 30), m=st.integers(2, 30), seed=st.integers(0, 99))
@settings(max_examples=40)
def test_no_finite_epsilon_exceeds_what_so_many_models_can_show(n: int, m: int, seed: int):
    rng = np.random.default_rng(seed)
    got = fq.epsilons(
        unlearned=rng.normal(size=(n, 20)), retrained=rng.normal(0.5, 1.2, size=(m, 20))
    )
    assert (got[got < fq.CAP] <= math.log(max(n - n / m, m - m / n)) + 1e-12).all()


# -- confidences


def test_confidence_by_hand_and_at_its_limits():
    """p = (½, ¼, ¼): ln ½ − ln ½ = 0 for the first class, ln ¼ − ln ¾ for the second. Floored,
    nothing is beyond ln 1e45 = 103.6.
    """
    logits = np.log(np.array([[0.5, 0.25, 0.25], [0.5, 0.25, 0.25]]))
    np.testing.assert_allclose(
        fq.logit_scaled_confidence(logits=logits, labels=np.array([0, 1])),
        [0, -math.log(3)],
        atol=1e-12,
    )
    extreme = np.array([[900.0, 0.0], [900.0, 0.0], [60.0, 0.0]], np.float32)
    found = fq.logit_scaled_confidence(logits=extreme, labels=np.array([0, 1, 0]))
    np.testing.assert_allclose(found, [45 * math.log(10), -45 * math.log(10), 60.0])


# -- the rule behind ε


@given(st.integers(2, 12), st.integers(2, 12), st.integers(0, 3), st.integers(0, 10_000))
def test_the_best_rule_has_the_error_rates_of_its_epsilon(n: int, m: int, digits: int, seed: int):
    generator = np.random.default_rng(seed)
    u, r = np.round(generator.normal(1, 1, n), digits), np.round(generator.normal(0, 2, m), digits)
    if min(np.ptp(u), np.ptp(r)) < 0.01 * max(np.ptp(u), np.ptp(r)):
        return
    expected = fq.epsilons(unlearned=u[:, None], retrained=r[:, None])[0]
    rule = fq.best_rule(unlearned=u, retrained=r)
    assert (rule is None) == np.isnan(expected)
    if rule is not None:
        assert rule.epsilon == pytest.approx(expected)
        positive, negative = (u, r) if rule.positive == "unlearned" else (r, u)
        assert rule.fnr == pytest.approx(((positive <= rule.low) | (positive > rule.high)).mean())
        assert rule.fpr == pytest.approx(((negative > rule.low) & (negative <= rule.high)).mean())
        value = literal_rule(rule.fpr, rule.fnr)
        assert value is not None and min(value, 50.0) == pytest.approx(expected)


def test_best_rules_by_hand():
    one = fq.best_rule(unlearned=np.array([1.0, 3, 4, 5]), retrained=np.array([-1.0, 0, 0.5, 3.5]))
    assert one is not None and (one.positive, one.low, one.high) == ("unlearned", 2.0, math.inf)
    assert (one.fnr, one.fpr) == (0.25, 0.25)
    assert one.epsilon == pytest.approx(math.log(3), abs=1e-4)
    two = fq.best_rule(unlearned=np.array([-9.0, -5, 5, 9]), retrained=np.array([-1.0, 0, 0, 1]))
    assert two is not None and (two.positive, two.low, two.high) == ("retrained", -3.0, 3.0)
    assert (two.fnr, two.fpr, two.epsilon) == (0.0, 0.0, fq.CAP)
