"""Noise-injection unlearning: a fresh output layer and noise, trained away on the retain set."""

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
    # (1) a freshly initialised output layer
    if reset_output:
        fresh = data.fresh_model(stream_seed(run.seed, "init"))
        classifier_layer(model).load_state_dict(classifier_layer(fresh).state_dict())

    stages = reset_epochs * ["reset"] + noise_epochs * ["noise"] + fine_epochs * ["fine"]
    movable = outside_norms(model)
    drawn_earlier: set[str] = set()
    noise_to_weight: list[float] = []
    for epoch, stage in enumerate(stages):
        # (2) the first epochs draw a few tensors, which train with batch norm while the others
        #     rest; the last epochs train everything
        trained = movable
        if stage == "noise" or (stage == "reset" and stage1 == "chosen"):
            trained = drawn(movable, chosen_tensors, run.rng("layers"))
        for name in movable:
            model.get_parameter(name).requires_grad_(name in trained)
        # (3) after the reset, a share of the drawn tensors gets noise, those left out that were
        #     drawn in an earlier epoch
        if stage == "noise":
            chosen = trained[: int(noise_share * len(trained) + 1e-9)]  # in random order
            for name in sorted(set(chosen) - drawn_earlier):
                tensor = model.get_parameter(name)
                noise_to_weight.append(add_noise(tensor, sigma, run.rng("noise")))
            mean = sum(noise_to_weight) / max(len(noise_to_weight), 1)
            run.diagnostics["noise_to_weight"] = mean
        if trained is not movable:
            drawn_earlier.update(trained)
        # (4) an epoch on the retain set; only the last of all has the larger rate
        last = stage == "fine" and epoch == len(stages) - 1
        rate = last_lr if last else lr
        optimizer = Optimizer(lr=rate, momentum=momentum, weight_decay=weight_decay)
        phase = Phase(data=data.retain, batch_size=batch_size)
        with run.share(epoch / len(stages), (epoch + 1) / len(stages)):
            fit(model, [phase], run, epochs=1, optimizer=optimizer)
        if run.status != "ok":
            break
    return model.requires_grad_(True).eval()


def drawn(names: list[str], count: int, generator: torch.Generator) -> list[str]:
    """At most `count` of the names, in random order."""
    order = torch.randperm(len(names), generator=generator)
    return [names[number] for number in order[:count].tolist()]


@torch.no_grad()
def add_noise(p: nn.Parameter, sigma: float, generator: torch.Generator) -> float:
    """Add N(0, σ²) to a tensor; returns the noise's norm as a share of the tensor's own."""
    noise = (torch.randn(p.shape, generator=generator) * sigma).to(p)
    size = p.norm().clamp(min=1e-12)
    p.add_(noise)
    return (noise.norm() / size).item()
