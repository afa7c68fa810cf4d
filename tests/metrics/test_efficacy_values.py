"""Efficacy from squared gradient norms; the gradients themselves are in tests/probes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mucore.errors import BadValue
from mucore.metrics.efficacy import information, log10_efficacy


def test_efficacy_by_hand():
    """Gradients (3, 4) and (1, 0): squares 25 and 1, mean 13; their mean is (2, 2), of square 8."""
    assert information(squared_norms=np.array([25.0, 1.0])) == 13
    assert log10_efficacy(squared_norms=np.array([25.0, 1.0])) == pytest.approx(-math.log10(13))
    assert log10_efficacy(squared_norms=np.array([8.0])) == pytest.approx(-math.log10(8))


def test_no_gradient_at_all_is_infinite_and_a_tiny_one_is_not_lost():
    with pytest.raises(BadValue, match="It is infinite"):
        log10_efficacy(squared_norms=np.zeros(3))
    with pytest.raises(BadValue, match="It is infinite"):
        log10_efficacy(squared_norms=np.array([0.0]))
    assert log10_efficacy(squared_norms=np.array([0.0, 2e-200])) == pytest.approx(200)
    assert log10_efficacy(squared_norms=np.array([1e-320])) == pytest.approx(320, rel=1e-3)


@given(st.integers(1, 8), st.integers(1, 6), st.integers(0, 10_000))
def test_the_bound_is_never_below_the_efficacy(n: int, d: int, seed: int):
    gradients = np.random.default_rng(seed).normal(size=(n, d)) * 10.0 ** (seed % 9 - 4)
    value = log10_efficacy(squared_norms=(gradients**2).sum(axis=1))
    bound = log10_efficacy(squared_norms=np.array([float((gradients.mean(axis=0) ** 2).sum())]))
    assert bound >= value - 1e-12
    if n == 1:
        assert bound == pytest.approx(value, abs=1e-12)
