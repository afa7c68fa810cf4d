"""The forward pass of `mlp` in numpy, which takes a fraction of a millisecond and no PyTorch."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np


class Network(Protocol):
    """Images (n, h, w) uint8 in, logits (n, C) and penultimate features (n, d) float32 out."""

    def __call__(self, images: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...


class Perceptron:
    """`mlp` (mucore/models/mlp.py) with given weights: linear layers with ReLU between them.

    `weights` are the arrays by the names that the network has in PyTorch; `normalisation` the mean
    and the standard deviation of the training pixels in 0..1.
    """

    def __init__(self, weights: Mapping[str, np.ndarray], normalisation: Sequence[float]):
        self.mean, self.std = (np.float32(each) for each in normalisation)
        hidden = sorted(name for name in weights if re.fullmatch(r"hidden\d+\.weight", name))
        self.layers = [
            (weights[name].T, weights[name.replace("weight", "bias")])
            for name in (*hidden, "head.weight")
        ]

    def __call__(self, images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        pixels = images.reshape(len(images), -1).astype(np.float32) / np.float32(255)
        features = (pixels - self.mean) / self.std
        *hidden, (weight, bias) = self.layers
        for inner, offset in hidden:
            features = np.maximum(features @ inner + offset, 0)
        return features @ weight + bias, features
