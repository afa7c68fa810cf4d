"""The balanced subset of Fashion-MNIST (Xiao, Rasul and Vollgraf, 2017; MIT licence) that comes
with the repository.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mucore import catalog, shipped
from mucore.datasets.splits import Splits, assemble, split_of

EMBEDDED = shipped.DATA / "fashion-mnist-10k.npz"


def load(name: str, root: Path) -> Splits:
    """The subset in `data/`, made by scripts/make_fashion_mnist_10k.py."""
    # closes the file of a broken archive too
    with EMBEDDED.open("rb") as file, np.load(file, allow_pickle=False) as content:
        train, validation, test = (
            split_of(x=content[f"x_{split}"], y=content[f"y_{split}"])
            for split in ("train", "validation", "test")
        )
    class_names = catalog.dataset(name).class_names
    return assemble(
        name, train=train, validation=validation, test=test, class_names=class_names, natural=False
    )
