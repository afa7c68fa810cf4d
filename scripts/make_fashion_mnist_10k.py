"""Make `data/fashion-mnist-10k.npz`: a balanced subset of Fashion-MNIST that is small enough to
live in the repository.

    python scripts/make_fashion_mnist_10k.py [ROOT]

ROOT is a folder with the four idx files of Fashion-MNIST (with or without `.gz`), or a torchvision
root that holds them; without it the data folder and Debian's package are searched.
The same files give the same arrays on every machine.

Of each class: 1,000 training images and 100 validation images, both from the 60,000 training images
and without overlap, and 200 test images. `index_train`, `index_validation` and `index_test` say
where each image stands in the original files.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from mucore.datasets import default_root
from mucore.datasets.torchvision_sets import mnist_arrays
from mucore.rng import numpy_rng

TRAIN, VALIDATION, TEST = 1000, 100, 200  # images a class
TARGET = Path(__file__).parents[1] / "data" / "fashion-mnist-10k.npz"


def main(root: Path) -> None:
    train_images, train_labels, test_images, test_labels = mnist_arrays("fashion-mnist", root)
    rng = numpy_rng(0, "fashion-mnist-10k")
    train, validation, test = [], [], []
    for number in range(10):
        mine = rng.permutation(np.flatnonzero(train_labels == number))
        train.append(mine[:TRAIN])
        validation.append(mine[TRAIN : TRAIN + VALIDATION])
        test.append(rng.permutation(np.flatnonzero(test_labels == number))[:TEST])
    arrays = {}
    for name, chosen, images, labels in (
        ("train", train, train_images, train_labels),
        ("validation", validation, train_images, train_labels),
        ("test", test, test_images, test_labels),
    ):
        index = np.sort(np.concatenate(chosen))
        arrays[f"x_{name}"], arrays[f"y_{name}"], arrays[f"index_{name}"] = (
            images[index],
            labels[index],
            index.astype(np.int32),
        )
    np.savez_compressed(TARGET, **arrays)
    print(
        f"{TARGET}: {TARGET.stat().st_size / 1e6:.1f} MB, "
        + ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else default_root())
