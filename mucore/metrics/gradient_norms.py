"""What metrics need of a living model beyond one pass over the data, measured while it is at hand
(mucore/runner/gradient_norms.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mucore.outputs import SplitOutputs

SAMPLES = 500  # of the forget set, so that they stay a small part of an evaluation


@dataclass(frozen=True, kw_only=True, eq=False)
class GradientNorms:
    """Of the same `SAMPLES` forgotten samples at most: squared gradient norms (n,) of each, and
    that of their mean loss.

    `untrained_squared_norms` are those of the network before training, for the original alone.
    `incompetent` are the predictions of a network of the same kind with random weights. Where the
    gradients are None, `missing` is a sentence that says why.
    """

    squared_norms: np.ndarray | None = None
    squared_norm_of_mean: float | None = None
    untrained_squared_norms: np.ndarray | None = None
    incompetent: SplitOutputs | None = None
    missing: str = ""
