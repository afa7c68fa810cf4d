"""What the runs of a scenario share, kept from one run to the next: predictions, read and decoded,
and what a scenario asks of the original.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")
# The original as trained and in the scenario, Retrain, the network that never learned; losses or
# class means of the original, and the downstream sets.
MOST = 8


class Kept:
    """The last `most` values by what they depend on. Nobody writes to what comes out."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self._found: dict[Hashable, Any] = {}  # the one that was asked for last comes last

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """What is kept under `key`, or what `make` gives."""
        found = self._found[key] = self._found.pop(key) if key in self._found else make()
        for oldest in [*self._found][: -self.most]:
            del self._found[oldest]
        return found
