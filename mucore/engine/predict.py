"""What a model says about a set while a method runs: for stop rules, a part of the method."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from mucore.engine.data import Samples
from mucore.engine.losses import predicted, task_of
from mucore.engine.run import Run

BATCH = 512


@torch.no_grad()
def predictions(model: nn.Module, samples: Samples, run: Run) -> Tensor:
    """The class (n,), or attributes (n, A), predicted for each sample, on the CPU.

    Plain images, and eval mode, in which the model stays.
    """
    model.eval()
    found = [torch.zeros_like(samples.labels[:0])]
    for batch in samples.batches(run, BATCH):
        run.check()
        found.append(predicted(model(batch.x), task_of(samples.labels)).cpu())
    return torch.cat(found)


def accuracy(model: nn.Module, samples: Samples, run: Run) -> float:
    """Share of labels that is predicted right, in 0..1; NaN for an empty set.

    No threshold holds for NaN.
    """
    right = int((predictions(model, samples, run) == samples.labels).sum())
    return right / samples.labels.numel() if len(samples) else math.nan
