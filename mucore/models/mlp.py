"""Fully connected networks on flattened images: one of Becker and Liebig, Evaluating Machine
Unlearning via Epistemic Uncertainty, 2022, and a small one for points in the plane.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from torch import nn

WIDTHS = (512, 256, 128)
WIDTHS_2D = (64, 64)


def build(*, in_channels: int, classes: int, image_size: int) -> nn.Module:
    return _perceptron(in_channels * image_size * image_size, WIDTHS, classes)


def build_2d(*, in_channels: int, classes: int, image_size: int) -> nn.Module:
    return _perceptron(in_channels * image_size * image_size, WIDTHS_2D, classes)


def _perceptron(size: int, widths: Sequence[int], classes: int) -> nn.Module:
    layers: OrderedDict[str, nn.Module] = OrderedDict(flatten=nn.Flatten())
    for number, width in enumerate(widths, start=1):
        layers[f"hidden{number}"] = nn.Linear(size, width)
        layers[f"relu{number}"] = nn.ReLU()
        size = width
    layers["head"] = nn.Linear(size, classes)
    return nn.Sequential(layers)
