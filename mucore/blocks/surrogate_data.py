"""Stand-in images, for data that must not be read or that nobody has (SCAR)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import nn

from mucore.blocks.adversarial import made_samples, noise_samples, to_pixels
from mucore.engine.data import Samples, UnlearningData
from mucore.engine.predict import predictions
from mucore.engine.run import Run

Surrogate = Literal["retain", "noise", "textures"]
COUNT = 10_000
NO_SELF = (
    "scar: form=self moves made-up images out of whole classes. Choose a class-wise scenario and "
    "surrogate=textures, or form=forget_set."
)
NOTHING_TO_MOVE = (
    "The original takes none of the made-up images for a forgotten class, so the "
    "self form had nothing to move."
)


def surrogate_samples(kind: Surrogate, data: UnlearningData, run: Run) -> Samples:
    """The retain set, or `COUNT` made-up images in its format, role and stream `surrogate`."""
    if kind == "retain":
        return data.retain
    return (noise_samples if kind == "noise" else texture_samples)(data.retain, COUNT, run)


def texture_samples(like: Samples, count: int, run: Run) -> Samples:
    """Clouds: N(0, 1) on grids of 2, 4, 8, ... cells a side, up to half the image's, resized
    smoothly; equally many of each, labels 0.

    A network puts plain noise into one or two classes; clouds of several sizes meet most of them.
    """
    channels, *size = like.images.shape
    grids = [2**power for power in range(1, 12) if 2 ** (power + 1) <= min(size)] or [1]
    parts = []
    for cells, share in zip(grids, torch.arange(count).tensor_split(len(grids)), strict=True):
        drawn = torch.randn(len(share), channels, cells, cells, generator=run.rng("surrogate"))
        parts.append(nn.functional.interpolate(drawn, size=size, mode="bilinear"))
    x = torch.cat(parts).to(run.device)
    return made_samples(
        like.images, to_pixels(like.images, x), torch.zeros(count, dtype=torch.int64), "surrogate"
    )


def looking_like(model: nn.Module, samples: Samples, classes: Sequence[int], run: Run) -> Samples:
    """Those samples that the network assigns to one of `classes`, under that label."""
    said = predictions(model, samples, run)
    chosen = torch.isin(said, torch.tensor(classes, dtype=torch.int64))
    return samples[chosen].with_labels(said[chosen])


def marked(samples: Samples, part: Samples) -> Samples:
    """`samples` under the labels of `part`, some of them, and -1 for all others."""
    labels = torch.full((len(samples),), -1)
    labels[torch.isin(samples.ids, part.ids)] = part.labels
    return samples.with_labels(labels)
