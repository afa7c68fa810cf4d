"""Noise-injection unlearning: a fresh output layer and noise on a few layers at a time, trained
away on the retain set.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import nn

from mucore.blocks.masks import outside_norms
from mucore.engine.data import UnlearningData
from mucore.engine.features import classifier_layer
from mucore.engine.loop import Optimizer, Phase, fit
from mucore.engine.run import Run
from mucore.rng import stream_seed


def niu(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    lr: float,
    last_lr: float,
    reset_epochs: int,
    noise_epochs: int,
    fine_epochs: int,
    chosen_tensors: int,
    noise_share: float,
    sigma: float,
    momentum: float,
    weight_decay: float,
    batch_size: int,
    reset_output: bool,
    stage1: Literal["full", "chosen"],
) -> nn.Module:
    """
    Paper: none; NeurIPS 2023 machine unlearning challenge, write-up 459095 (Sun), seventh place;
        RNI in Deep Unlearn (Cadet et al., 2024)
    Code: third-party port xcadet/deepunlearn munl/unlearning/kgltop7.py
    Reads: the retain set
    Differs: batch norm is told by layer type, not by the name "bn"; the first stage trains all
        weights (write-up), the port's does not

    Each epoch has an optimiser of its own.
    """
    total = reset_epochs + noise_epochs + fine_epochs
    # (1) a freshly initialised output layer
    if reset_output:
        fresh = classifier_layer(data.fresh_model(stream_seed(run.seed, "init")))
        classifier_layer(model).load_state_dict(fresh.state_dict())
    others, earlier, relative = outside_norms(model), set[str](), []
    for epoch in range(total):
        noisy, fine = (
            reset_epochs <= epoch < reset_epochs + noise_epochs,
            epoch >= reset_epochs + noise_epochs,
        )
        # (2) the first epochs draw a few tensors, which train with batch norm while the others
        #     rest; the last epochs train everything
        choosing, names = noisy or (not fine and stage1 == "chosen"), others
        if choosing:
            names = [
                others[i]
                for i in torch.randperm(len(others), generator=run.rng("layers"))[
                    :chosen_tensors
                ].tolist()
            ]
        for name in others:
            model.get_parameter(name).requires_grad_(name in names)
        # (3) after the reset, a share of the drawn tensors gets noise, those left out that were
        #     drawn in an earlier epoch
        if noisy:
            # they come in random order
            noised = set(names[: int(noise_share * len(names) + 1e-9)]) - earlier
            relative += [
                add_noise(model.get_parameter(name), sigma, run.rng("noise"))
                for name in sorted(noised)
            ]
            run.diagnostics["noise_to_weight"] = sum(relative) / max(len(relative), 1)
        earlier |= set(names) if choosing else set()
        # (4) an epoch on the retain set; only the last of all has the larger rate
        optimizer = Optimizer(
            lr=last_lr if fine and epoch == total - 1 else lr,
            momentum=momentum,
            weight_decay=weight_decay,
        )
        with run.share(epoch / total, (epoch + 1) / total):
            fit(
                model,
                [Phase(data=data.retain, batch_size=batch_size)],
                run,
                epochs=1,
                optimizer=optimizer,
            )
        if run.status != "ok":
            break
    return model.requires_grad_(True).eval()


@torch.no_grad()
def add_noise(p: nn.Parameter, sigma: float, generator: torch.Generator) -> float:
    """Add N(0, σ²) to a tensor; returns the noise's norm as a share of the tensor's own."""
    noise = (torch.randn(p.shape, generator=generator) * sigma).to(p)
    size = p.norm().clamp(min=1e-12)
    p.add_(noise)
    return (noise.norm() / size).item()
