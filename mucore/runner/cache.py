"""What the runs of a scenario share, kept from one run to the next: predictions, read and decoded,
and what a scenario asks of the original.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TypeVar

T = TypeVar("T")
# The original as trained and in the scenario, Retrain, the network that never learned; losses or
# class means of the original, and the downstream sets.
MOST = 8


class Kept:
    """The last `most` values by what they depend on. Nobody writes to what comes out."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self._found: OrderedDict[Hashable, object] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """What is kept under `key`, or what `make` gives."""
        if key not in self._found:
            self._found[key] = make()
        self._found.move_to_end(key)
        while len(self._found) > self.most:
            self._found.popitem(last=False)
        return self._found[key]  # ty: ignore[invalid-explicit-return]
