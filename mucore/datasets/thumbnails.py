"""The images behind sample ids of a run, as a reader looks at them: numpy arrays, before any
normalisation.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from mucore import points
from mucore.datasets import load
from mucore.datasets.poisoned import poisoned
from mucore.datasets.splits import Splits
from mucore.errors import BadValue
from mucore.spec import RunSpec


def run_splits(spec: RunSpec) -> Splits:
    """The data set of a run, divided as its recipe says and with its poison. Raises `BadFile` or
    `BadValue` where it is not there; nothing is downloaded to be looked at.
    """
    splits = load(spec.dataset, download=False, **spec.recipe.cut())
    return poisoned(splits, spec.poison) if spec.poison else splits


def thumbnails(splits: Splits, ids: np.ndarray, *, triggered: bool = False) -> np.ndarray:
    """The images (n, h, w, c) uint8 of sample ids (n,), in their order; of the test set under the
    trigger where `triggered`. Points in the plane are dots on a picture.

    Raises `BadValue` for an id that the data set does not have.
    """
    names = (
        ("triggered",) if triggered else tuple(name for name in splits.names if name != "triggered")
    )
    found: dict[int, Tensor] = {}
    wanted = torch.from_numpy(np.unique(np.asarray(ids, np.int64)))
    for name in names:
        split = getattr(splits, name)
        if split is None:
            continue
        positions = torch.isin(split.ids, wanted).nonzero().flatten()
        if len(positions):
            pixels = (
                split.pixels[positions]
                if isinstance(split.pixels, Tensor)
                else split.pixels.take(positions)
            )
            found |= dict(zip(split.ids[positions].tolist(), pixels, strict=True))
    missing = [each for each in wanted.tolist() if each not in found]
    if missing:
        raise BadValue(f"{splits.name} has no sample {missing[0]}; the run was made on other data.")
    if not len(ids):
        return np.zeros((0, *splits.shape[1:], splits.shape[0]), np.uint8)
    pixels = torch.stack([found[int(each)] for each in ids])
    if splits.shape == (2, 1, 1):
        return points.pictures(pixels.flatten(1).numpy())
    return pixels.permute(0, 2, 3, 1).numpy()
