"""How many images a data set has, how large they are and in how many classes, without loading them:
from its card, from the headers of an npz file, from the names in a folder. Imports no torch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from mucore import catalog
from mucore.errors import MucoreError
from mucore.userfiles import datasets

VALIDATION_SHARE, TEST_SHARE = 0.1, 0.2  # held out of training where none is given


@dataclass(frozen=True)
class DataSize:
    """Images of `shape` (channels, height, width), and how many there are for what."""

    shape: tuple[int, int, int]
    classes: int  # or attributes
    train: int
    validation: int
    test: int
    notes: tuple[str, ...] = ()  # what is not read


def size_of(name: str, data_hash: str = "") -> DataSize | None:
    """The size of a data set, for estimates; None where nobody can know before it is loaded.

    A user's own data are looked at once for each content, which `data_hash` tells.
    """
    card = catalog.dataset(name)
    if card.takes_path:
        try:
            return looked_at(name, data_hash)
        except MucoreError:
            return None  # loading it says what is wrong
    sizes = card.sizes or card.about
    if card.shape is None or card.classes is None or sizes is None:
        return None
    return DataSize(card.shape, card.classes, *sizes)


@lru_cache(maxsize=64)  # what raises is not kept
def looked_at(name: str, data_hash: str) -> DataSize:
    """The size of a user's own data, all checked that can be told without unpacking large files.
    Raises `BadFile`, `BadValue`.
    """
    return _of_npz(name) if catalog.dataset(name).id == "npz" else _of_folder(name)


def _of_npz(name: str) -> DataSize:
    from mucore.userfiles import npz  # pages that name no file need no numpy for it

    path = datasets.path_of(name)
    found = npz.checked(path)
    images = found["x_train"].shape
    channels = images[3] if len(images) == 4 else 1
    counts = {split: found[f"x_{split}"].shape[0] for split in npz.SPLITS if f"x_{split}" in found}
    return _divided((channels, images[1], images[2]), npz.classes_of(path, found), counts)


def _of_folder(name: str) -> DataSize:
    listing = datasets.listing(name)
    counts = Counter(image.split for image in listing.images)
    shape = listing.channels, listing.side, listing.side
    size = _divided(shape, len(listing.class_names), counts)
    return replace(size, notes=tuple(listing.place.report.sentences))


def _divided(shape: tuple[int, int, int], classes: int, counts: Mapping[str, int]) -> DataSize:
    """With a share of training as test and as validation data where none are given."""
    train, sizes = counts["train"], dict(counts)
    for split, share in (("test", TEST_SHARE), ("val", VALIDATION_SHARE)):
        if not sizes.get(split):
            sizes[split] = max(1, round(share * train))
            train -= sizes[split]
    return DataSize(shape, classes, train, sizes["val"], sizes["test"])
