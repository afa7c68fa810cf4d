"""The inverse Hessian of a set, applied to a vector."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Literal

import torch
from torch import Tensor, nn

from mucore.blocks import solvers
from mucore.blocks.curvature import (
    Objective,
    Weights,
    gauss_newton_product,
    heaviest_part,
    hessian_product,
    pick,
    total_over,
)
from mucore.blocks.solvers import Product, Solution, conjugate_gradients, lissa, solution, told
from mucore.engine.batch import Batch
from mucore.engine.data import Mixture
from mucore.engine.run import Run

LISSA_PASSES = 100
CG_ITERATIONS = 50


def inverse_times(
    model: nn.Module,
    weights: Weights,
    data: Mixture,
    v: Tensor,
    run: Run,
    *,
    objective: Objective,
    solver: Literal["lissa", "cg_ggn", "cg_hessian"],
    damping: float,
    ridge: float,
    scale: float,
    iterations: int | None,
    patience: int,
    repetitions: int,
    samples: int,
    batch_size: int,
) -> Solution:
    """(H + ridge + damping)⁻¹ v, H the Hessian of the mean objective over a set, or the
    Gauss-Newton matrix of the cross-entropy whatever the objective.

    Conjugate gradients work on `samples` samples chosen once; LiSSA draws a batch of all of them at
    each step, at most `LISSA_PASSES` times over the set. `scale`, `patience` and `repetitions` are
    LiSSA's; `iterations` None means the solver's own limit. The residual is that on the samples
    used.
    """
    used = data if solver == "lissa" else pick(data, samples, run)
    gauss_newton = solver == "cg_ggn"

    def of_batch(batch: Batch, q: Tensor) -> Tensor:
        if gauss_newton:
            return gauss_newton_product(model, weights, batch, q)
        return hessian_product(model, weights, batch, q, objective)

    def product_on(part: Mixture) -> Product:
        def product(q: Tensor) -> Tensor:
            total = total_over(part, run, batch_size, functools.partial(of_batch, q=q), q)
            return total / len(used) + (ridge + damping) * q

        return product

    if solver != "lissa":
        most = iterations or CG_ITERATIONS
        tell = told(run, 2 * most + 1 if gauss_newton else most + 1)
        partial = None
        if gauss_newton:
            heaviest = heaviest_part(model, used, run, batch_size)

            def partial(left_out: float) -> Product:
                return tell(product_on(heaviest(left_out)))

        return conjugate_gradients(
            tell(product_on(used)), v, iterations=most, tolerance=solvers.TOLERANCE, partial=partial
        )

    def batch_products() -> Iterator[Product]:
        """Products with the Hessian of one random batch each, without end."""
        while True:
            for batch in data.batches(run, batch_size, shuffle=True, backward=True):
                yield lambda q, batch=batch: of_batch(batch, q) / len(batch) + ridge * q

    most = iterations or LISSA_PASSES * data.steps(batch_size)
    noisy = map(told(run, most * repetitions), batch_products())
    series = [
        lissa(noisy, v, damping=damping, scale=scale, iterations=most, patience=patience)
        for _ in range(repetitions)
    ]
    mean, done = torch.stack([x for x, _ in series]).mean(0), series[-1][1]
    return solution(product_on(used), mean, v, iterations=done, tolerance=solvers.TOLERANCE)
