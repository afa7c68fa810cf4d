"""What a model says about a set while a method runs: for stop rules, which count as part of the method."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from mucore.engine.data import Samples
from mucore.engine.run import Run

BATCH = 512


@torch.no_grad()
def predictions(model: nn.Module, samples: Samples, run: Run) -> Tensor:
    """The class (n,) predicted for each sample, on the CPU: plain images, eval mode. The model stays in eval mode; `fit` sets its own."""
    model.eval()
    found = [torch.zeros(0, dtype=torch.int64)]
    for batch in samples.batches(run, BATCH):
        run.check()
        found.append(model(batch.x).argmax(1).cpu())
    return torch.cat(found)


def accuracy(model: nn.Module, samples: Samples, run: Run) -> float:
    """Share of a set that is predicted right, in 0..1 (methods-2, K6); NaN for an empty set, which no threshold holds for."""
    right = int((predictions(model, samples, run) == samples.labels).sum())
    return right / len(samples) if len(samples) else math.nan
