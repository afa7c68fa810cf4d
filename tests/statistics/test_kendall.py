"""Kendall's τ-b of all pairs of columns, against SciPy's one pair at a time."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau

from mucore.statistics.kendall import kendall


@pytest.mark.parametrize("n", [2, 3, 5, 20, 33, 34, 60])
@pytest.mark.parametrize("values", [2, 4, 1000])  # few values are many ties
def test_every_pair_is_scipys_to_the_last_bit(n: int, values: int):
    rng = np.random.default_rng(n)
    columns = rng.integers(0, values, (6, n)) / 7 + (rng.random((6, n)) if values == 1000 else 0)
    columns[1] = 0.3  # constant
    columns[2] = -columns[0]
    columns[3] = columns[0] ** 3
    tau, p = kendall(columns)
    for i, first in enumerate(columns):
        for j, second in enumerate(columns):
            expected = kendalltau(first, second)
            np.testing.assert_array_equal(tau[i, j], expected.statistic)
            np.testing.assert_array_equal(p[i, j], expected.pvalue)


def test_by_hand():
    # 1 2 3 4 and 1 3 2 4: five of six pairs in order, one not
    tau, _ = kendall(np.array([[1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0, 4.0]]))
    assert tau[0, 1] == pytest.approx(4 / 6) and tau[0, 0] == tau[1, 1] == 1
