"""CIFAR-10 and CIFAR-100, read by torchvision.

The official archives hold Python pickles. Files a user gives are never unpickled here; torchvision
opens these archives only after their MD5 checksum has shown that they are the published ones, so
nothing else can be executed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mucore import catalog
from mucore.datasets.published import divided, fetched
from mucore.datasets.splits import Part, Splits


def load(name: str, root: Path) -> Splits:
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
    training, test = (Part(x=part.data, y=np.array(part.targets)) for part in official)
    return divided(name, training=training, test=test)
