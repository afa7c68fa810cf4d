"""Efficacy from squared gradient norms; the gradients themselves are in tests/probes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mucore.metrics import efficacy


def test_efficacy_by_hand():
    """Gradients (3, 4) and (1, 0): squares 25 and 1, mean 13; their mean is (2, 2), of square 8."""
    assert efficacy.information(squared_norms=np.array([25.0, 1.0])) == 13
    assert efficacy.efficacy(squared_norms=np.array([25.0, 1.0])) == pytest.approx(1 / 13)
    assert efficacy.bound(squared_norm_of_mean=8.0) == pytest.approx(1 / 8)


def test_no_gradient_at_all_is_infinite_efficacy_and_a_tiny_one_is_not_lost():
    assert efficacy.efficacy(squared_norms=np.zeros(3)) == math.inf
    assert efficacy.bound(squared_norm_of_mean=0.0) == math.inf
    assert efficacy.efficacy(squared_norms=np.array([0.0, 2e-200])) == pytest.approx(1e200)
    assert efficacy.efficacy(squared_norms=np.array([1e-320])) == math.inf
    assert efficacy.efficacy(squared_norms=np.array([1e-30, 3e-30], np.float32)) == pytest.approx(
        5e29
    )


@given(st.integers(1, 8), st.integers(1, 6), st.integers(0, 10_000))
def test_the_bound_is_never_below_the_efficacy(n: int, d: int, seed: int):
    gradients = np.random.default_rng(seed).normal(size=(n, d)) * 10.0 ** (seed % 9 - 4)
    value = efficacy.efficacy(squared_norms=(gradients**2).sum(axis=1))
    bound = efficacy.bound(squared_norm_of_mean=float((gradients.mean(axis=0) ** 2).sum()))
    assert bound >= value * (1 - 1e-12)
    if n == 1:
        assert bound == pytest.approx(value, rel=1e-12)
