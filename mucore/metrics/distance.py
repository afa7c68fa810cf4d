"""Distances between weights. A model's weights are a mapping from name to array, trainable
parameters only.

Source: MUBox (Li, Thuraisingham, Wei; SACMAT 2025), section 3.4. Sums run in float64.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mucore.errors import BadValue

Weights = Mapping[str, np.ndarray]


def l2(*, unlearned: Weights, retrained: Weights) -> float:
    """‖θu − θr‖₂, at least 0. Raises `BadValue` for models of different shape."""
    one, other = (
        {name: np.shape(t) for name, t in each.items()} for each in (unlearned, retrained)
    )
    if one != other:
        raise BadValue("Weights can be compared between models of one shape only.")
    distances = [
        np.sqrt(_square(np.subtract(array, retrained[name], dtype=np.float64)))
        for name, array in unlearned.items()
    ]
    return float(np.sqrt(sum(distance**2 for distance in distances)))


def l2_normalised(*, unlearned: Weights, retrained: Weights) -> float:
    """‖θu − θr‖₂ / ‖θr‖₂. MUBox normalises and does not say how; this is our reading."""
    norm = np.sqrt(sum(_square(array) for array in retrained.values()))
    if norm == 0:
        raise BadValue(
            "The distance is divided by the norm of Retrain's weights, but all of them are zero."
        )
    return float(l2(unlearned=unlearned, retrained=retrained) / norm)


def _square(array: np.ndarray) -> float:
    flat = np.asarray(array, dtype=np.float64).ravel()
    return float(flat @ flat)
