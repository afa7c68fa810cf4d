"""Penultimate features of any network: the input of its last linear layer."""

from __future__ import annotations

import contextlib
from collections.abc import Generator

from torch import Tensor, nn


def classifier_layer(model: nn.Module) -> nn.Linear:
    """The last linear layer in definition order; raises `ValueError` for a network without one."""
    layers = [module for module in model.modules() if isinstance(module, nn.Linear)]
    if not layers:
        raise ValueError("the network has no linear layer, so it has no penultimate features")
    return layers[-1]


@contextlib.contextmanager
def penultimate(model: nn.Module) -> Generator[list[Tensor]]:
    """While open, each forward pass appends its penultimate features (n, d) to the list it gives. The hook leaves with the context."""
    seen: list[Tensor] = []
    hook = classifier_layer(model).register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0].flatten(1)))
    try:
        yield seen
    finally:
        hook.remove()
