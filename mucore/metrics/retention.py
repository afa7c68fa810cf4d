"""What is left of forgotten knowledge in the encoder: a linear probe, and how fast it is learned
again. Fractions in 0..1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mucore.errors import BadValue
from mucore.metrics.representation import finite


def linear_probe_accuracy(
    *,
    train: np.ndarray,
    train_labels: np.ndarray,
    test: np.ndarray,
    test_labels: np.ndarray,
    classes: Sequence[int],
) -> float:
    """Accuracy of a new linear classifier on the frozen features: fitted on train (n, d), judged on
    test (m, d) of `classes`.

    High on forgotten classes means that the encoder still tells them apart, whatever the model's
    own classifier says; compare with Retrain. Logistic regression over all classes of the training
    labels, C = 1, features standardised by the training part. Raises `BadValue` for features that
    are not finite, for fewer than two classes, and where no test sample is of the classes asked
    for.
    """
    from sklearn.linear_model import LogisticRegression  # slow to load, and only this needs it

    x, held = finite(train), finite(test)
    if np.unique(train_labels).size < 2:
        raise BadValue(
            "A linear probe tells classes apart, but its training samples have fewer than two."
        )
    asked = np.isin(test_labels, list(classes))
    if not asked.any():
        raise BadValue(
            "An accuracy needs at least one sample, but the test set has none of the classes "
            "asked for."
        )
    held = held[asked]
    centre, spread = x.mean(axis=0), x.std(axis=0)
    spread[spread == 0] = 1.0
    probe = LogisticRegression(max_iter=2000, tol=1e-3).fit((x - centre) / spread, train_labels)
    return float(np.mean(probe.predict((held - centre) / spread) == np.asarray(test_labels)[asked]))


def relearn_epochs(*, accuracies: Sequence[float], target: float, slack: float = 0.0) -> int | None:
    """Epochs of training on the forget set until its accuracy is at least target − slack; None if
    it never was.

    `accuracies` starts with the accuracy before the first epoch. `target` is the original's
    accuracy on the forget set. Few epochs mean that the forgetting was shallow; compare with
    Retrain. Source: Golatkar et al., CVPR 2020; the slack is that of the anamnesis index (Chundawat
    et al., Zero-Shot Machine Unlearning, 2023).
    """
    reached = np.asarray(accuracies) >= target - slack
    return int(reached.argmax()) if reached.any() else None
