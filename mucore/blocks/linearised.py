"""The equations of a network that is linear in its weights, with the neural tangent kernel.

J is the Jacobian of the logits, one row for each logit of each sample: (n · C, p). The kernel is J
Jᵀ, (n · C, n · C). Source: Jacot et al., Neural Tangent Kernel, NeurIPS 2018; as Golatkar et al.
use it to forget, ECCV 2020.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor, nn

from mucore.blocks import curvature, solvers
from mucore.blocks.solvers import Solution
from mucore.engine.data import Mixture, Samples
from mucore.engine.losses import task_of
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
        for batch in samples.batches(self.run, self.batch_size):
            self.run.check()
            with torch.no_grad():
                logits = self.model(batch.x)
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
        if len(r) <= KERNEL_ROWS and len(r) * self.size * r.element_size() <= JACOBIAN_BYTES:
            self.run.scratch(len(r) * self.size * r.element_size() + 16 * len(r) ** 2)
            rows = curvature.jacobian_rows(
                self.model, self.weights, everything, self.run, self.batch_size
            )
            return _by_cholesky(rows, share, r, kept, ridges, tolerance)
        # a sketch, its test vectors, and four of their size in double precision while they are
        # made into a preconditioner
        row = SKETCH * (2 * r.element_size() + 4 * 8) + 10 * r.element_size()
        self.run.scratch(3 * self.size * r.element_size() + row * len(r))

        def kernel(samples: Samples | Mixture, vector: Tensor) -> Tensor:
            return share * self.product(samples, self.transposed(samples, vector))

        return _by_gradients(
            kernel, everything, retain, r, kept, ridges, iterations, tolerance, self.run
        )


def _by_cholesky(
    jacobian: Tensor,
    share: float,
    r: Tensor,
    kept: int,
    ridges: tuple[float, float],
    tolerance: float,
) -> tuple[Solution, Solution]:
    """Both systems with the kernel in full, in float64."""
    rows = jacobian.cpu() if jacobian.device.type == "mps" else jacobian  # which has no float64
    kernel = torch.zeros(len(rows), len(rows), dtype=torch.float64, device=rows.device)
    for part in rows.split(COLUMNS, 1):
        kernel += share * part.double() @ part.double().T
    found = []
    for size, ridge in zip((len(r), kept), ridges, strict=True):
        mine = kernel[:size, :size] + ridge * torch.eye(
            size, dtype=torch.float64, device=rows.device
        )
        right = r[:size].to(mine)
        factor, broken = torch.linalg.cholesky_ex(mine)
        x = (
            torch.full_like(right, torch.nan)
            if broken
            else torch.cholesky_solve(right.unsqueeze(1), factor).squeeze(1)
        )
        solved = solvers.solution(
            lambda vector, mine=mine: mine @ vector, x, right, iterations=1, tolerance=tolerance
        )
        found.append(replace(solved, x=x.to(r)))
    return found[0], found[1]


def _by_gradients(
    kernel: Callable[[Samples | Mixture, Tensor], Tensor],
    everything: Mixture,
    retain: Samples,
    r: Tensor,
    kept: int,
    ridges: tuple[float, float],
    iterations: int,
    tolerance: float,
    run: Run,
) -> tuple[Solution, Solution]:
    """Both systems by conjugate gradients on products with the kernel; one sketch of it serves
    both. The first solution is no start for the second: it leaves more than nothing does, as the
    ridges differ.
    """
    tell = solvers.told(run, SKETCH + 2 * iterations + 2)
    test = torch.zeros(len(r), min(SKETCH, kept), dtype=torch.float64)
    # so that it serves both
    test[:kept] = torch.randn(kept, test.shape[1], generator=run.rng("sketch"), dtype=torch.float64)
    test = test.to(r)
    whole_kernel = tell(partial(kernel, everything))
    retain_kernel = tell(partial(kernel, retain))
    sketch = torch.stack([whole_kernel(column) for column in test.T], 1)
    whole = solvers.conjugate_gradients(
        lambda q: whole_kernel(q) + ridges[0] * q,
        r,
        iterations=iterations,
        tolerance=tolerance,
        precondition=solvers.nystrom(sketch, test, ridges[0]),
    )
    rest = solvers.conjugate_gradients(
        lambda q: retain_kernel(q) + ridges[1] * q,
        r[:kept],
        iterations=iterations,
        tolerance=tolerance,
        precondition=solvers.nystrom(sketch[:kept], test[:kept], ridges[1]),
    )
    return whole, rest
