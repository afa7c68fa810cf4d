"""The four idx files in which MNIST and its successors are published."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mucore.catalog import DatasetCard
from mucore.datasets.published import fetched
from mucore.errors import BadFile

FILES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
Arrays = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def read_set(
    card: DatasetCard, places: Sequence[Path], root: Path | None, torchvision_class: str
) -> Arrays:
    """Training images (n, 28, 28) uint8 and labels (n,), then test images and labels, from the
    first of `places` that has all files.

    Where none has, torchvision downloads them into `root`. Raises `BadFile` when that fails or a
    file is damaged.
    """
    for folder in places:
        found = [_find(folder, name) for name in FILES]
        if all(found):
            arrays = [read_idx(path) for path in found if path]
            break
    else:
        arrays = _download(card, root, torchvision_class)
    for images, labels in (arrays[:2], arrays[2:]):
        if len(images) != len(labels) or images.ndim != 3 or labels.ndim != 1:
            raise BadFile(
                f"The {card.title} files do not belong together: {images.shape} images and "
                f"{labels.shape} labels. Fetch them again."
            )
        if card.classes is not None and len(labels) and labels.max() >= card.classes:
            raise BadFile(
                f"The {card.title} files hold label {labels.max()}, but its classes are 0 to "
                f"{card.classes - 1}. Fetch them again."
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
        raise BadFile(
            f"{path} promises {shape} values but holds {len(content) - start}. Fetch it again."
        )
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def _find(folder: Path, name: str) -> Path | None:
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)


def _download(card: DatasetCard, root: Path | None, torchvision_class: str) -> list[np.ndarray]:
    if root is None:
        raise BadFile(f"{card.title} was not found. {card.where}")
    from torchvision import datasets

    kind = getattr(datasets, torchvision_class)
    sets = fetched(
        card,
        root,
        lambda download: [kind(str(root), train=part, download=download) for part in (True, False)],
    )
    return [array.numpy() for part in sets for array in (part.data, part.targets)]
