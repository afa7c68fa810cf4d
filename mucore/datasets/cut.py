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
from mucore.datasets.splits import Split, Splits, assemble, hold_out_part
from mucore.errors import BadValue
from mucore.runs.preprocess import USUAL, moments

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
    parts = {name: getattr(splits, name) for name in names}
    if greyscale and splits.shape[0] == 3:
        parts = {name: _grey(part, splits.name) for name, part in parts.items()}
    division = list(splits.division_notes)
    if validation_from == "test" and splits.validation.source is splits.train.source:
        parts["train"] = _joined(parts["train"], parts["validation"])
        share = min(TEST_AS_VALIDATION, len(splits.test) // 2) / max(1, len(splits.test))
        parts["test"], parts["validation"] = hold_out_part(parts["test"], share)
        if not len(parts["test"]):
            raise BadValue(
                f"The test set of {splits.name} cannot give validation images: it shows a single "
                "person. Hold them out of training."
            )
        division = [
            "Training has every published training image; validation is "
            f"{len(parts['validation']):,} images taken out of the test set."
        ]
    if per_class:
        parts["train"] = parts["train"][
            first_of_each_class(parts["train"].labels.numpy(), per_class)
        ]
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


def _grey(split: Split, name: str) -> Split:
    if isinstance(split.pixels, FileImages):
        raise BadValue(
            f"The images of {name} are streamed and stay in colour. Leave greyscale out of the "
            "recipe."
        )
    return replace(split, pixels=grey(split.pixels))


def grey(pixels: Tensor) -> Tensor:
    """Luminance (ITU-R BT.601) of uint8 colour images (n, 3, h, w), as uint8 (n, 1, h, w)."""
    weights = torch.tensor([0.299, 0.587, 0.114])
    chunks = [torch.einsum("nchw,c->nhw", chunk.float(), weights) for chunk in pixels.split(4096)]
    return torch.cat([chunk.round().to(torch.uint8) for chunk in chunks])[:, None]


def _joined(one: Split, other: Split) -> Split:
    """Two parts of one source, in its order."""
    identities = None
    if one.identities is not None and other.identities is not None:
        identities = torch.cat([one.identities, other.identities])
    whole = Split(
        pixels=one.pixels.joined(other.pixels)
        if isinstance(one.pixels, FileImages)
        else torch.cat([one.pixels, other.pixels]),
        labels=torch.cat([one.labels, other.labels]),
        identities=identities,
        rows=np.concatenate([one.rows, other.rows]),
        source=one.source,
    )
    return whole[np.argsort(whole.rows)]
