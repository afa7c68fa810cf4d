"""A Newton step on a few weights with a Hessian known along two directions (L-CODEC).

Sekhari et al., NeurIPS 2021.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.func import functional_call

from mucore.engine import losses
from mucore.engine.batch import Batch
from mucore.engine.loop import cross_entropy

# Of the official script for CIFAR: the damping λ, and the size n of the training set that it was
# chosen for.
OFFICIAL_DAMPING, OFFICIAL_SIZE = 0.01, 50_000
AHEAD = 1e-3  # rate of the step to where the second gradient of a sample is taken


def secant(gradients: Tensor, weights: Tensor) -> Tensor:
    """Δg / √‖Δw‖₁ of vectors (d,), zero where the weights did not move.

    Its outer product with itself stands for a Hessian.
    """
    length = weights.abs().sum()
    return gradients / length.sqrt() if length > 0 else torch.zeros_like(gradients)


def newton_step(g: Tensor, a: Tensor, b: Tensor, *, removed: int, n: int, damping: float) -> Tensor:
    """removed / left · H⁻¹ g with H = (n · a aᵀ − removed · b bᵀ) / left + damping · I and left = n
    − removed; vectors (d,) in float64.

    What removing `removed` of `n` samples with mean gradient `g` adds to the weights, by Woodbury
    with a 2 × 2 core. `b` is left out where H would come near to singular, or have a negative
    eigenvalue: smallest eigenvalue at most damping / 10.
    """
    left = max(n - removed, 1)
    u = torch.stack([a, b], 1)
    weights = torch.tensor([n / left, -removed / left], dtype=g.dtype)
    eigenvalues = torch.linalg.eigvals(weights[:, None] * (u.T @ u)).real
    smallest = damping + float(eigenvalues.min().clamp(max=0))
    if smallest <= damping / 10:
        u = u[:, :1]
        weights = weights[:1]
    core = torch.diag(1 / weights) + u.T @ u / damping
    return removed / left * (g / damping - u @ torch.linalg.solve(core, u.T @ g) / damping**2)


def gradient(model: nn.Module, batch: Batch) -> dict[str, Tensor]:
    """Of a batch's mean loss, by parameter."""
    weights = dict(model.named_parameters())
    slopes = torch.autograd.grad(cross_entropy(model, batch), list(weights.values()))
    return dict(zip(weights, slopes, strict=True))


def step_ahead(
    model: nn.Module, gradient: dict[str, Tensor], rate: float = AHEAD
) -> dict[str, Tensor]:
    """The weights after one step of gradient descent, in the memory of `gradient`; the model keeps
    its own.
    """
    with torch.no_grad():
        for name, p in model.named_parameters():
            torch.add(p, gradient[name], alpha=-rate, out=gradient[name])
    return gradient


def gradient_at(
    model: nn.Module, batch: Batch, weights: dict[str, Tensor], names: Iterable[str]
) -> dict[str, Tensor]:
    """Gradient of a batch's mean loss where the model has other weights, of the parameters `names`
    alone.
    """
    asked = {name: weights[name].detach().requires_grad_() for name in names}
    logits = functional_call(model, weights | asked, (batch.x,))
    slopes = torch.autograd.grad(losses.cross_entropy(logits, batch.y), list(asked.values()))
    return dict(zip(asked, slopes, strict=True))


def official_damping(n: int) -> float:
    """λ for a training set of `n` samples whose noise is that of the official script: 0.01 ·
    (50,000 / n)^⅔, so that n² λ³ stays the same.

    `noise_deviation` has n and λ in n² λ³ alone. At (50,000, 0.01) that is 2500, which makes the
    deviation 0.0062.
    """
    return OFFICIAL_DAMPING * (OFFICIAL_SIZE / n) ** (2 / 3)


def noise_deviation(
    n: int,
    damping: float,
    epsilon: float,
    delta: float,
    *,
    smoothness: float = 0.25,
    lipschitz: float = 1.0,
) -> float:
    """Standard deviation of the Gaussian noise that hides what is left of one sample of `n` in (ε,
    δ) terms: γ/ε · √(2 ln(1.25/δ)).

    γ = 2 · M · L² / (n² λ³) with M the Hessian's Lipschitz constant and L the loss's: M 0.25 and L
    1 are the official code's constants.
    """
    gamma = 2 * smoothness * lipschitz**2 / (n**2 * damping**3)
    return gamma / epsilon * math.sqrt(2 * math.log(1.25 / delta))
