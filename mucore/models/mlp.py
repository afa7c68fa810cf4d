"""Fully connected networks on flattened images: one of Becker and Liebig, Evaluating Machine
Unlearning via Epistemic Uncertainty, 2022, and a small one for points in the plane.
"""

from __future__ import annotations

from collections import OrderedDict

from torch import nn

WIDTHS = {"mlp": (512, 256, 128), "mlp-2d": (64, 64)}


def build(model: str, *, in_channels: int, classes: int, image_size: int) -> nn.Module:
    size = in_channels * image_size * image_size
    layers: OrderedDict[str, nn.Module] = OrderedDict(flatten=nn.Flatten())
    for number, width in enumerate(WIDTHS[model], start=1):
        layers[f"hidden{number}"] = nn.Linear(size, width)
        layers[f"relu{number}"] = nn.ReLU()
        size = width
    layers["head"] = nn.Linear(size, classes)
    return nn.Sequential(layers)
