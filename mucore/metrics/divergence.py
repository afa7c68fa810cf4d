"""Distance between what two models predict. Probabilities (n, C), rows sum to 1, the same samples
in the same order for both.
"""

from __future__ import annotations

import numpy as np


def jensen_shannon(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Jensen-Shannon divergence of each sample's two distributions in bits, (n,) in 0..1; 0 where
    they are equal (Lin, 1991).
    """
    p, q = np.asarray(first, np.float64), np.asarray(second, np.float64)
    middle = (p + q) / 2
    return np.clip((_relative_entropy(p, middle) + _relative_entropy(q, middle)) / 2, 0.0, 1.0)


def js_to_retrain(*, unlearned: np.ndarray, retrained: np.ndarray) -> float:
    """Mean Jensen-Shannon divergence of the predictions to Retrain's in bits, in 0..1; 0 is
    Retrain.
    """
    return float(jensen_shannon(unlearned, retrained).mean())


def zrf(*, unlearned: np.ndarray, incompetent: np.ndarray) -> float:
    """Zero retrain forgetting: 1 − mean divergence to a randomly initialised network on the forget
    set, in 0..1.

    Near 1 the model is as ignorant of the forget set as a network that never learned anything;
    compare with Retrain, which need not be at 1. In bits, so that the scale is 0 to 1. Source:
    Chundawat et al., Can Bad Teaching Induce Forgetting?, AAAI 2023.
    """
    return 1 - js_to_retrain(unlearned=unlearned, retrained=incompetent)


def _relative_entropy(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Σ p log2(p / q) with 0 · log 0 = 0; q > 0 wherever p > 0."""
    ratio = np.divide(p, q, out=np.ones_like(p), where=p > 0)
    return (p * np.log2(ratio)).sum(axis=1)
