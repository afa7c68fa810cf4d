"""Seconds are the processor's on a CPU, and repeated ones are summed up by their order."""

from __future__ import annotations

import time

import torch

from mucore.bench.clock import Spread, Stopwatch


def test_a_cpu_is_timed_by_its_own_seconds(monkeypatch):
    processor, wall = iter([5.0, 7.5]), iter([100.0, 900.0])
    monkeypatch.setattr(time, "process_time", lambda: next(processor))
    monkeypatch.setattr(time, "perf_counter", lambda: next(wall))
    with Stopwatch(torch.device("cpu")) as watch:
        pass
    assert watch.seconds == 2.5


def test_a_spread_keeps_the_order():
    assert Spread.of([3.0, 1.0, 8.0]) == Spread(1.0, 3.0, 8.0)
    assert Spread.of([3.0, 1.0]).median == 2.0
    assert Spread.of([2.0]).text() == "2.00" and Spread(1, 3, 8).text(1) == "3.0 (1.0 to 8.0)"
