"""Data sets that torchvision downloads and reads: CIFAR-10 and CIFAR-100, SVHN, MNIST and
Fashion-MNIST.

The official CIFAR archives hold Python pickles. Files a user gives are never unpickled here;
torchvision opens these archives only after their MD5 checksum has shown that they are the published
ones, so nothing else can be executed.
"""

from __future__ import annotations

import gzip
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mucore import catalog
from mucore.datasets.published import divided, fetched
from mucore.datasets.splits import Splits, split_of

FILES = ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")
DEBIAN = Path("/usr/share/datasets/fashion-mnist")  # package dataset-fashion-mnist
Arrays = Sequence[np.ndarray]


def cifar(name: str, root: Path) -> Splits:
    """45,000 training, 5,000 validation (held out of training, by class) and 10,000 test images.
    Raises `BadFile` when it cannot be had.
    """
    from torchvision.datasets import CIFAR10, CIFAR100
    from torchvision.datasets.utils import check_integrity

    kind = CIFAR100 if name == "cifar100" else CIFAR10

    def read(download: bool) -> list[CIFAR10]:
        # torchvision unpacks an archive that is there only where it may download
        download = download or check_integrity(str(root / kind.filename), kind.tgz_md5)
        return [kind(str(root), train=part, download=download) for part in (True, False)]

    official = fetched(catalog.dataset(name), root, read)
    training, test = (split_of(x=part.data, y=np.array(part.targets)) for part in official)
    return divided(name, training=training, test=test)


def svhn(name: str, root: Path) -> Splits:
    """65,931 training, 7,326 validation (held out of training, by class) and 26,032 test images.
    Raises `BadFile` if it cannot be had.
    """
    from torchvision.datasets import SVHN

    def read(download: bool) -> list[SVHN]:
        return [SVHN(str(root), split=split, download=download) for split in ("train", "test")]

    training, test = (
        split_of(x=np.ascontiguousarray(part.data.transpose(0, 2, 3, 1)), y=part.labels)
        for part in fetched(catalog.dataset(name), root, read)
    )
    return divided(name, training=training, test=test)


def mnist(name: str, root: Path) -> Splits:
    """60,000 training images, of which a tenth is held out for validation, and 10,000 test images
    of MNIST or Fashion-MNIST. Raises `BadFile`.
    """
    train_x, train_y, test_x, test_y = mnist_arrays(name, root)
    return divided(name, training=split_of(x=train_x, y=train_y), test=split_of(x=test_x, y=test_y))


def mnist_arrays(name: str, root: Path) -> Arrays:
    """Training images (n, 28, 28) uint8 and labels (n,), then test images and labels.

    Searched: a torchvision root at `root`; for Fashion-MNIST, whose files have the same names,
    `root` itself and Debian's package, too. Where none has the files, torchvision downloads them.
    """
    from torchvision import datasets

    card, kind = catalog.dataset(name), datasets.MNIST if name == "mnist" else datasets.FashionMNIST
    places = [root / kind.__name__ / "raw"]
    places += [root, DEBIAN] if name == "fashion-mnist" else []
    for folder in places:
        found = [next(folder.glob(f"{file}-ubyte*"), None) for file in FILES]
        if all(found):
            return [_idx(path) for path in found if path]

    def read(download: bool) -> list[datasets.MNIST]:
        return [kind(str(root), train=part, download=download) for part in (True, False)]

    sets = fetched(card, root, read)
    return [array.numpy() for part in sets for array in (part.data, part.targets)]


def _idx(path: Path) -> np.ndarray:
    """The array of uint8 in an idx file, gzipped or not: its shape stands before it."""
    content = path.read_bytes()
    content = gzip.decompress(content) if path.suffix == ".gz" else content
    (dimensions,) = struct.unpack(">I", content[:4])
    start = 4 + 4 * (dimensions & 0xFF)
    shape = struct.unpack(f">{dimensions & 0xFF}I", content[4:start])
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)
