"""How much of an attack is left in a model (MUBox, section 5.3), from confusion counts: (C, C),
rows true, columns predicted.
"""

from __future__ import annotations

import numpy as np

from mucore.errors import BadValue


def attack_success(*, confusion: np.ndarray, target: int, others: bool) -> float:
    """Share in 0..1 of triggered samples that are predicted as the target class; `others`: among
    those of the other classes alone.

    Raises `BadValue` for counts without such samples.
    """
    rows = np.arange(len(confusion)) != target if others else np.ones(len(confusion), dtype=bool)
    total = int(confusion[rows].sum())
    if not total:
        raise BadValue("Attack success needs at least one triggered sample, but there is none.")
    return float(confusion[rows, target].sum() / total)
