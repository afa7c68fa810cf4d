"""l1-sparse: fine-tuning on the retain set under an l1 penalty that fades out."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn

from mucore.engine.data import Batch, UnlearningData
from mucore.engine.layers import WEIGHT_LAYERS
from mucore.engine.loop import Optimizer, Phase, cross_entropy, fit
from mucore.engine.masks import MaskedStep, density, top_fraction
from mucore.engine.run import Run

NEAR_ZERO = 1e-3  # subgradient steps end near zero, hardly ever at it


def l1_sparse(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    lr: float,
    epochs: int,
    alpha: float,
    plain_epochs: int,
    prune: float,
    momentum: float,
    weight_decay: float,
    batch_size: int,
) -> nn.Module:
    """
    Paper: Jia, Liu, Ram et al., Model Sparsity Can Simplify Machine Unlearning, NeurIPS 2023, l1-sparse MU
    Code: OPTML-Group/Unlearn-Sparse unlearn/FT.py (FT_prune) and pruner/utils.py
    Reads: the retain set
    Differs: pruning, if any, is one-shot by magnitude on the given original; pruned training (OMP, IMP, SynFlow) makes another original

    The norm covers every parameter, biases and batch norm too. What pulls on a weight is about alpha · lr / (1 − momentum) · steps.
    """
    # (1) optional: put the smallest `prune` of the convolution weights (of linear ones where there are none) to zero, for good
    masks = top_fraction(_magnitudes(model), 1 - prune) if prune else {}
    with torch.no_grad():
        for name, mask in masks.items():
            model.get_parameter(name).mul_(mask)
    held = MaskedStep(model, masks)  # anchored at the zeros
    run.scratch(held.bytes)

    # (2) cross-entropy + α_t · ‖θ‖₁ with α_t = α · (1 − t / (E − e0)), and 0 in the last e0 epochs
    def penalised(model: nn.Module, batch: Batch, *, weight: float) -> Tensor:
        return cross_entropy(model, batch) + weight * sum(p.abs().sum() for p in model.parameters())

    phases = []
    for epoch in range(epochs):
        weight = alpha * max(0.0, 1 - epoch / (epochs - plain_epochs)) if epoch < epochs - plain_epochs else 0.0
        loss = partial(penalised, weight=weight)
        phases.append(Phase(data=data.retain, batch_size=batch_size, loss=loss, when=partial(int.__eq__, epoch)))
    # (3) train on with the retain set
    optimizer = Optimizer(lr=lr, momentum=momentum, weight_decay=weight_decay)
    fit(model, phases, run, epochs=epochs, optimizer=optimizer, edit_grads=held.edit_grads, after_step=held.after_step)
    everything = {name: p.detach().abs() >= NEAR_ZERO for name, p in model.named_parameters()}
    run.diagnostics["sparsity"] = 1 - density(everything)
    return model


def _magnitudes(model: nn.Module) -> dict[str, Tensor]:
    layers = {name: module for name, module in model.named_modules() if isinstance(module, WEIGHT_LAYERS)}
    convolutions = {name: module for name, module in layers.items() if not isinstance(module, nn.Linear)}
    return {f"{name}.weight" if name else "weight": module.weight.detach().abs() for name, module in (convolutions or layers).items()}
