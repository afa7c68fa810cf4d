"""Masked small gradients: re-initialise weights on which both sets pull alike, then fine-tune."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor, nn

from mucore.blocks.importance import GRADIENTS_NOT_FINITE, Importance, gradient_difference
from mucore.blocks.masks import density, top_fraction
from mucore.engine.data import UnlearningData
from mucore.engine.layers import note_few_convolutions
from mucore.engine.loop import Optimizer, Phase, fit
from mucore.engine.run import Run
from mucore.engine.state import is_finite


def msg(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    lr: float,
    epochs: int,
    share: float,
    kept_factor: float,
    ranking: Literal["layer", "network"],
    momentum: float,
    weight_decay: float,
    batch_size: int,
) -> nn.Module:
    """
    Paper: none; NeurIPS 2023 machine unlearning challenge, write-up 459200 (Lee, Bae, Kim; Kookmin
        University), third place
    Code: third-party port xcadet/deepunlearn munl/unlearning/kgltop2.py
    Reads: the retain set and the forget set
    Differs: ranked within each layer as in the port; the write-up says over the network, which is
        offered. Gradients come from eval mode. The port draws new biases as well
    """
    note_few_convolutions(model, run)
    # (1) a part of the retain set as large as the forget set, drawn anew for every run
    part = data.retain.draw(len(data.forget), run.rng("subset"))
    # (2) gradient sum over the retain batches minus that over the forget batches
    pull = gradient_difference(model, part, data.forget, run, batch_size=batch_size)
    if not is_finite(pull):
        return run.give_up(model, GRADIENTS_NOT_FINITE)
    # (3) fresh values for the share of each convolution's weights with the smallest sums
    run.holds(pull, pull)  # the sums of both sets
    masks = smallest(model, pull, share, ranking)
    run.holds(pull, masks)
    del pull
    run.diagnostics["reinitialised_share"] = density(masks) if masks else 0.0
    with torch.no_grad():
        for name, mask in masks.items():
            weight = model.get_parameter(name)
            fresh = kaiming_normal(weight, run.rng("init"))
            weight.copy_(torch.where(mask, fresh, weight))

    # (4) fine-tune on the retain set, with smaller gradients (but full weight decay) for the
    #     convolution weights that were kept
    def soften(model: nn.Module) -> None:
        for name, mask in masks.items():
            gradient = model.get_parameter(name).grad
            if gradient is not None:
                gradient.mul_(torch.where(mask, 1.0, kept_factor))

    # it climbs for half of the epochs and falls to zero one epoch after the last
    def rate(epoch: int) -> float:
        rise = (epochs + 1) // 2
        return min((epoch + 1) / rise, (epochs - epoch) / (epochs + 1 - rise))

    optimizer = Optimizer(lr=lr, momentum=momentum, weight_decay=weight_decay, schedule=rate)
    phase = Phase(data=data.retain, batch_size=batch_size)
    return fit(model, [phase], run, epochs=epochs, optimizer=optimizer, edit_grads=soften)


def kaiming_normal(weight: Tensor, generator: torch.Generator) -> Tensor:
    """A fresh weight for a convolution (out, in, h, w): fan out, ReLU."""
    fan_out = weight.shape[0] * weight[0, 0].numel()
    return (torch.randn(weight.shape, generator=generator) * math.sqrt(2 / fan_out)).to(weight)


def smallest(
    model: nn.Module, scores: Importance, share: float, ranking: Literal["layer", "network"]
) -> dict[str, Tensor]:
    """True for the `share` of convolution weights with the smallest |score|, by layer or in all."""
    weights = [
        f"{name}.weight" if name else "weight"
        for name, layer in model.named_modules()
        if isinstance(layer, nn.Conv2d)
    ]
    if ranking == "network":
        return top_fraction({w: -scores[w].abs() for w in weights}, share) if weights else {}
    masks = {}
    for weight in weights:
        values = -scores[weight].abs()
        rounded = round(share * values.numel()) / values.numel()
        masks |= top_fraction({weight: values}, rounded)
    return masks
