"""How many samples go through a network at once where a pass may be cut as one likes.

Sums of floating-point numbers depend on where they are cut, so a chunk must not hang on what else
the machine does: it follows from the network and the size of an image alone. Small networks keep
the chunk that the caller names, and with it their results bit for bit; larger ones get half of it,
a quarter, and so on, until it stays below `BUDGET`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import psutil
import torch
from torch import Tensor, nn

from mucore.engine.state import hooked, modes_kept
from mucore.fitting import BUDGET, fitting

Kind = Literal["graph", "passing", "patches"]


@dataclass(frozen=True)
class Sizes:
    """Bytes that a sample takes: what a backward pass needs of the forward pass; the largest input
    and output of a layer together, which is what a pass without a gradient holds; the largest
    unfolded input of a layer.
    """

    graph: int
    passing: int
    patches: int


_known: dict[tuple[str, tuple[int, ...]], Sizes] = {}  # by what a network prints, and the shape


def sizes_of(model: nn.Module, shape: Sequence[int]) -> Sizes:
    """What a sample of `shape` (c, h, w) takes in `model`, which is left as it is: five images of
    zeros go through it, once a process for each kind of network and shape.

    On the device "meta" that needs no memory and computes nothing.
    """
    if (key := (str(model), tuple(shape))) not in _known:
        # two and three samples: what they share, such as positions, must not count
        few, more = (_pass(model, count, shape) for count in (2, 3))
        _known[key] = Sizes(*(after - before for before, after in zip(few, more, strict=True)))
    return _known[key]


def chunk(
    model: nn.Module, shape: Sequence[int], most: int, kind: Kind = "graph", *, times: float = 1.0
) -> int:
    """How many samples of `shape` (c, h, w) to take at once: `most`, or so many halvings of it that
    `times` their `kind` of `Sizes` stays within the budget; at least 1.
    """
    size = times * getattr(sizes_of(model, shape), kind)
    return fitting(size, most, BUDGET)


def patch_bytes(layer: nn.Conv2d | nn.Linear, output: Tensor) -> int:
    """Bytes a sample of a layer's unfolded input, from its output (n, ...)."""
    groups = layer.groups if isinstance(layer, nn.Conv2d) else 1
    places = output[0].numel() // layer.weight.shape[0]
    return places * groups * layer.weight[0].numel() * output.element_size()


def free_bytes(device: torch.device) -> int:
    """Memory that a computation on the device could still get."""
    if device.type == "cuda":
        # what torch keeps for itself is free, too
        kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return torch.cuda.mem_get_info(device)[0] + kept
    return psutil.virtual_memory().available


def _pass(model: nn.Module, count: int, shape: Sequence[int]) -> tuple[int, int, int]:
    """Bytes of `count` samples in a forward pass: saved for the backward pass, of the largest
    layer, of the largest unfolded input.
    """
    like = next(model.parameters(), torch.zeros(()))
    own = {t.untyped_storage()._cdata for t in (*model.parameters(), *model.buffers())}
    saved: dict[int, Tensor] = {}  # by storage, and alive, so that no address comes twice
    passing, patches = [0], [0]

    def pack(t: Tensor) -> Tensor:
        if (place := t.untyped_storage()._cdata) not in own:
            saved[place] = t
        return t

    def watch(module: nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
        given = [t for t in (*inputs, output) if isinstance(t, Tensor)]
        passing.append(sum(t.numel() * t.element_size() for t in given))
        if isinstance(module, nn.Conv2d | nn.Linear):
            patches.append(count * patch_bytes(module, output.reshape(count, -1)))

    leaves = [module for module in model.modules() if not any(True for _ in module.children())]
    with (
        hooked(module.register_forward_hook(watch) for module in leaves),
        _learning_in_eval_mode(model),
        torch.enable_grad(),
        torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t),
    ):
        model(like.new_zeros((count, *shape)))
    return sum(t.untyped_storage().nbytes() for t in saved.values()), max(passing), max(patches)


@contextlib.contextmanager
def _learning_in_eval_mode(model: nn.Module) -> Generator[None]:
    """While open, every parameter asks for a gradient and no statistic moves."""
    learning = [(p, p.requires_grad) for p in model.parameters()]
    with modes_kept(model):
        try:
            model.eval().requires_grad_(True)
            yield
        finally:
            for p, wanted in learning:
                p.requires_grad_(wanted)
