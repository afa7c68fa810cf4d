"""The inverse Hessian of a set, applied to a vector."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
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


@dataclass(frozen=True, kw_only=True)
class Inverse:
    """How to compute (H + ridge + damping)⁻¹ v, H the Hessian of the mean objective over a set, or
    its Gauss-Newton matrix.

    Conjugate gradients work on `samples` samples chosen once; LiSSA draws a batch of all of them at
    each step, at most `LISSA_PASSES` times over the set. `scale`, `patience` and `repetitions` are
    LiSSA's; `iterations` None means the solver's own limit.
    """

    solver: Literal["lissa", "cg_ggn", "cg_hessian"]
    damping: float
    ridge: float
    scale: float
    iterations: int | None
    patience: int
    repetitions: int
    samples: int
    batch_size: int

    def solve(
        self,
        model: nn.Module,
        weights: Weights,
        data: Mixture,
        v: Tensor,
        run: Run,
        *,
        objective: Objective,
    ) -> Solution:
        """Gauss-Newton products take the cross-entropy's curvature whatever the objective. The
        residual is that on the samples used.
        """
        used = data if self.solver == "lissa" else pick(data, self.samples, run)

        def of_batch(batch: Batch, q: Tensor) -> Tensor:
            if self.solver == "cg_ggn":
                return gauss_newton_product(model, weights, batch, q)
            return hessian_product(model, weights, batch, q, objective)

        def product_on(samples: Mixture) -> Product:
            def product(q: Tensor) -> Tensor:
                part = functools.partial(of_batch, q=q)
                total = total_over(samples, run, self.batch_size, part, q)
                return total / len(used) + (self.ridge + self.damping) * q

            return product

        product = product_on(used)
        if self.solver != "lissa":
            most = self.iterations or CG_ITERATIONS
            gauss_newton = self.solver == "cg_ggn"
            tell = told(run, 2 * most + 1 if gauss_newton else most + 1)
            partial = None
            if gauss_newton:
                heaviest = heaviest_part(model, used, run, self.batch_size)

                def partial(left_out: float) -> Product:
                    return tell(product_on(heaviest(left_out)))

            return conjugate_gradients(
                tell(product), v, iterations=most, tolerance=solvers.TOLERANCE, partial=partial
            )
        most = self.iterations or LISSA_PASSES * data.steps(self.batch_size)
        noisy = map(
            told(run, most * self.repetitions), self._products(model, weights, data, run, objective)
        )
        series = [
            lissa(
                noisy,
                v,
                damping=self.damping,
                scale=self.scale,
                iterations=most,
                patience=self.patience,
            )
            for _ in range(self.repetitions)
        ]
        mean = torch.stack([x for x, _ in series]).mean(0)
        return solution(product, mean, v, iterations=series[-1][1], tolerance=solvers.TOLERANCE)

    def _products(
        self, model: nn.Module, weights: Weights, data: Mixture, run: Run, objective: Objective
    ) -> Iterator[Product]:
        """Products with the Hessian of one random batch each, without end."""
        while True:
            for batch in data.batches(run, self.batch_size, shuffle=True, backward=True):
                yield (
                    lambda q, batch=batch: (
                        hessian_product(model, weights, batch, q, objective) / len(batch)
                        + self.ridge * q
                    )
                )
