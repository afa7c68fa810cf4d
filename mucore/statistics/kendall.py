"""Kendall's τ-b of many pairs of columns at once, to the last bit as `scipy.stats.kendalltau` gives
it pair by pair, which takes a page of 23 metrics and 16 settings 4,416 calls.
"""

from __future__ import annotations

import numpy as np
import scipy  # its parts load when they are named

_EXACT = 33  # SciPy counts permutations up to so many values without ties


def kendall(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """τ-b and two-sided p, (m, m) each, of finite columns (m, n) with n of at least 2; NaN where
    one of the two is constant.
    """
    n = columns.shape[1]
    left, right = np.triu_indices(n, 1)
    first, second = columns[:, left], columns[:, right]
    signs = (first > second).astype(np.float64) - (first < second)
    lead = signs @ signs.T  # concordant less discordant pairs, whole numbers
    total = n * (n - 1) // 2
    untied = np.abs(signs).sum(axis=1)
    ties = total - untied
    with np.errstate(divide="ignore", invalid="ignore"):
        tau = lead / np.sqrt(untied)[:, None] / np.sqrt(untied)[None, :]
        p = _normal(lead, ties, columns)
    tau = np.where((untied[:, None] == 0) | (untied[None, :] == 0), np.nan, np.clip(tau, -1, 1))
    discordant = (total - lead) / 2
    few = (n <= _EXACT) | (np.minimum(discordant, total - discordant) <= 1)
    exact = few & (ties[:, None] == 0) & (ties[None, :] == 0)
    # without ties p depends on the number of discordant pairs alone
    for count in np.unique(discordant[exact]):
        i, j = np.argwhere(exact & (discordant == count))[0]
        p[exact & (discordant == count)] = scipy.stats.kendalltau(columns[i], columns[j]).pvalue
    return tau, np.where(np.isnan(tau), np.nan, p)


def _normal(lead: np.ndarray, ties: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """p by the normal distribution, with the variance under ties (Noether, 1967)."""
    n = columns.shape[1]
    m = n * (n - 1.0)
    counts = [np.unique(column, return_counts=True)[1] for column in columns]
    triple, weighted = (
        np.array([(each * (each - 1.0) * part(each)).sum() for each in counts])
        for part in (lambda each: each - 2, lambda each: 2 * each + 5)
    )
    variance = (
        (m * (2 * n + 5) - weighted[:, None] - weighted[None, :]) / 18
        + 2 * ties[:, None] * ties[None, :] / m
        + triple[:, None] * triple[None, :] / (9 * m * (n - 2))
    )
    return 2 * scipy.special.ndtr(-np.abs(lead / np.sqrt(variance)))
