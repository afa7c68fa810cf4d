"""Predictions that the runs of a scenario share, kept from one run to the next: those of Retrain
and of the original, read and decoded, and those of the network that never learned.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable

from mucore.outputs import Outputs, SplitOutputs

MOST = 4  # the original as trained and in the scenario, Retrain, the network that never learned
MOST_BYTES = 1 << 26  # of one of them; larger ones are read again rather than held during a run


class Kept:
    """The last `MOST` predictions by what they depend on. Nobody writes to what comes out."""

    def __init__(self) -> None:
        self._found: OrderedDict[Hashable, Outputs] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Outputs]) -> Outputs:
        """What is kept under `key`, or what `make` gives."""
        if key in self._found:
            self._found.move_to_end(key)
            return self._found[key]
        made = make()
        if sum(_bytes(split) for split in made.values()) <= MOST_BYTES:
            self._found[key] = made
            if len(self._found) > MOST:
                self._found.popitem(last=False)
        return made


def _bytes(split: SplitOutputs) -> int:
    features = 0 if split.features is None else split.features.nbytes
    return split.logits.nbytes + split.confusion.nbytes + features
