"""A t-SNE map of the training images themselves, for data that no run has seen yet: images that are
alike lie together, whatever a network makes of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from mucore.analysis.tsne import FEWEST, embed, principal
from mucore.errors import BadValue
from mucore.rng import numpy_rng
from mucore.shipped import DATA
from mucore.store import Store

MOST = 2000  # images on the maps that pages show
SHIPPED = DATA / "maps"  # those of embedded data sets, made by scripts/make_maps.py
COMPONENTS = 50  # principal ones of the pixels, whose cosines the map keeps


class Parameters(BaseModel):
    """`dataset` as runs name it; `data_hash` of a user's own data, "" of others; at most `samples`
    images, as many of each label as there is room for.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    dataset: str
    data_hash: str = ""
    samples: int = Field(default=MOST, ge=FEWEST, le=10_000)
    seed: int = Field(default=0, ge=0, le=2**31)


def compute(
    results: Store, parameters: Parameters, progress: Callable[[float, str], None]
) -> dict[str, Any]:
    """`points` (n, 2) float32; `ids` and `labels` (n,) int64 of the images, by id. Of attributes, a
    label is the number that their bits make. Raises `BadValue`, `BadFile`.
    """
    from mucore.datasets import load
    from mucore.userfiles import datasets

    progress(0.0, "reading the images")
    # a catalogued set has no content of its own to compare
    if datasets.data_hash(parameters.dataset) != parameters.data_hash:
        raise BadValue(
            f"{parameters.dataset} is not what it was when the map was asked for. Open it again."
        )
    train = load(parameters.dataset).train
    labels = train.labels.numpy().astype(np.int64)
    if labels.ndim > 1:
        labels = labels @ (1 << np.arange(labels.shape[1]))
    chosen = _evenly(labels, parameters)
    if len(chosen) < FEWEST:
        raise BadValue(
            f"A map needs {FEWEST} training images at least, but there are {len(chosen)}."
        )
    features = _components(_pixels(train.pixels, chosen))
    points = embed(features, principal(features), parameters.seed)
    return {"ids": train.ids.numpy()[chosen], "labels": labels[chosen], "points": points}


def _evenly(labels: np.ndarray, parameters: Parameters) -> np.ndarray:
    """Places of the samples: in turn one of each label, drawn, until there are enough."""
    draw = numpy_rng(parameters.seed, "subset")
    places = draw.permutation(len(labels))
    turn = np.empty(len(labels), np.int64)  # how many of its label come before
    for label in np.unique(labels):
        mine = labels[places] == label
        turn[mine] = np.arange(mine.sum())
    return np.sort(places[np.argsort(turn, kind="stable")[: parameters.samples]])


def _pixels(pixels: Any, places: np.ndarray) -> np.ndarray:
    import torch

    index = torch.from_numpy(places)
    found = pixels[index] if isinstance(pixels, torch.Tensor) else pixels.take(index)
    return found.flatten(1).numpy().astype(np.float32) / 255


def _components(pixels: np.ndarray) -> np.ndarray:
    """The first principal components (n, d) of images (n, pixels)."""
    centred = pixels - pixels.mean(axis=0)
    left, size, _ = np.linalg.svd(centred, full_matrices=False)
    return (left * size)[:, :COMPONENTS].astype(np.float64)
