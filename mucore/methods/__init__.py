"""One method a file; the function has the file's name and the card's id.

    def <id>(model, data, run, *, <the card's parameters>) -> nn.Module

`model` is the method's own deep copy of the original. It returns the unlearned module (usually the
same object) in eval mode, same head, every parameter trainable, no hooks left. `data` is
`engine.data.UnlearningData`, `run` is `engine.run.Run`.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable

from torch import nn

from mucore.catalog import MethodCard, plugins
from mucore.errors import BadFile


def own(method: str, source_hash: str = "") -> plugins.Plugin | None:
    """The file of a user's own method by its card's id, not run; None for one of mucore.

    `source_hash` is that of the file when the run was planned. Raises `BadFile` where the file is
    gone or changed.
    """
    plugin = plugins.find(method)
    if plugin is None and source_hash:
        raise BadFile(
            f"{method} is no method of mucore, and no folder in {plugins.FOLDERS} holds it. "
            f"Set {plugins.FOLDERS} for workers too."
        )
    if plugin is not None and source_hash and source_hash != plugin.source_hash:
        raise BadFile(plugins.changed(plugin))
    return plugin


def load(method: str, source_hash: str = "") -> Callable[..., nn.Module]:
    """The function of a method by its card's id; a user's own file is run for that.

    Raises `BadFile` where that file is gone, changed (`own`) or broken.
    """
    plugin = own(method, source_hash)
    if plugin is None:
        return getattr(importlib.import_module(f"mucore.methods.{method}"), method)
    function = plugins.function(plugin)
    if (problem := signature_problem(function, plugin.card)) is not None:
        raise BadFile(f"{plugin.path}: {problem}")
    return function


def signature_problem(function: Callable[..., nn.Module], card: MethodCard) -> str | None:
    """A sentence if the function is not `f(model, data, run, *, <the card's parameters>)`."""
    settings = [p.name for p in card.parameters]
    first = [(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in ("model", "data", "run")]
    wanted = [*first, *((name, inspect.Parameter.KEYWORD_ONLY) for name in settings)]
    found = inspect.signature(function).parameters.values()
    if [(p.name, p.kind) for p in found if p.default is p.empty] == wanted and len(found) == len(
        wanted
    ):
        return None
    named = ", ".join(["model", "data", "run", *(["*"] if settings else []), *settings])
    return (
        "the function takes model, data and run, then the card's parameters in their order behind "
        f"a *, none with a default. Write def {card.id}({named})."
    )
