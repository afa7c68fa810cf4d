"""Example of a method of your own; docs/add-a-method.md walks through it."""

from __future__ import annotations

import torch
from torch import nn

from mucore.catalog import MethodCard, Parameter
from mucore.engine.data import UnlearningData
from mucore.engine.loop import Optimizer, Phase, fit
from mucore.engine.run import Run

CARD = MethodCard(
    id="gaussian_noise",
    title="Gaussian noise",
    family="own",
    source="Example of mucore",
    summary="Adds noise to every weight, then repairs the network with a few passes over the "
    "retain set.",
    reads=frozenset({"retain"}),
    parameters=(
        Parameter(
            name="sigma",
            kind="float",
            default=0.1,
            low=0.0,
            high=10.0,
            unit="× standard deviation of the layer's weights",
            help="Strength of the noise; 0 adds none.",
        ),
        Parameter(
            name="epochs",
            kind="int",
            default=1,
            low=0,
            high=100,
            help="Passes over the retain set afterwards.",
            unit="epochs",
        ),
        Parameter(
            name="lr",
            kind="float",
            default=0.01,
            low=1e-6,
            high=1.0,
            log=True,
            help="Learning rate of these passes.",
        ),
    ),
)


def gaussian_noise(
    model: nn.Module, data: UnlearningData, run: Run, *, sigma: float, epochs: int, lr: float
) -> nn.Module:
    # (1) noise in proportion to the spread of each layer, from a stream of this run alone
    generator = run.rng("noise")
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                run.check()  # raises if somebody pressed Cancel
                noise = torch.randn(weight.shape, generator=generator).to(weight.device)
                weight += sigma * weight.std() * noise
    # (2) repair on what may be kept
    return fit(
        model,
        [Phase(data=data.retain, batch_size=128)],
        run,
        epochs=epochs,
        optimizer=Optimizer(lr=lr, momentum=0.9),
    )
