"""Solvers on products alone, against dense algebra."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from mucore.blocks import solvers


def symmetric(size: int = 12, seed: int = 0) -> Tensor:
    """A positive definite matrix with eigenvalues between 0.1 and 2."""
    basis = torch.linalg.qr(
        torch.randn(size, size, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    ).Q
    return basis @ torch.diag(torch.linspace(0.1, 2.0, size, dtype=torch.float64)) @ basis.T


def repeated(matrix: Tensor) -> Iterator[solvers.Product]:
    while True:
        yield lambda q: matrix @ q


def test_conjugate_gradients_solve():
    a, b = symmetric(), torch.arange(1.0, 13.0, dtype=torch.float64)
    wanted = torch.linalg.solve(a, b)
    found = solvers.conjugate_gradients(lambda q: a @ q, b, iterations=100, tolerance=1e-10)
    assert torch.allclose(found.x, wanted, rtol=1e-8) and found.converged and found.finite
    short = solvers.conjugate_gradients(lambda q: a @ q, b, iterations=2, tolerance=1e-10)
    assert short.iterations == 2 and not short.converged
    assert short.residual == pytest.approx(((b - a @ short.x).norm() / b.norm()).item())


@pytest.mark.parametrize("always", [None, 0.2])
def test_conjugate_gradients_go_on_where_too_much_was_left_out(always: float | None):
    sizes = 10.0 ** -torch.arange(6, dtype=torch.float64)
    b = torch.arange(1.0, 7.0, dtype=torch.float64)
    shares: list[float] = []

    def partial(left_out: float) -> solvers.Product:
        shares.append(left_out)
        kept = sizes.where(sizes > (always or left_out) * sizes.sum(), 0.0)
        return lambda q: (kept + 0.5) * q

    def product(q: Tensor) -> Tensor:
        return (sizes + 0.5) * q

    found = solvers.conjugate_gradients(product, b, iterations=60, tolerance=1e-3, partial=partial)
    assert found.converged
    assert found.residual == pytest.approx(((b - product(found.x)).norm() / b.norm()).item())
    # a tenth of the tolerance at |r| = |b|, and more as the residual falls
    assert shares[0] == pytest.approx(1e-4) and max(shares) > 4 * shares[0]
    short = solvers.conjugate_gradients(
        product, b, iterations=3, tolerance=1e-9, partial=lambda _: torch.clone
    )
    # one by what leaves out too much, then as many whole ones as there may be
    assert short.iterations == 1 + 3 and not short.converged


def test_conjugate_gradients_stop_where_the_curvature_is_negative():
    a = torch.diag(torch.tensor([2.0, -1.0], dtype=torch.float64))
    found = solvers.conjugate_gradients(
        lambda q: a @ q, torch.tensor([0.0, 1.0], dtype=torch.float64), iterations=9, tolerance=1e-9
    )
    assert found.iterations == 0 and not found.converged and not found.x.any()
    zero = solvers.conjugate_gradients(
        lambda q: a @ q, torch.zeros(2), iterations=9, tolerance=1e-9
    )
    assert zero.converged and not zero.x.any()


def test_lissa_diverges_where_its_scale_is_too_small():
    a, v = symmetric(), torch.ones(12, dtype=torch.float64)
    x, steps = solvers.lissa(
        repeated(100 * a), v, damping=0.2, scale=2.0, iterations=5000, patience=20
    )
    assert torch.equal(x, v / 2) and steps == 21
    assert (
        solvers.solution(lambda q: 100 * a @ q, x, v, iterations=steps, tolerance=0.5).residual > 1
    )
    _, steps = solvers.lissa(
        repeated(a * torch.nan), v, damping=0.2, scale=2.0, iterations=5000, patience=20
    )
    assert steps == 0


@pytest.mark.parametrize("rank", [12, 4])
def test_a_sketch_of_everything_is_the_inverse_and_of_a_part_saves_steps(rank: int):
    # eigenvalues 1e-5 to 1e6
    spread = torch.diag(10.0 ** torch.arange(12, dtype=torch.float64) / 10**5)
    turn = torch.linalg.qr(symmetric()).Q
    kernel, b = turn @ spread @ turn.T, torch.arange(1.0, 13.0, dtype=torch.float64)
    test = torch.randn(12, rank, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    near = solvers.nystrom(kernel @ test, test, 0.1)
    a = kernel + 0.1 * torch.eye(12, dtype=torch.float64)
    plain, helped = (
        solvers.conjugate_gradients(
            lambda q: a @ q, b, iterations=500, tolerance=1e-6, precondition=each
        )
        for each in (None, near)
    )
    assert helped.converged and torch.allclose(helped.x, torch.linalg.solve(a, b), rtol=1e-3)
    assert helped.iterations <= (2 if rank == 12 else plain.iterations - 2)
