"""How many of something go into a budget of memory. Imports no torch: plans ask, too."""

from __future__ import annotations

# Bytes of a chunk: 256 samples of a ResNet-18 at 32 pixels hold 1.2 GB for their gradient, so that
# the usual networks for small images are cut as they were before chunks followed memory.
BUDGET = 2 * 2**30


def fitting(size: float, most: int, budget: float) -> int:
    """`most`, or so many halvings of it (rounded down, at least 1) that as many times `size` stays
    within `budget`.
    """
    while most > 1 and most * size > budget:
        most //= 2
    return most
