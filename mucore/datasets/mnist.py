"""MNIST (LeCun, Cortes and Burges, 1998), in full."""

from __future__ import annotations

from pathlib import Path

from mucore import catalog
from mucore.datasets.idx import read_set
from mucore.datasets.published import divided
from mucore.datasets.splits import Part, Splits


def load(name: str, root: Path) -> Splits:
    """54,000 training, 6,000 validation (held out of training, by class) and 10,000 test images.
    Raises `BadFile`.

    Only a torchvision root is searched: the files of Fashion-MNIST have the same names.
    """
    train_x, train_y, test_x, test_y = read_set(
        catalog.dataset(name), [root / "MNIST" / "raw"], root, "MNIST"
    )
    return divided(name, training=Part(x=train_x, y=train_y), test=Part(x=test_x, y=test_y))
