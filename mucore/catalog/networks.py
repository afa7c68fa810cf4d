"""What networks take, by model and image size: weights, and bytes a sample needs on its way.

networks.json is written by scripts/make_networks.py, which asks networks without content ("meta"
tensors, tests/network_figures.py); a test holds it against them. So a plan knows what a run will
take without loading PyTorch.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from mucore.catalog.data import MODELS

FILE = Path(__file__).with_name("networks.json")
# Sides for which the table has figures of colour images, beside the data sets' own: networks change
# at 16, 64 and 128 pixels.
SIDES = (8, 16, 32, 64, 128, 224)


@dataclass(frozen=True)
class Network:
    """A network without its classifier. Bytes are those of float32."""

    parameters: int
    buffers: int  # bytes of what is kept and not learned, such as running statistics
    features: int  # inputs of the classifier
    graph: int  # bytes a sample: what the backward pass needs of the forward pass
    passing: int  # bytes a sample: the largest input and output of a layer


@cache
def table() -> dict[str, dict[tuple[int, int], Network]]:
    """Figures by model, and then by channels and side of the images."""
    content = json.loads(FILE.read_text(encoding="utf-8"))
    return {
        model: {
            (int(channels), int(side)): Network(*figures)
            for shape, figures in shapes.items()
            for channels, side in [shape.split("x")]
        }
        for model, shapes in content.items()
    }


def network(model: str, shape: tuple[int, int, int]) -> Network:
    """The figures of a model for images of `shape` (c, h, w).

    Where the table lacks that size, those of the next smaller one, with what depends on the number
    of pixels in proportion: within a few percent for convolutions, more for transformers.
    """
    known = table()[model]
    channels, side = shape[0], shape[1]
    if (channels, side) in known:
        return known[channels, side]

    def far(key: tuple[int, int]) -> tuple[bool, float, bool]:
        return key[1] > side, abs(side - key[1]), key[0] != channels

    near = min(known, key=far)
    figures, area = known[near], (side / near[1]) ** 2
    pixels = channels * side**2 - near[0] * near[1] ** 2
    return replace(
        figures,
        parameters=figures.parameters + _FIRST.get(model, 0) * pixels,
        graph=round(figures.graph * area),
        passing=round(figures.passing * area),
    )


# of the perceptrons, whose first layer has so many weights a pixel
_FIRST = {"mlp": 512, "mlp-2d": 64}


def shapes() -> dict[str, list[tuple[int, int]]]:
    """Channels and sides that the table has, by model: those of the data sets, and `SIDES`."""
    from mucore.catalog import DATASETS

    own = {(card.shape[0], card.shape[1]) for card in DATASETS if card.shape is not None}
    wanted = sorted({*own, *((3, side) for side in SIDES)})
    return {
        card.id: [(c, side) for c, side in wanted if side >= card.min_image_size] for card in MODELS
    }
