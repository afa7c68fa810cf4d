"""Exact copies among training images, as a forget set sees them: an image whose twin stays is
forgotten in vain.
"""

from __future__ import annotations

import numpy as np


def twins(digests: np.ndarray, ids: np.ndarray, forget: np.ndarray) -> np.ndarray:
    """The retained samples, sorted ids (m,) int64, that have an identical image among `forget`.
    `digests` (n,) name the images of the training samples `ids` (n,), equal ones being equal
    images; `forget` are ids among them.
    """
    leaving = np.isin(ids, forget)
    return np.sort(ids[~leaving & np.isin(digests, digests[leaving])])
