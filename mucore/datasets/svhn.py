"""Street View House Numbers (Netzer et al., 2011), cropped digits, read by torchvision from its two
MATLAB files.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mucore import catalog
from mucore.datasets.published import divided, fetched
from mucore.datasets.splits import Part, Splits


def load(name: str, root: Path) -> Splits:
    """65,931 training, 7,326 validation (held out of training, by class) and 26,032 test images.
    Raises `BadFile` if it cannot be had.
    """
    from torchvision.datasets import SVHN

    official = fetched(
        catalog.dataset(name),
        root,
        lambda download: [
            SVHN(str(root), split=split, download=download) for split in ("train", "test")
        ],
    )
    training, test = (
        Part(x=np.ascontiguousarray(part.data.transpose(0, 2, 3, 1)), y=part.labels)
        for part in official
    )
    return divided(name, training=training, test=test)
