"""Fashion-MNIST (Xiao, Rasul and Vollgraf, 2017; MIT licence): the full set, and the balanced subset that comes with the repository."""

from __future__ import annotations

import gzip
import struct
import urllib.error
import warnings
import zlib
from pathlib import Path

import numpy as np

from mucore import catalog
from mucore.datasets.splits import Part, Splits, assemble, hold_out
from mucore.errors import BadFile

EMBEDDED = Path(__file__).parents[2] / "data" / "fashion-mnist-10k.npz"
DEBIAN = Path("/usr/share/datasets/fashion-mnist")  # package dataset-fashion-mnist
FILES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")


def load_subset(name: str, root: Path) -> Splits:
    """The subset in `data/`, made by scripts/make_fashion_mnist_10k.py."""
    if not EMBEDDED.is_file():
        raise BadFile(f"{EMBEDDED} is missing. Restore it from the repository, or make it anew: python scripts/make_fashion_mnist_10k.py")
    try:
        with np.load(EMBEDDED, allow_pickle=False) as content:
            train, validation, test = (Part(x=content[f"x_{split}"], y=content[f"y_{split}"]) for split in ("train", "validation", "test"))
    except (ValueError, KeyError, OSError, EOFError, zlib.error) as error:
        raise BadFile(f"{EMBEDDED} is damaged ({error}). Restore it from the repository.") from error
    class_names = catalog.dataset(name).class_names
    return assemble(name, train=train, validation=validation, test=test, class_names=class_names, natural=False)


def load_full(name: str, root: Path) -> Splits:
    """All 70,000 images, 10 % of the training images held out for validation."""
    train_x, train_y, test_x, test_y = read_idx_files(root)
    kept, held = hold_out(train_y, len(train_y) // 10)
    whole = Part(x=train_x, y=train_y)
    return assemble(
        name,
        train=whole[kept],
        validation=whole[held],
        test=Part(x=test_x, y=test_y),
        class_names=catalog.dataset(name).class_names,
        natural=False,
    )


def read_idx_files(root: Path | None) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Training images (n, 28, 28) uint8 and labels (n,), then test images and labels.

    Searched: `root`, a torchvision root at `root`, Debian's package. Where none has the files, torchvision downloads them into `root`.
    Raises `BadFile` when that fails or a file is damaged.
    """
    places = [DEBIAN] if root is None else [root, root / "FashionMNIST" / "raw", DEBIAN]
    for folder in places:
        found = [_find(folder, name) for name in FILES]
        if all(found):
            arrays = [read_idx(path) for path in found if path]
            break
    else:
        arrays = _download(root)
    for images, labels in (arrays[:2], arrays[2:]):
        if len(images) != len(labels) or images.ndim != 3 or labels.ndim != 1:
            raise BadFile(
                f"The Fashion-MNIST files do not belong together: {images.shape} images and {labels.shape} labels. Fetch them again."
            )
    return arrays[0], arrays[1], arrays[2], arrays[3]


def read_idx(path: Path) -> np.ndarray:
    """The array of uint8 in an idx file, gzipped or not. Raises `BadFile`."""
    try:
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError, zlib.error) as error:
        raise BadFile(f"{path} cannot be read ({error}). Fetch it again.") from error
    dimensions = content[3] if len(content) > 3 else 0
    start = 4 + 4 * dimensions
    if len(content) < start or content[:3] != b"\x00\x00\x08":
        raise BadFile(f"{path} is not an idx file of bytes. Fetch it again.")
    shape = struct.unpack(f">{dimensions}I", content[4:start])
    if len(content) - start != int(np.prod(shape)):
        raise BadFile(f"{path} promises {shape} values but holds {len(content) - start}. Fetch it again.")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())


def _find(folder: Path, name: str) -> Path | None:
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)


def _download(root: Path | None) -> list[np.ndarray]:
    where = catalog.dataset("fashion-mnist").where
    if root is None:
        raise BadFile(f"Fashion-MNIST was not found. {where}")
    from torchvision.datasets import FashionMNIST

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sets = [FashionMNIST(str(root), train=train, download=True) for train in (True, False)]
    except (OSError, RuntimeError, urllib.error.URLError) as error:
        raise BadFile(f"Fashion-MNIST is not in {root} and could not be downloaded ({_one_line(error)}). {where}") from error
    return [array.numpy() for part in sets for array in (part.data, part.targets)]
