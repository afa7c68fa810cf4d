"""The equations of a network that is linear in its weights, with the neural tangent kernel.

J is the Jacobian of the logits, one row for each logit of each sample: (n · C, p). The kernel is J
Jᵀ, (n · C, n · C). Source: Jacot et al., Neural Tangent Kernel, NeurIPS 2018; as Golatkar et al.
use it to forget, ECCV 2020.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from mucore.blocks import curvature, solvers
from mucore.blocks.solvers import Solution
from mucore.engine.data import Mixture, Samples
from mucore.engine.losses import task_of
from mucore.engine.predict import logits_of
from mucore.engine.run import Run

# The kernel is formed for at most so many logits in all, where the Jacobian that it comes from fits
# into so many bytes.
KERNEL_ROWS, JACOBIAN_BYTES = 4000, 2**30
COLUMNS = 4096  # of the Jacobian, in float64 at once
SKETCH = 50  # products that tell the kernel's largest eigenvalues, before conjugate gradients begin


@dataclass(frozen=True)
class Linearised:
    """A network as a linear function of `weights`, around where they are.

    Products read samples in batches of `batch_size`.
    """

    model: nn.Module
    weights: curvature.Weights
    run: Run
    batch_size: int

    @property
    def size(self) -> int:
        return sum(p.numel() for p in self.weights.values())

    def residuals(self, samples: Mixture, objective: curvature.Objective) -> Tensor:
        """The objective's derivative by each logit, (n · C,): softmax minus one-hot, or logits
        minus one-hot.
        """
        found = []
        for batch, logits in logits_of(self.model, samples, self.run, self.batch_size):
            logits.requires_grad_(True)
            found.append(torch.autograd.grad(objective(logits, batch), logits)[0].flatten())
        return torch.cat(found)

    def transposed(self, samples: Samples | Mixture, vector: Tensor) -> Tensor:
        """Jᵀ · vector (p,), for a vector (n · C,)."""
        return curvature.transposed_on(
            self.model, self.weights, samples, self.run, self.batch_size, vector
        )

    def product(self, samples: Samples | Mixture, vector: Tensor) -> Tensor:
        """J · vector (n · C,), for a vector (p,)."""
        return curvature.jacobian_on(
            self.model, self.weights, samples, self.run, self.batch_size, vector
        )

    def solve(
        self,
        retain: Samples,
        forget: Samples,
        r: Tensor,
        *,
        mu: float,
        iterations: int,
        tolerance: float,
    ) -> tuple[Solution, Solution]:
        """α of (J Jᵀ + n μ) α = r, once over both sets and once over `retain` alone, whose rows
        come first in `r`.
        """
        everything = Mixture((retain, forget))
        kept = len(r) // len(everything) * len(retain)
        # a loss of attributes is a mean over them
        share = 1.0 if task_of(forget.labels) == "classes" else len(everything) / len(r)
        ridges = (len(everything) * mu, len(retain) * mu)
        number, size = r.element_size(), self.size
        if len(r) <= KERNEL_ROWS and len(r) * size * number <= JACOBIAN_BYTES:
            self.run.scratch(len(r) * size * number + 16 * len(r) ** 2)
            rows = curvature.jacobian_rows(
                self.model, self.weights, everything, self.run, self.batch_size
            )
            kernel = _kernel_of(rows, share)
            whole, rest = (
                _by_cholesky(kernel[: len(part), : len(part)], part, ridge, tolerance)
                for part, ridge in zip((r, r[:kept]), ridges, strict=True)
            )
            return whole, rest
        # a sketch, its test vectors, and four of their size in double precision while they are
        # made into a preconditioner
        self.run.scratch(3 * size * number + (SKETCH * (2 * number + 4 * 8) + 10 * number) * len(r))
        tell = solvers.told(self.run, SKETCH + 2 * iterations + 2)

        def kernel_on(samples: Samples | Mixture) -> solvers.Product:
            return tell(
                lambda vector: share * self.product(samples, self.transposed(samples, vector))
            )

        # one sketch serves both. The first solution is no start for the second: it leaves more
        # than nothing does, as the ridges differ
        test = torch.zeros(len(r), min(SKETCH, kept), dtype=torch.float64)
        test[:kept] = torch.randn(
            kept, test.shape[1], generator=self.run.rng("sketch"), dtype=torch.float64
        )
        test = test.to(r)
        products = kernel_on(everything), kernel_on(retain)
        sketch = torch.stack([products[0](column) for column in test.T], 1)
        whole, rest = (
            solvers.conjugate_gradients(
                lambda q, product=product, ridge=ridge: product(q) + ridge * q,
                r[:count],
                iterations=iterations,
                tolerance=tolerance,
                precondition=solvers.nystrom(sketch[:count], test[:count], ridge),
            )
            for product, ridge, count in zip(products, ridges, (len(r), kept), strict=True)
        )
        return whole, rest


def _kernel_of(jacobian: Tensor, share: float) -> Tensor:
    """share · J Jᵀ in float64, on the CPU where the device has none."""
    rows = jacobian.cpu() if jacobian.device.type == "mps" else jacobian
    kernel = torch.zeros(len(rows), len(rows), dtype=torch.float64, device=rows.device)
    for part in rows.split(COLUMNS, 1):
        kernel += share * part.double() @ part.double().T
    return kernel


def _by_cholesky(kernel: Tensor, r: Tensor, ridge: float, tolerance: float) -> Solution:
    """α of (kernel + ridge) α = r in float64."""
    matrix = kernel + ridge * torch.eye(len(r), dtype=torch.float64, device=kernel.device)
    right = r.to(matrix)
    factor, broken = torch.linalg.cholesky_ex(matrix)
    x = (
        torch.full_like(right, torch.nan)
        if broken
        else torch.cholesky_solve(right.unsqueeze(1), factor).squeeze(1)
    )
    solved = solvers.solution(
        lambda vector: matrix @ vector, x, right, iterations=1, tolerance=tolerance
    )
    return replace(solved, x=x.to(r))
