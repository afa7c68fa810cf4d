"""CIFAR-10, read by torchvision.

The official archive holds Python pickles. Files a user gives are never unpickled here; torchvision opens this archive only after its MD5
checksum has shown that it is the published one, so nothing else can be executed.
"""

from __future__ import annotations

import urllib.error
import warnings
from pathlib import Path

import numpy as np

from mucore import catalog
from mucore.datasets.splits import Part, Splits, assemble, hold_out
from mucore.errors import BadFile


def load(name: str, root: Path) -> Splits:
    """45,000 training, 5,000 validation (held out of training, by class) and 10,000 test images. Raises `BadFile` when it cannot be had."""
    from torchvision.datasets import CIFAR10

    card = catalog.dataset(name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            official = [CIFAR10(str(root), train=train, download=True) for train in (True, False)]
    except (OSError, RuntimeError, urllib.error.URLError) as error:
        raise BadFile(f"CIFAR-10 is not in {root} and could not be downloaded ({error}). {card.where}") from error
    whole, test = (Part(x=part.data, y=np.array(part.targets)) for part in official)
    kept, held = hold_out(whole.y, len(whole.y) // 10)
    return assemble(name, train=whole[kept], validation=whole[held], test=test, class_names=card.class_names, natural=card.augmentation)
