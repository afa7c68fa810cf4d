"""Intervals, paired tests, average ranks and rank agreement against hand cases and published
tables.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import chi2, wilcoxon

from mucore.statistics import significance


def test_interval_by_hand():
    """1, 2, 3: mean 2, standard deviation 1, t(0.975; 2) = 4.303 from any table, over √3."""
    found = significance.t_interval([1.0, 2.0, 3.0])
    assert (found.n, found.mean, found.std) == (3, 2.0, 1.0)
    assert (found.low, found.high) == pytest.approx(
        (2 - 4.3027 / math.sqrt(3), 2 + 4.3027 / math.sqrt(3)), abs=1e-4
    )


def test_one_seed_has_no_interval_and_equal_seeds_have_an_empty_one():
    assert significance.t_interval([0.7]) == significance.Interval(
        n=1, mean=0.7, std=None, low=None, high=None
    )
    equal = significance.t_interval([0.5, 0.5])
    assert (equal.std, equal.low, equal.high) == (0.0, 0.5, 0.5)


@pytest.mark.slow
def test_values_lie_apart_by_what_they_did_and_few_show_less_than_chance_can_do():
    # differences ±1, ±2, ±3: the 97.5th percentile of six is an eighth below the largest
    assert significance.half_band([0.0, 1.0, 3.0]) == pytest.approx(3 - 0.125)
    assert significance.half_band([1.0]) is None
    draw = np.random.default_rng(0)
    for count, share in ((3, 0.59), (5, 0.78), (10, 0.91)):
        halves = [significance.half_band(draw.normal(size=count).tolist()) for _ in range(4000)]
        known = [half for half in halves if half is not None]
        assert np.mean(known) / (1.96 * 2**0.5) == pytest.approx(share, abs=0.015)


def test_interval_covers_the_mean_in_95_of_100_samples():
    rng = np.random.default_rng(0)
    intervals = [significance.t_interval(rng.normal(3, 2, 4).tolist()) for _ in range(2000)]
    share = np.mean(
        [i.low is not None and i.high is not None and i.low <= 3 <= i.high for i in intervals]
    )
    assert abs(share - 0.95) < 0.015


def test_holm_by_hand():
    """0.01, 0.02, 0.03, 0.04 times 4, 3, 2, 1 are 0.04, 0.06, 0.06, 0.04; none may fall below the
    one before it.
    """
    assert significance.holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx((0.06, 0.04, 0.06, 0.06))
    assert significance.holm([0.5, 0.9]) == (1.0, 1.0) and significance.holm([]) == ()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_keeps_the_order_and_never_lowers(p: list[float]):
    found = significance.holm(p)
    assert all(raw <= corrected <= 1 for raw, corrected in zip(p, found, strict=True))
    order = np.argsort(p, kind="stable")
    assert (np.diff(np.array(found)[order]) >= 0).all()


def test_wilcoxon_is_exact_with_zeros_and_ties_whatever_the_number_of_blocks():
    """Beside the distribution of the signed ranks itself, where scipy would approximate."""
    rng = np.random.default_rng(0)
    for n in (14, 19, 24):
        first, second = rng.integers(0, 5, (2, n)) / 10
        (found,) = significance.wilcoxon_holm({"a": first.tolist(), "b": second.tolist()})
        differences = np.round(first - second, 12)
        differences = differences[differences != 0]
        ranks = np.rint(2 * stats.rankdata(np.abs(differences))).astype(int)
        ways = np.zeros(ranks.sum() + 1)
        ways[0] = 1
        for rank in ranks:
            ways[rank:] += ways[:-rank].copy()
        seen = ranks[differences > 0].sum()
        tails = min(ways[: seen + 1].sum(), ways[seen:].sum()) / ways.sum()
        assert found.p == pytest.approx(min(1, 2 * tails), abs=1e-12)


def test_wilcoxon_of_matched_seeds_by_hand():
    """Six seeds, all differences of one sign: p = 2 / 2⁶. Of three pairs two are at 2/64: corrected
    3 · 2/64. c equals b.
    """
    base = np.array([0.5, 0.6, 0.7, 0.65, 0.55, 0.62])
    better = base + np.array([0.01, 0.02, 0.03, 0.04, 0.05, 0.06])
    found = {
        (pair.first, pair.second): pair
        for pair in significance.wilcoxon_holm(
            {"a": better.tolist(), "b": base.tolist(), "c": base.tolist()}
        )
    }
    assert set(found) == {("a", "b"), ("a", "c"), ("b", "c")}
    assert found["a", "b"].p == pytest.approx(2 / 64)
    assert found["a", "b"].p_holm == pytest.approx(6 / 64)
    assert found["a", "b"].difference == pytest.approx(0.035) and found["a", "b"].n == 6
    assert (found["b", "c"].p, found["b", "c"].p_holm, found["b", "c"].difference) == (
        1.0,
        1.0,
        0.0,
    )


def test_differences_that_are_equal_but_for_their_last_bits_tie():
    """Eight differences of ±1/100 share one rank: p is that of 2 of 8 coins, 2 · 37 / 2⁸."""
    a = [k / 100 for k in (52, 95, 89, 24, 58, 26, 24, 0)]
    b = [k / 100 for k in (53, 96, 90, 23, 59, 27, 25, -1)]
    (pair,) = significance.wilcoxon_holm({"a": a, "b": b})
    assert pair.p == pytest.approx(74 / 256)
    assert pair.difference == -0.01


def test_fewer_than_six_seeds_cannot_be_significant():
    found = significance.wilcoxon_holm(
        {"a": [1.0, 2.0, 3.0, 4.0, 5.0], "b": [0.0, 0.5, 0.1, 0.2, 0.3]}
    )
    assert found[0].p == pytest.approx(2 ** (1 - 5)) and found[0].p > 0.05


# Demšar (JMLR 2006), Table 6: AUC of four decision trees on 14 data sets; average ranks 3.143,
# 2.000, 2.893, 1.964.
DEMSAR_METHODS = ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")
DEMSAR = [
    (0.763, 0.768, 0.771, 0.798),
    (0.599, 0.591, 0.59, 0.569),
    (0.954, 0.971, 0.968, 0.967),
    (0.628, 0.661, 0.654, 0.657),
    (0.882, 0.888, 0.886, 0.898),
    (0.936, 0.931, 0.916, 0.931),
    (0.661, 0.668, 0.609, 0.685),
    (0.583, 0.583, 0.563, 0.625),
    (0.775, 0.838, 0.866, 0.875),
    (1.0, 1.0, 1.0, 1.0),
    (0.94, 0.962, 0.965, 0.962),
    (0.619, 0.666, 0.614, 0.669),
    (0.972, 0.981, 0.9751, 0.975),
    (0.957, 0.978, 0.946, 0.97),
]


def test_ranks_and_critical_difference_are_demsars():
    """His example: χ²_F = 9.28, CD = 2.569 √(4·5 / (6·14)) = 1.25 at 5 %. He leaves ties
    uncorrected, which makes his p a little larger.
    """
    found = significance.average_ranks(
        dict(zip(DEMSAR_METHODS, (-np.array(DEMSAR).T).tolist(), strict=True))
    )
    assert list(found.ranks) == ["C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"]
    assert [round(rank, 3) for rank in found.ranks.values()] == [1.964, 2.0, 2.893, 3.143]
    assert found.critical_difference == pytest.approx(2.569 * math.sqrt(20 / 84), abs=1e-3)
    statistic = 12 * 14 / (4 * 5) * (sum(rank**2 for rank in found.ranks.values()) - 4 * 5**2 / 4)
    assert statistic == pytest.approx(9.28, abs=0.01) and found.blocks == 14
    assert 0.01 < found.p < chi2.sf(statistic, 3)
    assert found.groups == (("C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"),)


def test_the_smallest_gap_ranks_first_and_ties_share_a_rank():
    gaps = {"near": [0.1, 0.2, 0.1], "far": [0.9, 0.8, 0.7], "also near": [0.1, 0.1, 0.3]}
    found = significance.average_ranks(gaps)
    assert found.ranks == {"near": pytest.approx(1.5), "also near": pytest.approx(1.5), "far": 3.0}
    equal = significance.average_ranks({name: [0.5, 0.5] for name in "abc"})
    assert set(equal.ranks.values()) == {2.0} and equal.p == 1.0


def test_the_last_digit_of_a_sum_parts_no_tie():
    one, other = 0.1 + 0.2, 0.3
    assert one != other
    found = significance.average_ranks({"a": [one, 1.0], "b": [other, 1.0], "c": [0.5, 2.0]})
    assert found.ranks["a"] == found.ranks["b"]


def test_groups_are_the_largest_runs_within_the_critical_difference():
    """Ranks 1, 2, 3.5, 4 and 9 with a difference of 2: {1, 2}, {2, 3.5, 4}; 9 stands alone."""
    ranks = {"a": 1.0, "b": 2.0, "c": 3.5, "d": 4.0, "e": 9.0}
    assert significance._groups(ranks, 2.0) == (("a", "b"), ("b", "c", "d"))
    assert significance._groups(ranks, 0.1) == ()
    assert significance._groups(ranks, 10.0) == (tuple("abcde"),)


@pytest.mark.slow
@settings(max_examples=40)
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9).filter(any))
def test_signed_rank_p_counts_what_scipy_tries_one_by_one(differences):
    """Small whole numbers give many ties and zeros."""
    d = np.array(differences, float)
    assert significance._signed_rank_p(d) == pytest.approx(wilcoxon(d).pvalue, abs=1e-12)


def test_signed_rank_p_by_hand():
    """Ranks 1.5, 1.5, 3, all positive: one choice of signs of eight is as far up, so p = 2 / 8; a
    zero changes nothing.
    """
    assert significance._signed_rank_p(np.array([1.0, 1.0, 2.0])) == 0.25
    assert significance._signed_rank_p(np.array([1.0, 0.0, 1.0, 2.0])) == 0.25
