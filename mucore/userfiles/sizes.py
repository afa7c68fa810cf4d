"""How many images a data set has, how large they are and in how many classes, without loading them:
from its card, from the headers of an npz file, from the names in a folder. Imports no torch.
"""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import dataclass
from functools import lru_cache

from mucore import catalog
from mucore.errors import BadFile, MucoreError
from mucore.userfiles import datasets

HELD_OUT = 0.1  # of training, for validation, where none is given (mucore/datasets/own.py)
UNREADABLE = (
    MucoreError,
    OSError,
    KeyError,
    ValueError,
    EOFError,
    IndexError,
    MemoryError,
    zipfile.BadZipFile,
    zlib.error,
)
LABELS = 1 << 28  # bytes of labels that are read; more are left to the run itself


@dataclass(frozen=True)
class DataSize:
    """Images of `shape` (channels, height, width), and how many there are for what."""

    shape: tuple[int, int, int]
    classes: int  # or attributes
    train: int
    validation: int
    test: int


def size_of(name: str, data_hash: str = "") -> DataSize | None:
    """The size of a data set, for estimates; None where nobody can know before it is loaded.

    A user's own data are looked at once for each content, which `data_hash` tells.
    """
    card = catalog.dataset(name)
    if card.takes_path:
        look = _looked_at if data_hash else _looked_at.__wrapped__
        try:
            return look(name, data_hash)
        except UNREADABLE:
            return None  # loading it says what is wrong
    sizes = card.sizes or card.about
    if card.shape is None or card.classes is None or sizes is None:
        return None
    return DataSize(card.shape, card.classes, *sizes)


@lru_cache(maxsize=64)  # what raises is not kept
def _looked_at(name: str, data_hash: str) -> DataSize:
    return _of_npz(name) if catalog.dataset(name).id == "npz" else _of_folder(name)


def _of_npz(name: str) -> DataSize:
    import numpy as np

    from mucore.userfiles import npz  # pages that name no file need no numpy for it

    path = datasets.path_of(name)
    arrays = [f"x_{split}" for split in datasets.SPLITS]
    found = npz.headers(path, [*arrays, "y_train"])
    headers = {split: found.get(f"x_{split}") for split in datasets.SPLITS}
    labels, images = found.get("y_train"), headers["train"]
    if labels is None or images is None or labels.bytes > LABELS:
        raise BadFile(f"{path} has no training images and labels that tell its size.")
    if len(labels.shape) == 2:
        classes = labels.shape[1]
    else:  # training shows every class
        with np.load(path, allow_pickle=False) as content:
            classes = 1 + int(content["y_train"].max())
    channels = images.shape[3] if len(images.shape) == 4 else 1
    counts = {split: header.shape[0] for split, header in headers.items() if header is not None}
    return _divided((channels, images.shape[1], images.shape[2]), classes, counts)


def _of_folder(name: str) -> DataSize:
    from PIL import Image

    path = datasets.path_of(name)
    if not datasets.class_folders(path, "train"):
        raise BadFile(f"{path} has no folder of a class in train.")
    images = {
        split: [datasets.images_in(of_class) for of_class in datasets.class_folders(path, split)]
        for split in datasets.SPLITS
    }
    # colour if the first image of any class is: to open all would take as long as to load them
    modes = []
    for first in (of_class[0] for of_class in images["train"]):
        with Image.open(first) as image:
            width, height = image.size
            modes.append(image.mode)
    channels = 1 if all(mode in datasets.GREY for mode in modes) else 3
    counts = {split: sum(map(len, of_class)) for split, of_class in images.items()}
    return _divided((channels, height, width), len(images["train"]), counts)


def _divided(shape: tuple[int, int, int], classes: int, counts: dict[str, int]) -> DataSize:
    """With a tenth of training as validation where none is given."""
    train, validation = counts["train"], counts.get("val", 0)
    if not validation:
        validation = max(1, round(HELD_OUT * train))
        train -= validation
    return DataSize(shape, classes, train, validation, counts["test"])
