"""Seconds, and what repeated measurements say.

On a CPU they are seconds of the processor that this process took, of all its threads: other
programs beside it hardly change them. Elsewhere they are the clock's, with the device synchronised.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch


def now(device: torch.device) -> float:
    """Seconds since a fixed moment, for differences of two."""
    if device.type == "cpu":
        return time.process_time()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()
    return time.perf_counter()


class Stopwatch:
    """`with Stopwatch(device) as watch: ...`, then `watch.seconds`."""

    def __init__(self, device: torch.device):
        self.device = device
        self.seconds = 0.0

    def __enter__(self) -> Stopwatch:
        self._began = now(self.device)
        return self

    def __exit__(self, *problem: object) -> None:
        self.seconds = now(self.device) - self._began


@dataclass(frozen=True)
class Spread:
    """The least, the median and the greatest of repeated measurements."""

    low: float
    median: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Of one value at least."""
        return cls(min(values), statistics.median(values), max(values))

    def text(self, digits: int = 2) -> str:
        """The median alone where all look alike, else with the range."""
        low, median, high = (f"{each:,.{digits}f}" for each in (self.low, self.median, self.high))
        return median if low == high else f"{median} ({low} to {high})"
