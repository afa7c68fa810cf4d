"""A loaded data set divided as a recipe asks: validation out of the test set, a few images a class,
no colour.

Some papers train on every published training image, and hold nothing back. What the loader held out
then goes back into training, in the published order, and validation comes out of the test set; the
test metrics use the rest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from mucore.datasets.files import FileImages
from mucore.datasets.splits import Part, Split, Splits, assemble, hold_out_part
from mucore.errors import BadValue
from mucore.spec.preprocess import USUAL, moments

TEST_AS_VALIDATION = 1_000  # images; a small test set gives at most half


def cut(splits: Splits, *, preprocess: str = USUAL, **division: Any) -> Splits:
    """`splits` divided anew, and normalised as `preprocess` names it; they themselves where nothing
    is asked. Raises `BadValue`.
    """
    splits = _divided(splits, **division)
    if preprocess == USUAL:
        return splits
    mean, std = moments(preprocess, (splits.mean, splits.std))
    return replace(splits, mean=mean, std=std)


def _divided(
    splits: Splits, *, validation_from: Literal["training", "test"], per_class: int, greyscale: bool
) -> Splits:
    """Ids are given afresh, `data_hash` stays that of the source.

    A data set that publishes validation data of its own keeps it. Persons are never parted. Raises
    `BadValue`.
    """
    if validation_from == "training" and not per_class and not greyscale:
        return splits
    names = [name for name in splits.names if name != "triggered"]
    parts = {
        name: _part(getattr(splits, name), greyscale=greyscale, name=splits.name) for name in names
    }
    division = list(splits.division_notes)
    if validation_from == "test" and splits.validation.source is splits.train.source:
        parts["train"] = _joined(parts["train"], parts["validation"])
        share = min(TEST_AS_VALIDATION, len(splits.test) // 2) / max(1, len(splits.test))
        parts["test"], parts["validation"] = hold_out_part(parts["test"], share)
        if not len(parts["test"].y):
            raise BadValue(
                f"The test set of {splits.name} cannot give validation images: it shows a single "
                "person. Hold them out of training."
            )
        count = len(parts["validation"].y)
        division = [
            (
                f"Training has every published training image; validation is {count:,} images "
                "taken out of the test set."
            )
        ]
    if per_class:
        parts["train"] = parts["train"][first_of_each_class(parts["train"].y, per_class)]
        division.append(f"Training has the first {per_class:,} images of each class only.")
    return assemble(
        splits.name,
        **parts,
        class_names=splits.class_names,
        natural=splits.natural,
        data_hash=splits.data_hash,
        notes=splits.source_notes,
        division_notes=division,
        task=splits.task,
    )


def first_of_each_class(labels: np.ndarray, count: int) -> np.ndarray:
    """Sorted indices of the first `count` samples of each class in labels (n,); of attributes (n,
    A), of each combination.
    """
    if labels.ndim == 2:
        labels = np.unique(labels, axis=0, return_inverse=True)[1]
    return np.sort(
        np.concatenate([np.flatnonzero(labels == number)[:count] for number in np.unique(labels)])
    )


def _part(split: Split, *, greyscale: bool, name: str) -> Part:
    pixels = split.pixels
    if isinstance(pixels, FileImages):
        if greyscale:
            raise BadValue(
                f"The images of {name} are streamed and stay in colour. Leave greyscale out of "
                "the recipe."
            )
    else:
        pixels = (
            (grey(pixels) if greyscale and pixels.shape[1] == 3 else pixels)
            .permute(0, 2, 3, 1)
            .numpy()
        )
    identities = None if split.identities is None else split.identities.numpy()
    return Part(
        x=pixels,
        y=split.labels.numpy(),
        identities=identities,
        rows=split.rows,
        source=split.source,
    )


def grey(pixels: Tensor) -> Tensor:
    """Luminance (ITU-R BT.601) of uint8 colour images (n, 3, h, w), as uint8 (n, 1, h, w)."""
    weights = torch.tensor([0.299, 0.587, 0.114])
    chunks = [torch.einsum("nchw,c->nhw", chunk.float(), weights) for chunk in pixels.split(4096)]
    return torch.cat([chunk.round().to(torch.uint8) for chunk in chunks])[:, None]


def _joined(one: Part, other: Part) -> Part:
    """Two parts of one source, in its order."""
    x = (
        one.x.joined(other.x)
        if isinstance(one.x, FileImages) and isinstance(other.x, FileImages)
        else np.concatenate([one.x, other.x])
    )
    identities = None
    if one.identities is not None and other.identities is not None:
        identities = np.concatenate([one.identities, other.identities])
    rows = np.concatenate([one.rows, other.rows])
    y = np.concatenate([one.y, other.y])
    whole = Part(x=x, y=y, identities=identities, rows=rows, source=one.source)
    return whole[np.argsort(rows)]
