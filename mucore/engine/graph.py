"""A training step recorded once and replayed: on a GPU one launch where a step has hundreds.

Off by default. `MUCORE_GRAPHS=1` switches it on for CUDA; no GPU has confirmed it yet, so stored
results are those of plain steps (docs/benchmarks.md). A step is recorded once a phase, for the
shape of its first batch, after some that were done plainly: libraries choose kernels then, and the
optimiser makes its state. Batches of another shape, such as the last of an epoch, stay plain.

What is recorded repeats the operations on the device, with the numbers that the host had then. So a
step is not recorded if it asks the host for a number, looks at ids or labels there, draws from a
stream of the run or writes into it; and the first replay of every epoch is compared with a plain
step on the same batch from the same state. Where the two differ, or nothing can be recorded, the
plain step counts, all that follow are plain, and the run has a note.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from mucore.engine.batch import Batch
from mucore.engine.run import Run
from mucore.errors import Cancelled, MucoreError

PLAIN_FIRST = 3
# of what a step changes: sums of a GPU come in any order, and bfloat16 has eight bits
TOLERANCE = 0.01
Step = Callable[[tuple[Batch, ...]], Tensor]  # one step on batches; gives the loss, detached


def recorded(step: Callable[[], Tensor], device: torch.device) -> tuple[Tensor, Callable[[], None]]:
    """A step as a CUDA graph, without doing it: the loss, and what replays the step, which fills
    that loss.
    """
    graph = torch.cuda.CUDAGraph()
    # other threads of a worker ask how much memory there is
    stream, mode = torch.cuda.Stream(device), "thread_local"
    with torch.cuda.device(device), torch.cuda.graph(graph, stream=stream, capture_error_mode=mode):
        loss = step()
    return loss, graph.replay


class Recording:
    """The steps of one phase. `step` must leave out what the host does between steps."""

    def __init__(self, step: Step, model: nn.Module, optimizer: torch.optim.Optimizer, run: Run):
        self.step, self.model, self.optimizer, self.run = step, model, optimizer, run
        self.shapes: list[torch.Size] = []
        self.plain, self.epoch, self.refused = 0, -1, False
        self.inputs: tuple[Batch, ...] = ()
        self.gradients: list[Tensor | None] = []
        self.loss: Tensor | None = None  # once recorded
        self.replay: Callable[[], None] = lambda: None

    def __call__(self, batches: tuple[Batch, ...], epoch: int) -> Tensor:
        """The loss of one step, done."""
        shapes = [batch.x.shape for batch in batches]
        self.shapes = self.shapes or shapes
        if self.refused or shapes != self.shapes:
            return self.step(batches)
        self.plain += self.loss is None
        if self.loss is None and (self.plain <= PLAIN_FIRST or not self._recorded(batches)):
            return self.step(batches)
        if epoch != self.epoch:
            self.epoch = epoch
            return self._compared(batches)
        return self._replayed(batches)

    def _recorded(self, batches: tuple[Batch, ...]) -> bool:
        # ids, and what the host knows of a batch, cannot be looked at
        self.inputs = tuple(
            Batch(b.x.clone(), b.y.clone(), b.ids.to("meta"), b.part.clone()) for b in batches
        )
        before, streams = _traces(self.run), self.run.rng_states()
        try:
            self.loss, self.replay = recorded(lambda: self.step(self.inputs), self.run.device)
        except (Cancelled, MucoreError):
            raise
        except Exception as problem:  # whatever a loss does that no graph can hold
            return self._refuse(f"it cannot be recorded ({str(problem).splitlines()[0][:200]})")
        if _traces(self.run) != before:
            self.run.restore_rng(streams)
            return self._refuse("it draws or counts on the host")
        self.gradients = [p.grad for p in self.model.parameters()]
        return True

    def _refuse(self, why: str) -> bool:
        self.refused, self.loss, self.replay = True, None, lambda: None  # frees its memory
        self.run.note(f"A step was not replayed as a graph: {why}.")
        return False

    def _replayed(self, batches: tuple[Batch, ...]) -> Tensor:
        for mine, given in zip(self.inputs, batches, strict=True):
            for name in ("x", "y", "part"):
                getattr(mine, name).copy_(getattr(given, name), non_blocking=True)
        for p, gradient in zip(self.model.parameters(), self.gradients, strict=True):
            p.grad = gradient  # a plain step in between has left its own
        self.replay()
        count = self.run.diagnostics.get("graph_steps", 0)
        self.run.diagnostics["graph_steps"] = count + 1
        assert self.loss is not None
        return self.loss

    def _compared(self, batches: tuple[Batch, ...]) -> Tensor:
        """A replay, or the plain step where they differ."""
        before = _copied(self._state())
        plain = self.step(batches).clone()
        wanted, slopes = _copied(self._state()), _copied(self._slopes())
        _put(self._state(), before)
        loss = self._replayed(batches)
        moved = [a.double() - b.double() for a, b in zip(wanted, before, strict=True)]
        pairs = zip([*self._state(), *self._slopes(), loss], [*wanted, *slopes, plain], strict=True)
        if _close(pairs, [*moved, *slopes, plain]):
            return loss
        _put(self._state(), wanted)
        _put(self._slopes(), slopes)
        self._refuse("its first replay in an epoch ended elsewhere than the plain step")
        return plain

    def _state(self) -> list[Tensor]:
        slots = self.optimizer.state.values()
        held = [v for slot in slots for v in slot.values() if isinstance(v, Tensor)]
        return [*self.model.parameters(), *self.model.buffers(), *held]

    def _slopes(self) -> list[Tensor]:
        return [p.grad for p in self.model.parameters() if p.grad is not None]


def _traces(run: Run) -> Any:
    """What a step leaves in a run when it does more than the device's work."""
    streams = {name: state.numpy().tobytes() for name, state in run.rng_states().items()}
    return streams, dict(run.cost.reads), dict(run.diagnostics), list(run.notes), run.status


def _copied(tensors: list[Tensor]) -> list[Tensor]:
    return [t.detach().clone() for t in tensors]


@torch.no_grad()
def _put(tensors: list[Tensor], values: list[Tensor]) -> None:
    for t, value in zip(tensors, values, strict=True):
        t.copy_(value)


@torch.no_grad()
def _close(pairs: Iterator[tuple[Tensor, Tensor]], scales: list[Tensor]) -> bool:
    """Whether the tensors of each pair differ by little, measured by the scales; one wait."""
    found = [
        (got.double() - value.double()).norm() <= TOLERANCE * scale.double().norm() + 1e-12
        for (got, value), scale in zip(pairs, scales, strict=True)
    ]
    return bool(torch.stack([each.to(found[0].device) for each in found]).all())
