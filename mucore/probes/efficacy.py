"""Gradients behind the efficacy of Becker & Liebig: squared norms per sample, and of the mean over
a set (mucore/metrics/efficacy.py).

Models are in eval mode, where batch norm does not couple samples, and in the precision of their
weights whatever the run's. A well fitted network has gradients whose squares no float32 can hold,
so each is computed for a residual p − e_y of length one, and scaled by the true length in float64:
a gradient is linear in it.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from mucore.blocks.gradient_norms import squared_norms
from mucore.engine.data import Samples
from mucore.engine.losses import task_of
from mucore.engine.run import Run


def squared_gradient_norms(
    model: nn.Module, data: Samples, run: Run, *, batch_size: int
) -> np.ndarray:
    """‖∂ ln p(y|x) / ∂θ‖² of each sample in the order of `data`, (n,) float64; for attributes of
    the mean over them, as in engine/losses.py.
    """
    model.eval()
    found = []
    for batch in data.batches(run, batch_size, backward=True):
        run.check()
        lengths: list[Tensor] = []

        def unit_residual(logits: Tensor, y: Tensor, lengths: list[Tensor] = lengths) -> Tensor:
            direction, length = _residual(logits.detach(), y)
            lengths.append(length)
            return (direction.to(logits.dtype) * logits).sum()

        norms = squared_norms(model, batch.x, batch.y, unit_residual)
        # The last ones: a network that turns out to have no closed form is run again, sample by
        # sample.
        found.append((norms * torch.cat(lengths)[-len(batch) :].square()).cpu())
    return torch.cat(found).numpy() if found else np.zeros(0)


def squared_norm_of_mean_gradient(
    model: nn.Module, data: Samples, run: Run, *, batch_size: int
) -> float:
    """‖∇L‖² of the mean cross-entropy L over a set: one ordinary backward pass, for the bound."""
    model.eval()
    weights = [p for p in model.parameters() if p.requires_grad]
    total = [torch.zeros(p.shape, dtype=torch.float64, device=p.device) for p in weights]
    for batch in data.batches(run, batch_size, backward=True):
        run.check()
        logits = model(batch.x)
        direction, length = _residual(logits.detach(), batch.y)
        largest = length.max()
        cotangent = direction * (length / largest if largest > 0 else length).unsqueeze(1)
        gradients = torch.autograd.grad(
            logits, weights, cotangent.to(logits.dtype), allow_unused=True, materialize_grads=True
        )
        for sums, gradient in zip(total, gradients, strict=True):
            sums.add_(gradient.double() * largest)  # a 0-dim `largest` leaves float32 as it is
    return float(sum(sums.square().sum() for sums in total) / len(data) ** 2)


def _residual(logits: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Gradient of each sample's cross-entropy with respect to its logits: direction (n, C) of
    length one or 0, and length (n,), float64.
    """
    z = logits.double()
    if task_of(y) == "attributes":
        # σ(z) − y without the cancellation near 1
        residual = torch.where(y == 1, -torch.sigmoid(-z), torch.sigmoid(z)) / z.shape[1]
    else:
        residual = torch.softmax(z, 1).scatter(1, y.unsqueeze(1), 0.0)
        residual = residual.scatter(1, y.unsqueeze(1), -residual.sum(1, keepdim=True))
    length = residual.norm(dim=1)
    return residual / length.clamp(min=torch.finfo(torch.float64).tiny).unsqueeze(1), length
