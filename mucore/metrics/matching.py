"""Two models on the same samples: rows of stored predictions and features, matched by sample id."""

from __future__ import annotations

import numpy as np

from mucore.errors import BadValue
from mucore.outputs import SplitOutputs


def paired_features(first: SplitOutputs, second: SplitOutputs) -> tuple[np.ndarray, np.ndarray]:
    """Features (n, d) and (n, e) of the samples that both models have features of, in the order of
    sample ids.

    Raises `BadValue` where a model has none, or both have fewer than two samples in common.
    """
    if first.features is None or second.features is None:
        raise BadValue(
            "Features before the last layer are compared, but one of the models has none: it is "
            "an ensemble."
        )
    rows = _matched(first.ids[: len(first.features)], second.ids[: len(second.features)])
    if len(rows[0]) < 2:
        raise BadValue(
            f"Features are compared on two samples at least, but the models have {len(rows[0])} "
            "in common."
        )
    return first.features[rows[0]], second.features[rows[1]]


def paired_logits(first: SplitOutputs, second: SplitOutputs) -> tuple[np.ndarray, np.ndarray]:
    """Logits (n, C) of both models for the samples that both have kept, in the order of sample ids.
    Raises `BadValue` for no sample.
    """
    rows = _matched(first.ids, second.ids)
    if not len(rows[0]):
        raise BadValue(
            "Predictions are compared sample by sample, but the models have no sample in common."
        )
    return first.logits[rows[0]], second.logits[rows[1]]


def _matched(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    _, left, right = np.intersect1d(first, second, assume_unique=True, return_indices=True)
    return left, right
