"""`Run`: what a computation may ask of its surroundings: device, random streams, clock, counters,
progress, cancel.

A `Run` belongs to one original, one retrain or one method. It prints nothing and knows neither
store nor job table; whoever starts it hands in two callbacks.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Literal

import psutil
import torch
from torch import nn

from mucore.engine.device import replays
from mucore.engine.memory import give_back
from mucore.engine.state import Tensors, state_bytes
from mucore.errors import Cancelled
from mucore.rng import stream_seed

# "unsolved": a linear system that the method rests on was left at a residual above its tolerance;
# the result is what that made of it.
Status = Literal["ok", "diverged", "reverted", "unsolved"]
ProgressCallback = Callable[["Progress"], None]


@dataclass(frozen=True)
class Progress:
    """A moment of a run: what it does, how far it is (0..1), and the latest training loss."""

    step: str
    fraction: float
    loss: float | None = None
    epoch: int | None = None


@dataclass(frozen=True)
class Callbacks:
    """What a computation asks of whoever started it, as in `Run`."""

    on_progress: ProgressCallback | None = None
    cancelled: Callable[[], bool] | None = None


NO_CALLBACKS = Callbacks()


@dataclass
class Cost:
    """What a run took.

    Reads are counted in samples, split by role and by whether a gradient was computed.
    """

    seconds: float = 0.0  # as a clock on the wall says
    # of a run on a CPU what its threads worked, together; other programs do not lengthen it
    processor_seconds: float = 0.0
    steps: int = 0  # optimiser steps
    # "forget/backward", "forget/forward", "retain/backward", ...
    reads: Counter[str] = field(default_factory=Counter)
    prepared_seconds: float = 0.0  # for what serves any later request, outside the clock
    # for what serves this request alone, outside the clock
    prepared_for_request_seconds: float = 0.0
    # must survive between training and the request, beyond the original and the data
    persistent_bytes: int = 0
    scratch_bytes: int = 0  # peak of what the method says it held for itself
    # device memory on a GPU, growth of resident memory on a CPU
    peak_memory_bytes: int | None = None


class Run:
    """Surroundings of one computation.

    `seed` is the seed of this run's own axis (training seed for an original or a retrain,
    unlearning seed for a method). `cancelled` is asked at every step and must be cheap.
    `on_progress` is called at most twice a second and at the end of each epoch.
    """

    def __init__(
        self,
        *,
        seed: int,
        device: torch.device | str = "cpu",
        precision: Literal["fp32", "bf16"] = "fp32",
        on_progress: ProgressCallback | None = None,
        cancelled: Callable[[], bool] | None = None,
    ):
        self.seed = seed
        self.device = torch.device(device)
        self.precision = precision
        self.graphs = replays(self.device)
        self.noise = 0.0  # standard deviation of the Gaussian noise that `fit` adds to gradients
        self.cost = Cost()
        self.status: Status = "ok"
        self.stop_reason: str | None = None
        self.notes: list[str] = []
        self.losses: list[float] = []  # mean training loss of each epoch, in order
        self.diagnostics: dict[str, float] = {}
        # shown the network after each step; it must leave all as it was
        self.observer: Callable[[nn.Module], None] | None = None
        self._on_progress = on_progress
        self._cancelled = cancelled
        self._last_progress = 0.0
        self._share = (0.0, 1.0)
        self._started: tuple[float, float] | None = None
        self._generators: dict[str, torch.Generator] = {}

    def branch(self, seed: int) -> Run:
        """The same surroundings and ledger, with another seed's streams and a status of its own."""
        other = copy.copy(self)
        other.seed, other._generators = seed, {}
        other.status, other.stop_reason = "ok", None
        return other

    # -- random streams

    def rng(self, purpose: str) -> torch.Generator:
        """The generator of one purpose, the same object at every call.

        It lives on the CPU so that CPU and GPU runs draw alike.
        """
        if purpose not in self._generators:
            self._generators[purpose] = torch.Generator().manual_seed(
                stream_seed(self.seed, purpose)
            )
        return self._generators[purpose]

    def rng_states(self) -> dict[str, torch.Tensor]:
        return {purpose: generator.get_state() for purpose, generator in self._generators.items()}

    def restore_rng(self, states: dict[str, torch.Tensor]) -> None:
        for purpose, state in states.items():
            self.rng(purpose).set_state(state)

    @contextlib.contextmanager
    def seeded(self, seed: int) -> Generator[None]:
        """Inside, every stream is that of another seed, from its start, and there is no noise: a
        training can be replayed within a run.
        """
        kept = self.seed, self._generators, self.noise
        self.seed, self._generators, self.noise = seed, {}, 0.0
        try:
            yield
        finally:
            self.seed, self._generators, self.noise = kept

    # -- clock

    @contextlib.contextmanager
    def clock(self) -> Generator[None]:
        """Count the time inside, of the wall and of the processor, with the device synchronised at
        both ends, and the peak memory.
        """
        _warm_up(self.device)
        with _peak_memory(self.device) as peak:
            self._start()
            try:
                yield
            finally:
                self._stop()
        self.cost.peak_memory_bytes = max(self.cost.peak_memory_bytes or 0, peak())

    @contextlib.contextmanager
    def paused(self) -> Generator[None]:
        """Stop the clock inside: for logging evaluations, which are no part of a method."""
        running = self._started is not None
        if running:
            self._stop()
        try:
            yield
        finally:
            if running:
                self._start()

    def _start(self) -> None:
        self.synchronize()
        self._started = time.perf_counter(), time.process_time()

    def _stop(self) -> None:
        self.synchronize()
        assert self._started is not None
        wall, processor = self._started
        self.cost.seconds += time.perf_counter() - wall
        if self.device.type == "cpu":
            self.cost.processor_seconds += time.process_time() - processor
        self._started = None

    def synchronize(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        elif self.device.type == "mps":
            torch.mps.synchronize()

    # -- counters

    def stepped(self, model: nn.Module) -> None:
        """Count an optimiser step of `model`, and show it to an observer, outside the clock."""
        self.cost.steps += 1
        if self.observer is not None:
            with self.paused():
                self.observer(model)

    def count_reads(self, role: str, samples: int, *, backward: bool) -> None:
        self.cost.reads[f"{role}/{'backward' if backward else 'forward'}"] += samples

    def persistent(self, *record: Tensors) -> None:
        """Count what had to be kept since training."""
        self.cost.persistent_bytes += state_bytes(*record)

    def holds(self, *what: Tensors, copies: int = 1) -> None:
        """Count what the method holds for itself right now; the largest count is kept."""
        self.scratch(copies * state_bytes(*what))

    def scratch(self, size: int) -> None:
        """The same in bytes, for what is never there as a tensor of its own."""
        self.cost.scratch_bytes = max(self.cost.scratch_bytes, size)

    # -- how it ended

    def mark(self, status: Status, reason: str) -> None:
        """Say that the method ended otherwise than planned, and why, as the reader will see it."""
        self.status = status
        self.stop_reason = reason

    def give_up(self, model: nn.Module, why: str) -> nn.Module:
        """End as diverged before a weight has moved; what a method returns then is `model`."""
        self.mark("diverged", f"{why}; the weights were left as they are")
        return model.eval()

    def note(self, text: str) -> None:
        """A sentence for the reader of the result: a fallback taken, a guard that fired."""
        if text not in self.notes:
            self.notes.append(text)

    # -- progress and cancel

    def check(self) -> None:
        """Raise `Cancelled` if somebody asked for the end."""
        if self._cancelled is not None and self._cancelled():
            raise Cancelled

    @contextlib.contextmanager
    def share(self, start: float, end: float) -> Generator[None]:
        """Inside, progress 0..1 becomes `start`..`end`: for several trainings in a row."""
        before = self._share
        low, high = before
        self._share = (low + start * (high - low), low + end * (high - low))
        try:
            yield
        finally:
            self._share = before

    def progress(
        self,
        step: str,
        fraction: float,
        *,
        loss: float | None = None,
        epoch: int | None = None,
        force: bool = False,
    ) -> None:
        self.check()
        now = time.monotonic()
        if self._on_progress is not None and (force or now - self._last_progress >= 0.5):
            self._last_progress = now
            low, high = self._share
            fraction = low + min(max(fraction, 0.0), 1.0) * (high - low)
            self._on_progress(Progress(step=step, fraction=fraction, loss=loss, epoch=epoch))

    # -- precision

    def autocast(self) -> contextlib.AbstractContextManager:
        if self.precision == "bf16":
            return torch.autocast(self.device.type, dtype=torch.bfloat16)
        return contextlib.nullcontext()


@functools.cache
def _warm_up(device: torch.device) -> None:
    """A step of a tiny layer, once a process: at their first use libraries load for seconds, which
    are no time of the run that comes first.
    """
    with torch.enable_grad():
        weights = torch.ones(1, 1, 3, 3, device=device, requires_grad=True)
        nn.functional.conv2d(weights, weights).square().sum().backward()
        torch.optim.SGD([weights]).step()


@contextlib.contextmanager
def _peak_memory(device: torch.device) -> Generator[Callable[[], int]]:
    """Measure the peak of device memory (CUDA) or the sampled growth of resident memory."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        yield lambda: int(torch.cuda.max_memory_allocated(device))
        return
    process = psutil.Process()
    give_back()  # or what earlier work left would hide the growth
    base = process.memory_info().rss
    highest = base
    done = threading.Event()

    def sample() -> None:
        nonlocal highest
        while not done.wait(0.05):
            highest = max(highest, process.memory_info().rss)

    sampler = threading.Thread(target=sample, daemon=True)
    sampler.start()
    try:
        yield lambda: max(highest, process.memory_info().rss) - base
    finally:
        done.set()
        sampler.join()
