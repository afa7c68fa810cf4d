"""Fashion-MNIST (Xiao, Rasul and Vollgraf, 2017; MIT licence): the full set, and the balanced
subset that comes with the repository.
"""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

import numpy as np

from mucore import catalog, shipped
from mucore.datasets.idx import Arrays, read_set
from mucore.datasets.published import divided
from mucore.datasets.splits import Part, Splits, assemble
from mucore.errors import BadFile

EMBEDDED = shipped.DATA / "fashion-mnist-10k.npz"
DEBIAN = Path("/usr/share/datasets/fashion-mnist")  # package dataset-fashion-mnist


def load_subset(name: str, root: Path) -> Splits:
    """The subset in `data/`, made by scripts/make_fashion_mnist_10k.py."""
    if not EMBEDDED.is_file():
        raise BadFile(
            f"{EMBEDDED} is missing. Restore it from the repository, or make it again: python "
            "scripts/make_fashion_mnist_10k.py"
        )
    try:
        # closes the file of a broken archive too
        with EMBEDDED.open("rb") as file, np.load(file, allow_pickle=False) as content:
            train, validation, test = (
                Part(x=content[f"x_{split}"], y=content[f"y_{split}"])
                for split in ("train", "validation", "test")
            )
    except (ValueError, KeyError, OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        raise BadFile(
            f"{EMBEDDED} is damaged ({error}). Restore it from the repository."
        ) from error
    class_names = catalog.dataset(name).class_names
    return assemble(
        name, train=train, validation=validation, test=test, class_names=class_names, natural=False
    )


def load_full(name: str, root: Path) -> Splits:
    """All 70,000 images, 10 % of the training images held out for validation."""
    train_x, train_y, test_x, test_y = read_idx_files(root)
    return divided(name, training=Part(x=train_x, y=train_y), test=Part(x=test_x, y=test_y))


def read_idx_files(root: Path | None) -> Arrays:
    """Training images (n, 28, 28) uint8 and labels (n,), then test images and labels.

    Searched: `root`, a torchvision root at `root`, Debian's package. Where none has the files,
    torchvision downloads them into `root`. Raises `BadFile` when that fails or a file is damaged.
    """
    places = [DEBIAN] if root is None else [root, root / "FashionMNIST" / "raw", DEBIAN]
    return read_set(catalog.dataset("fashion-mnist"), places, root, "FashionMNIST")
