"""Masks over weights: choosing a share of them, and training only those."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from mucore.engine.layers import NORMS


def top_fraction(scores: Mapping[str, Tensor], share: float) -> dict[str, Tensor]:
    """True for exactly floor(share · d) of all d entries: the largest over all tensors together,
    ties by position.

    A threshold alone would not do: a perfectly fitted model has many scores that are exactly zero.
    NaN counts as the smallest.
    """
    flat = torch.cat([values.flatten() for values in scores.values()])
    flat = torch.where(flat.isnan(), -torch.inf, flat)
    keep = int(share * len(flat) + 1e-9)  # 0.3 · 10 is 2.999... in binary
    chosen = torch.zeros(len(flat), dtype=torch.bool, device=flat.device)
    if keep:
        threshold = flat.kthvalue(len(flat) - keep + 1).values
        chosen = flat > threshold
        chosen[(flat == threshold).nonzero().flatten()[: keep - int(chosen.sum())]] = True
    parts = chosen.split([values.numel() for values in scores.values()])
    return {
        name: part.view_as(values)
        for (name, values), part in zip(scores.items(), parts, strict=True)
    }


def density(masks: Mapping[str, Tensor]) -> float:
    """Share of True, in 0..1."""
    # a GPU is asked once, for all sums together
    chosen = int(torch.stack([mask.sum() for mask in masks.values()]).sum())
    return chosen / sum(mask.numel() for mask in masks.values())


def outside_norms(model: nn.Module) -> list[str]:
    """Names of the parameters that belong to no norm, in the network's order."""
    norms = [module for module in model.modules() if isinstance(module, NORMS)]
    inside = {id(p) for module in norms for p in module.parameters(recurse=False)}
    return [name for name, p in model.named_parameters() if id(p) not in inside]


def mask_grads(model: nn.Module, masks: Mapping[str, Tensor]) -> None:
    """Set gradients outside the masks to zero; parameters without a mask keep theirs."""
    for name, p in model.named_parameters():
        if name in masks and p.grad is not None:
            p.grad.mul_(masks[name])


class MaskedStep:
    """Lets only the weights under a mask move: hand `edit_grads` and `after_step` to `fit`.

    Masked gradients are not enough, since weight decay and momentum move a weight without any, so
    each step puts masked weights back to where they were when this was made. The optimiser's
    momentum of masked weights may stay as it is: it acts on each weight alone and its effect is
    undone at every step, so the weights under the mask take exactly the path they would take with
    that momentum erased.
    """

    def __init__(self, model: nn.Module, masks: Mapping[str, Tensor]):
        self.masks = dict(masks)
        self.anchor = {
            name: p.detach().clone() for name, p in model.named_parameters() if name in self.masks
        }

    def edit_grads(self, model: nn.Module) -> None:
        mask_grads(model, self.masks)

    @torch.no_grad()
    def after_step(self, model: nn.Module) -> None:
        for name, p in model.named_parameters():
            if name in self.masks:
                torch.where(self.masks[name], p, self.anchor[name], out=p)
