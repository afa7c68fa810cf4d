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
    return float(
        np.sqrt(
            sum(
                distance**2
                for distance in l2_per_layer(unlearned=unlearned, retrained=retrained).values()
            )
        )
    )


def l2_normalised(*, unlearned: Weights, retrained: Weights) -> float:
    """‖θu − θr‖₂ / ‖θr‖₂. MUBox normalises and does not say how; this is our reading."""
    distance, norm = (
        l2(unlearned=unlearned, retrained=retrained),
        np.sqrt(sum(_square(array) for array in retrained.values())),
    )
    if norm == 0:
        raise BadValue(
            "The distance is divided by the norm of Retrain's weights, but all of them are zero."
        )
    return float(distance / norm)


def l2_per_layer(*, unlearned: Weights, retrained: Weights) -> dict[str, float]:
    """‖θu − θr‖₂ of each parameter tensor, by its name, in the order of `unlearned`."""
    if different := _differing(unlearned, retrained):
        raise BadValue(
            "Weights can be compared between models of one shape only, but these differ in "
            f"{', '.join(sorted(different)[:3])}."
        )
    return {
        name: float(np.sqrt(_square(np.subtract(array, retrained[name], dtype=np.float64))))
        for name, array in unlearned.items()
    }


def _differing(one: Weights, other: Weights) -> set[str]:
    """Names of parameters that only one has, or that differ in shape."""
    return {*one} ^ {*other} | {
        name for name in {*one} & {*other} if np.shape(one[name]) != np.shape(other[name])
    }


def _square(array: np.ndarray) -> float:
    flat = np.asarray(array, dtype=np.float64).ravel()
    return float(flat @ flat)
