"""One method a file; the function has the file's name and the card's id.

    def <id>(model, data, run, *, <the card's parameters>) -> nn.Module

`model` is the method's own deep copy of the original. It returns the unlearned module (usually the same object) in eval mode, same head,
every parameter trainable, no hooks left. `data` is `engine.data.UnlearningData`, `run` is `engine.run.Run`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

from torch import nn


def load(method: str) -> Callable[..., nn.Module]:
    """The function of a method by its card's id."""
    return getattr(importlib.import_module(f"mucore.methods.{method}"), method)
