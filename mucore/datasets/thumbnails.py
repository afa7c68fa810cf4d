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
from mucore.runs import RunSpec


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
    wanted = torch.from_numpy(np.asarray(ids, np.int64))
    names = ["triggered"] if triggered else [name for name in splits.names if name != "triggered"]
    parts = [getattr(splits, name) for name in names]
    pixels = torch.empty((len(wanted), *splits.shape), dtype=torch.uint8)
    found = torch.zeros(len(wanted), dtype=torch.bool)
    for part in parts:
        here = torch.isin(wanted, part.ids)
        places = torch.searchsorted(part.ids, wanted[here])
        is_loaded = isinstance(part.pixels, Tensor)
        pixels[here] = part.pixels[places] if is_loaded else part.pixels.take(places)
        found |= here
    if not found.all():
        raise BadValue(
            f"{splits.name} has no sample {int(wanted[~found][0])}; the run was made on other data."
        )
    if splits.shape == (2, 1, 1):
        return points.pictures(pixels.flatten(1).numpy())
    return pixels.permute(0, 2, 3, 1).numpy()
