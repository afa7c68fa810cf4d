"""How strongly a model has memorised each sample, by proxies that need no other model: higher is more memorised, whatever the scale.

Source: Zhao et al., What Makes Unlearning Hard and What to Do About It, NeurIPS 2024, and its follow-up on proxies (kairanzhao/RUM).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mucore.engine.data import Samples
from mucore.engine.run import Run

H = 0.01  # length of each entry of the finite difference, in units of normalised pixels
DIRECTIONS = 10
BATCH = 256


@torch.no_grad()
def confidence_score(model: nn.Module, samples: Samples, run: Run) -> Tensor:
    """−ln p_y of each sample, (n,) on the CPU, in eval mode: the order of 1 − p_y, without its ties near 1."""
    model.eval()
    scores = [torch.zeros(0)]
    for batch in samples.batches(run, BATCH):
        run.check()
        scores.append(nn.functional.cross_entropy(model(batch.x), batch.y, reduction="none").cpu())
    return torch.cat(scores)


def curvature_score(model: nn.Module, samples: Samples, run: Run) -> Tensor:
    """Mean over random signs v of ‖∇ℓ(x + h·v) − ∇ℓ(x)‖², gradients by x: (n,) on the CPU, in eval mode (Garg et al., 2023)."""
    model.eval()
    scores = [torch.zeros(0)]
    for batch in samples.batches(run, BATCH, backward=True):
        total, start = torch.zeros(len(batch)), _input_gradient(model, batch.x, batch.y)
        for _ in range(DIRECTIONS):
            run.check()
            signs = torch.randint(2, batch.x.shape, generator=run.rng("noise")).to(batch.x) * 2 - 1
            total += (_input_gradient(model, batch.x + H * signs, batch.y) - start).flatten(1).square().sum(1).cpu()
        run.count_reads(samples.role, DIRECTIONS * len(batch), backward=True)
        scores.append(total / DIRECTIONS)
    return torch.cat(scores)


def _input_gradient(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    x = x.detach().requires_grad_(True)
    return torch.autograd.grad(nn.functional.cross_entropy(model(x), y, reduction="sum"), x)[0]
