"""A fully connected network on flattened images (Becker and Liebig, Evaluating Machine Unlearning
via Epistemic Uncertainty, 2022).
"""

from __future__ import annotations

from collections import OrderedDict

from torch import nn

WIDTHS = (512, 256, 128)


def build(*, in_channels: int, classes: int, image_size: int) -> nn.Module:
    layers: OrderedDict[str, nn.Module] = OrderedDict(flatten=nn.Flatten())
    size = in_channels * image_size * image_size
    for number, width in enumerate(WIDTHS, start=1):
        layers[f"hidden{number}"] = nn.Linear(size, width)
        layers[f"relu{number}"] = nn.ReLU()
        size = width
    layers["head"] = nn.Linear(size, classes)
    return nn.Sequential(layers)
