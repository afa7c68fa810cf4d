"""NoMUS: usefulness and forgetting in one number, for forgetting persons. All values are fractions
in 0..1.

Source: Towards Machine Unlearning Benchmarks (Choi & Na; MUFAC, MUCAC), section 4: all 45 published
    values follow from their own columns.
"""

from __future__ import annotations

import numpy as np

from mucore.errors import BadValue
from mucore.rng import numpy_rng, stream_seed

FOLDS = 10
WEIGHT = 0.5  # of accuracy


def attack_accuracy(*, forget: np.ndarray, unseen: np.ndarray, evaluation_seed: int) -> float:
    """M: how well the loss of a sample tells forgotten persons, losses (n,), from persons never
    seen, losses (m,); 0.5 is guessing.

    Logistic regression on the plain loss, as many samples a side as the smaller has, drawn with the
    evaluation seed; mean accuracy of stratified 10-fold cross-validation. Raises `BadValue` for
    fewer than ten samples a side and for losses that are not finite.
    """
    # here, for whoever lists metrics does not wait for it
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    n = min(len(forget), len(unseen))
    if n < FOLDS:
        raise BadValue(
            f"The attack is cross-validated in {FOLDS} folds, so it needs {FOLDS} forgotten and "
            f"{FOLDS} unseen samples at least, but got {len(forget)} and {len(unseen)}."
        )
    losses = np.concatenate(
        [
            _draw(side, n, evaluation_seed, name)
            for name, side in (("forget", forget), ("unseen", unseen))
        ]
    )
    if not np.isfinite(losses).all():
        raise BadValue(
            "The attack reads losses, but some are infinite or not a number: the model has "
            "diverged."
        )
    folds = StratifiedKFold(
        FOLDS, shuffle=True, random_state=stream_seed(evaluation_seed, "nomus") % 2**32
    )
    forgotten = np.repeat([1, 0], n)
    return float(
        cross_val_score(
            LogisticRegression(max_iter=1000),
            losses[:, None],
            forgotten,
            cv=folds,
            scoring="accuracy",
        ).mean()
    )


def forgetting_score(*, attack_accuracy: float) -> float:
    """|M − 0.5|, in 0..0.5: 0 where forgotten and unseen persons look alike. An attack worse than
    guessing tells as much as a good one.
    """
    return abs(attack_accuracy - 0.5)


def nomus(*, accuracy: float, forgetting_score: float) -> float:
    """λ · accuracy + (1 − λ) · (1 − 2 · forgetting score), in 0..1; higher is better."""
    return WEIGHT * accuracy + (1 - WEIGHT) * (1 - 2 * forgetting_score)


def _draw(losses: np.ndarray, count: int, seed: int, side: str) -> np.ndarray:
    chosen = numpy_rng(seed, f"nomus/{side}").permutation(len(losses))[:count]
    return np.asarray(losses, dtype=np.float64)[np.sort(chosen)]
