"""How much to forget: a share, a float in (0, 1], or a number of samples, an int from 1."""

from __future__ import annotations

import math

from mucore.errors import BadValue


def check_budget(budget: int | float, where: str) -> None:
    """Raise `BadValue` for what is neither; `where` opens the sentence."""
    if budget < 1 if isinstance(budget, int) else not 0 < budget <= 1:
        raise BadValue(
            f"{where} must be a share in (0, 1] or a whole number of samples from 1, but got "
            f"{budget}."
        )


def samples(budget: int | float, available: int) -> int:
    """Samples that a budget means, a number of them as it is, even where it is more than there
    are. A share is rounded to the nearest (half up), to 1 at least. Raises `BadValue`.
    """
    check_budget(budget, "A budget")
    if isinstance(budget, int):
        return budget
    return min(max(1, math.floor(budget * available + 0.5)), available)


def samples_of(budget: int | float, available: int, whole: str) -> int:
    """`samples`, which must be there to take. Raises `BadValue`; `whole` is what they are taken
    from.
    """
    count = samples(budget, available)
    if count > available:
        raise BadValue(
            f"A budget over {whole} must be from 1 to its {available} samples, but got {budget}. "
            "Choose fewer, or a share such as 0.2."
        )
    return count
