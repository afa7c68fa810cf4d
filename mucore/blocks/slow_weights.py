"""Actions on all weights at once."""

from __future__ import annotations

import torch
from torch import nn


class SlowWeights:
    """Weights that follow the optimiser's from afar: at each `step`, slow ← (1 - share) · slow +
    share · weights, and weights ← slow.
    """

    def __init__(self, model: nn.Module, share: float):
        self.share = share
        self.slow = (
            {name: p.detach().clone() for name, p in model.named_parameters()} if share < 1 else {}
        )

    @torch.no_grad()
    def step(self, model: nn.Module) -> None:
        for name, p in model.named_parameters() if self.share < 1 else ():
            p.copy_(self.slow[name].lerp_(p, self.share))
