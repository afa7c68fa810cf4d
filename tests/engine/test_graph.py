"""Steps that are recorded and replayed, by a stand-in for CUDA graphs: a tape of a step's
operations that knows, as they do, no host, and repeats them on the same memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import toy
from torch import Tensor, nn
from torch.utils import _pytree
from torch.utils._python_dispatch import TorchDispatchMode

from mucore.engine import graph
from mucore.engine.batch import Batch
from mucore.engine.loop import Optimizer, Phase, cross_entropy, fit
from mucore.engine.run import Run

HOST = (torch.ops.aten._local_scalar_dense.default, torch.ops.aten.equal.default)


class Tape(TorchDispatchMode):
    """Records what is done while it is open; `undo` gives all that was there before its values
    back, for a graph is recorded without being done.
    """

    def __init__(self) -> None:
        super().__init__()
        self.done: list[tuple[Any, Any, Any, Any]] = []
        self.made: set[int] = set()
        self.before: dict[int, tuple[Tensor, Tensor]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in HOST:
            raise RuntimeError("the host asks a device that is recorded")
        for t in _tensors((args, kwargs)):  # batch norm writes without saying so
            if id(t) not in self.made and id(t) not in self.before:
                self.before[id(t)] = t, t.clone()
        result = func(*args, **(kwargs or {}))
        self.made |= {id(t) for t in _tensors(result)} - self.before.keys()
        self.done.append((func, args, kwargs or {}, result))
        return result

    @torch.no_grad()
    def undo(self) -> None:
        for t, value in self.before.values():
            t.copy_(value)

    @torch.no_grad()
    def play(self) -> None:
        for func, args, kwargs, result in self.done:
            for old, new in zip(_tensors(result), _tensors(func(*args, **kwargs)), strict=True):
                if old is not new and old.data_ptr() != new.data_ptr():
                    old.copy_(new)


def _tensors(value: Any) -> list[Tensor]:
    return [t for t in _pytree.tree_leaves(value) if isinstance(t, Tensor)]


def taped(step: Callable[[], Tensor], device: torch.device) -> tuple[Tensor, Callable[[], None]]:
    tape = Tape()
    try:
        with tape:
            loss = step()
    finally:
        tape.undo()
    return loss, tape.play


@pytest.fixture
def tapes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "recorded", taped)


COSINE = Optimizer(lr=0.05, momentum=0.9, nesterov=True, weight_decay=5e-4, schedule="cosine")
EPOCHS = 3
Loss = Callable[[nn.Module, Batch], Tensor]


def trained(
    name: toy.Name = "conv",
    loss: Callable[[Run], Loss] = lambda run: cross_entropy,
    optimizer: Optimizer = COSINE,
    graphs: bool = True,
    **options: Any,
) -> tuple[nn.Module, Run]:
    """A network of the toys after three epochs, in batches of 64; the last has 30 samples (mlp: 22)
    of 350 (1,750).
    """
    network, run = toy.problem(name).network(0), Run(seed=0)
    run.graphs = graphs
    phase = Phase(data=toy.request(name, 50).retain, batch_size=64, loss=loss(run))
    return fit(network, [phase], run, epochs=EPOCHS, optimizer=optimizer, **options), run


def plainly(monkeypatch: pytest.MonkeyPatch, **options: Any) -> tuple[nn.Module, Run]:
    """The same by the same kernels, nothing recorded."""
    with monkeypatch.context() as plain:
        plain.setattr(graph, "PLAIN_FIRST", 1_000)
        return trained(**options)


def check_alike(first: tuple[nn.Module, Run], second: tuple[nn.Module, Run]) -> None:
    assert toy.same(first[0], second[0]) and first[1].losses == second[1].losses


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"optimizer": Optimizer(lr=0.001, name="adamw", weight_decay=0.01, schedule="onecycle")},
        {"optimizer": Optimizer(lr=0.05, schedule="step", milestones=(1,), grad_clip=0.5)},
        {"edit_grads": lambda model: next(model.parameters()).grad.mul_(0.5)},
        {"name": "mlp", "bn": "frozen"},
    ],
)
def test_a_replayed_training_is_the_plain_one(options, tapes, monkeypatch):
    """Rates that change, last batches of another shape, gradients that are edited outside."""
    replayed, plain = trained(**options), plainly(monkeypatch, **options)
    check_alike(replayed, plain)
    run = replayed[1]
    assert run.notes == [] and plain[1].diagnostics == {}
    steps = run.cost.steps - graph.PLAIN_FIRST - EPOCHS
    assert run.diagnostics == {"graph_steps": steps}


def test_switched_off_another_kernel_makes_the_same_steps(tapes, monkeypatch):
    wanted, _ = plainly(monkeypatch)
    found, run = trained(graphs=False)
    assert run.diagnostics == {}
    for name, value in wanted.state_dict().items():
        assert torch.allclose(value, found.state_dict()[name], atol=1e-5), name


def asks(run: Run) -> Loss:
    """Needs a number on the host."""
    return lambda model, batch: cross_entropy(model, batch) * (1 + batch.y[0].item())


def looks_at_ids(run: Run) -> Loss:
    return lambda model, batch: cross_entropy(model, batch) * (1 + batch.ids[0] % 2)


def draws(run: Run) -> Loss:
    """From a stream of the run, one number a step."""
    return lambda model, batch: (
        cross_entropy(model, batch) * float(torch.rand(1, generator=run.rng("labels")).numpy()[0])
    )


@pytest.mark.parametrize(
    ("loss", "why"), [(asks, "cannot be"), (looks_at_ids, "cannot be"), (draws, "draws or counts")]
)
def test_what_no_graph_can_hold_is_done_plainly(loss, why, tapes, monkeypatch):
    found, wanted = trained(loss=loss), plainly(monkeypatch, loss=loss)
    check_alike(found, wanted)
    assert [why in note for note in found[1].notes] == [True]
    assert found[1].diagnostics == {}


def grows(run: Run) -> Loss:
    """Another weight from its ninth call on, which is the plain step that begins epoch 3."""
    calls: list[int] = []

    def loss(model: nn.Module, batch: Batch) -> Tensor:
        calls.append(1)
        return cross_entropy(model, batch) * (1.0 if len(calls) < 9 else 3.0)

    return loss


def test_a_replay_that_ends_elsewhere_is_noticed(tapes):
    _, run = trained(loss=grows)
    assert ["ended elsewhere" in note for note in run.notes] == [True]
    # steps 4 and 5, the five full batches of epoch 2, and the replay that was taken back
    assert run.diagnostics == {"graph_steps": 2 + 5 + 1}


def test_without_cuda_all_steps_are_plain():
    _, run = trained()
    assert ["cannot be recorded" in note for note in run.notes] == [True]


def test_off_unless_asked_for(monkeypatch):
    monkeypatch.setenv("MUCORE_GRAPHS", "1")
    assert not Run(seed=0).graphs and Run(seed=0, device="cuda").graphs
    monkeypatch.delenv("MUCORE_GRAPHS")
    assert not Run(seed=0, device="cuda").graphs
