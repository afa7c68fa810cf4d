"""Weights that follow those of an optimiser."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class SlowWeights:
    """Weights that follow the optimiser's from afar.

    At each `step`, slow ← (1 - share) · slow + share · weights, and weights ← slow.
    """

    def __init__(self, model: nn.Module, share: float):
        self.share = share
        self.slow: dict[str, Tensor] = {}
        if share < 1:
            self.slow = {name: p.detach().clone() for name, p in model.named_parameters()}

    @torch.no_grad()
    def step(self, model: nn.Module) -> None:
        if not self.slow:
            return
        for name, p in model.named_parameters():
            p.copy_(self.slow[name].lerp_(p, self.share))
