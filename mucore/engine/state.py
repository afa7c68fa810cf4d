"""The tensors of a network, a dictionary or a list: their bytes, finiteness and copies."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Generator, Iterable, Iterator, Mapping

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

Tensors = Tensor | nn.Module | Mapping[str, Tensor] | Iterable[Tensor] | None


def tensors_of(*holders: Tensors) -> Iterator[Tensor]:
    """All tensors of the holders, one behind the other; of a network those of its state."""
    for holder in holders:
        if isinstance(holder, Tensor):
            yield holder
        elif isinstance(holder, nn.Module):
            yield from holder.state_dict().values()
        elif isinstance(holder, Mapping):
            yield from holder.values()
        elif holder is not None:
            yield from holder


def state_bytes(*holders: Tensors) -> int:
    """Bytes of all tensors of the holders."""
    return sum(t.numel() * t.element_size() for t in tensors_of(*holders))


def is_finite(*holders: Tensors) -> bool:
    """Whether every floating-point tensor of the holders is finite."""
    floating = [t for t in tensors_of(*holders) if t.is_floating_point()]
    if not floating:
        return True
    # A sum is less work, a third for resnet9-small, and finite only where all it adds up is. The
    # reverse does not hold: it may overflow. A GPU is asked once, for all sums together.
    answers = [t.sum().isfinite().to(floating[0].device) for t in floating]
    return bool(torch.stack(answers).all()) or all(bool(t.isfinite().all()) for t in floating)


def copy_state(model: nn.Module) -> dict[str, Tensor]:
    """A copy of the network's state as it is now."""
    return {name: t.detach().clone() for name, t in model.state_dict().items()}


@contextlib.contextmanager
def hooked(hooks: Iterable[RemovableHandle]) -> Generator[None]:
    """The hooks, which are registered as they are iterated, leave with the context."""
    with contextlib.ExitStack() as stack:
        for hook in hooks:
            stack.callback(hook.remove)
        yield


@contextlib.contextmanager
def modes_kept(model: nn.Module) -> Generator[None]:
    """Afterwards each module trains or evaluates as it did before."""
    modes = [(module, module.training) for module in model.modules()]
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training


@contextlib.contextmanager
def frozen(model: nn.Module) -> Generator[None]:
    """No parameter asks for a gradient inside, so that none of its graph is kept for one."""
    learning = [p for p in model.parameters() if p.requires_grad]
    model.requires_grad_(False)
    try:
        yield
    finally:
        for p in learning:
            p.requires_grad_(True)


def frozen_copy(model: nn.Module) -> nn.Module:
    """A copy in eval mode that does not learn: a teacher."""
    return copy.deepcopy(model).eval().requires_grad_(False)
