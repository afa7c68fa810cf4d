"""Efficacy by epistemic uncertainty: how much information about a set is left in the weights, and a
bound that costs one gradient.

Inputs are squared norms of gradients, in nats² per unit of weight²: per sample (n,) of ∂ ln p(y|x)
/ ∂θ, over all trainable weights, in eval mode (mucore/probes/efficacy.py computes them). Efficacies
are above 0, or infinite, and live on a log scale; lower is less exposed.
Source: Becker & Liebig, Evaluating Machine Unlearning via Epistemic Uncertainty, 2022. Bad input
    raises `BadValue`.
"""

from __future__ import annotations

import math

import numpy as np

from mucore.errors import BadValue


def information(*, squared_norms: np.ndarray) -> float:
    """ı(θ; D): mean over samples of the squared gradient norm, the trace of the empirical Fisher
    information; at least 0.
    """
    values = np.asarray(squared_norms, dtype=np.float64)
    if not values.size:
        raise BadValue("Efficacy needs the gradient of at least one sample, but the set has none.")
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise BadValue(
            "Efficacy needs finite squared norms of at least 0, but some are not: the model has "
            "diverged."
        )
    return float(values.mean())


def log10_efficacy(*, squared_norms: np.ndarray) -> float:
    """log10 of the efficacy 1 / ı(θ; D). Of the squared norm of the mean gradient alone, (1,), it
    is the bound 1 / ‖∇L(θ, D)‖²₂, L the mean cross-entropy: never below the efficacy, and equal to
    it for one sample. Raises `BadValue` where it is infinite.
    """
    value = information(squared_norms=squared_norms)
    if value == 0:
        raise BadValue(
            "It is infinite: the forgotten samples have no gradient at all, so the weights hold "
            "no information about them."
        )
    return -math.log10(value)
