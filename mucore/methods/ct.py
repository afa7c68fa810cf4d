"""Convolution transpose: mirror every kernel at its diagonal, then fine-tune."""

from __future__ import annotations

import math

import torch
from torch import nn

from mucore.engine.data import UnlearningData
from mucore.engine.layers import note_few_convolutions
from mucore.engine.loop import Optimizer, Phase, fit
from mucore.engine.run import Run


def ct(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    lr: float,
    epochs: int,
    momentum: float,
    weight_decay: float,
    batch_size: int,
) -> nn.Module:
    """
    Paper: none; NeurIPS 2023 machine unlearning challenge, write-up 458531 (toshi_k's part), fifth
        place
    Code: third-party port xcadet/deepunlearn munl/unlearning/kgltop5.py
    Reads: the retain set
    Differs: none known; the authors' other half of the ensemble, pseudo-label fine-tuning, is no
        part of it

    Before the fine-tuning the network answers as the original does for images mirrored at the
    diagonal. Kernels of one pixel do not change, so a network without convolutions, or one trained
    with such mirrored images, forgets nothing. Positions of a transformer stay.
    """
    note_few_convolutions(model, run)
    # (1) swap the two spatial axes of every square kernel, in place
    run.diagnostics["transposed_layers"] = transpose_kernels(model, run)
    # (2) fine-tune on the retain set; the rate follows a cosine from epoch to epoch
    optimizer = Optimizer(
        lr=lr,
        momentum=momentum,
        weight_decay=weight_decay,
        schedule=lambda e: 0.5 * (1 + math.cos(math.pi * e / epochs)),
    )
    phase = Phase(data=data.retain, batch_size=batch_size)
    return fit(model, [phase], run, epochs=epochs, optimizer=optimizer)


@torch.no_grad()
def transpose_kernels(model: nn.Module, run: Run) -> int:
    """Transpose the kernels of all convolutions, in place; returns how many layers changed."""
    changed = 0
    for name, layer in model.named_modules():
        if not isinstance(layer, nn.Conv2d):
            continue
        if layer.kernel_size[0] != layer.kernel_size[1]:
            run.note(f"the kernel of {name} is not square and was not transposed")
            continue
        layer.weight.copy_(layer.weight.transpose(2, 3).contiguous())
        changed += layer.kernel_size != (1, 1)
    if not changed:
        run.note("the network has no convolution larger than one pixel, so nothing was transposed")
    return changed
