"""scikit-learn's digits: 1,797 grey images of 8 by 8 pixels. Small enough that a test can train on
it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from mucore import catalog
from mucore.datasets.splits import Splits, assemble, split_of, stratified_order

LEVELS = 16  # the pixels' largest value


def load(name: str, root: Path) -> Splits:
    """1,200 training, 197 validation and 400 test images, the same ones always, each split with
    about equal classes.
    """
    content = load_digits()
    sizes = catalog.dataset(name).sizes
    assert sizes is not None
    pixels = np.rint(content.images * 255 / LEVELS).astype(np.uint8)
    labels = content.target
    order = stratified_order(labels, purpose="digits")
    train, validation, test = (np.sort(cut) for cut in np.split(order, np.cumsum(sizes)[:2]))
    whole = split_of(x=pixels, y=labels)
    return assemble(
        name,
        train=whole[train],
        validation=whole[validation],
        test=whole[test],
        class_names=catalog.dataset(name).class_names,
        natural=False,
    )
