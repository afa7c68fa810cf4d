"""What the networks of the catalogue take, asked of networks without content: "meta" tensors have
shapes and no memory, so that the largest network on the largest images costs a second.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from mucore import models
from mucore.catalog.networks import Network
from mucore.engine.chunks import sizes_of
from mucore.engine.features import classifier_layer

CLASSES = 10  # the figures are without the classifier's weights, and so do not depend on it


def measure(model: str, channels: int, side: int) -> Network:
    """The figures of a model of the catalogue for images (channels, side, side)."""
    with torch.device("meta"):
        built = models.build(model, in_channels=channels, classes=CLASSES, image_size=side, seed=0)
    return of(built.to("meta"), (channels, side, side))


def of(network: nn.Module, shape: tuple[int, int, int]) -> Network:
    """The same of any network, for images of `shape` (c, h, w)."""
    head, sizes = classifier_layer(network), sizes_of(network, shape)
    return Network(
        parameters=_count(network.parameters()) - _count(head.parameters()),
        buffers=sum(t.numel() * t.element_size() for t in network.buffers()),
        features=head.in_features,
        graph=sizes.graph,
        passing=sizes.passing,
    )


def _count(tensors: Iterator[Tensor]) -> int:
    return sum(t.numel() for t in tensors)
