"""Clusters of SCAR against the formula with whole matrices, as its authors write it."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from mucore.blocks.clusters import Clusters, correlation, nearest_clusters, precision, shrunk
from mucore.engine.run import Run


def features(n: int, d: int, *, dead: int = 0, seed: int = 0) -> Tensor:
    """Such as a ReLU gives: not negative, correlated, `dead` of them always zero."""
    draws = torch.Generator().manual_seed(seed)
    mixed = torch.randn(n, d, generator=draws) @ torch.randn(d, d, generator=draws) / d**0.5
    found = mixed.add(0.5).clamp(min=0)
    found[:, :dead] = 0
    return found


def by_whole_matrices(members: Tensor, gammas: tuple[float, float], shrinkings: int) -> Tensor:
    covariance = torch.cov(members.T)
    constant = members.amax(0) == members.amin(0)
    covariance[constant], covariance[:, constant] = 0, 0
    for _ in range(shrinkings):
        covariance = shrunk(covariance, *gammas)
    return torch.linalg.pinv(correlation(covariance), hermitian=True)


@pytest.mark.parametrize("shrinkings", [1, 2])
@pytest.mark.parametrize("gammas", [(3.0, 3.0), (3.0, 0.0), (0.5, 2.0), (0.0, 0.0)])
@pytest.mark.parametrize(("n", "dead"), [(2, 0), (9, 0), (9, 5), (31, 3), (200, 0), (200, 4)])
def test_a_precision_is_the_pseudo_inverse_of_the_whole_matrix(
    n: int, dead: int, gammas: tuple[float, float], shrinkings: int
):
    members = features(n, 32, dead=dead).clamp(min=1e-6).double() ** 0.5
    wanted = by_whole_matrices(members, gammas, shrinkings)
    x = torch.randn(50, 32, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    distances = torch.einsum("ni,ij,nj->n", x, wanted, x)
    form = precision(members.clone(), gammas, shrinkings)
    near = 1e-6 * distances.abs().max().item()
    assert torch.allclose(form.of(x), distances, rtol=1e-6, atol=near)


def test_a_matrix_that_is_not_positive_is_inverted_all_the_same():
    """With a negative mean of the covariances the shrunk matrix has a negative eigenvalue."""
    draws = torch.randn(40, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    signs = torch.tensor([1.0, -1.0] * 30, dtype=torch.float64)
    for n in (40, 12):
        members = draws[:n] * signs + 0.1 * features(n, 60).double()
        members -= members.mean(1, keepdim=True)  # sums that do not vary
        wanted = by_whole_matrices(members, (0.1, 30.0), 1)
        assert torch.linalg.eigvalsh(wanted).min() < 0
        x = features(20, 60, seed=3).double()
        assert torch.allclose(
            precision(members.clone(), (0.1, 30.0), 1).of(x),
            torch.einsum("ni,ij,nj->n", x, wanted, x),
            rtol=1e-6,
        )


def test_the_nearest_clusters_one_after_the_other_are_those_of_all_at_once():
    sets = [features(n, 16, seed=n) + 0.3 * n for n in (40, 7, 1, 60, 5, 0)]
    asked = torch.cat([features(20, 16, seed=9) + shift for shift in (0.5, 2.0, 12.0)])
    allowed = torch.ones(60, 6, dtype=torch.bool)
    allowed[:30, 0], allowed[30:, 3] = False, False
    run = Run(seed=0)
    streamed = Clusters(delta=0.5, gammas=(3.0, 3.0))
    found = nearest_clusters(asked, allowed, streamed, lambda c: sets[c], run, beside=1000)
    together = Clusters(delta=0.5, gammas=(3.0, 3.0))
    for number, members in enumerate(sets):
        together.add(number, members)
    distances = torch.stack([together.to_class(asked, c) for c in range(6)], 1)
    assert distances[:, [2, 5]].isnan().all()  # of one sample and of none
    wanted = distances.masked_fill(~allowed | distances.isnan(), torch.inf).argmin(1)
    assert torch.equal(found, wanted) and len(wanted.unique()) > 1
    assert set(streamed.means) == set(wanted.tolist())
    own = torch.tensor([4 if c == 2 else c for c in wanted.tolist()])
    assert torch.allclose(streamed.to_own(asked, own), distances[torch.arange(60), own], rtol=1e-5)
    assert run.cost.scratch_bytes >= 1000 + 4 * (asked.numel() + 60 * 16)
