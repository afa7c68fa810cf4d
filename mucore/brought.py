"""What a user brings in memory, checked for each door that takes it: networks, samples, a forget
list.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import TensorDataset, default_collate

from mucore.engine.data import Inputs, Samples
from mucore.engine.features import penultimate
from mucore.engine.run import Run
from mucore.errors import BadValue, said
from mucore.forget_sets import identity

LOOKED_AT: Final = 8  # samples that are asked for twice


def need(holds: object, sentence: str) -> None:
    if not holds:
        raise BadValue(sentence)


def need_module(name: str, model: Any) -> None:
    what = f"{name} must be an nn.Module with its weights loaded, not {said(model)}."
    need(isinstance(model, nn.Module), what)


def last_linear(model: nn.Module) -> nn.Linear | None:
    """By the order of definition, as `engine.features.classifier_layer` has it."""
    linear = [each for each in model.modules() if isinstance(each, nn.Linear)]
    return linear[-1] if linear else None


def samples(name: str, given: Any, run: Run) -> Samples:
    """All that the user's data hold. Raises `BadValue` where that is no (x, y), or x is drawn anew
    each time.
    """
    try:
        tensors = isinstance(given, tuple | list) and isinstance(given[0], Tensor)
        data: Any = TensorDataset(*given) if tensors else given
        few = range(min(len(data), LOOKED_AT))
        (some, _), (again, _) = (default_collate([data[each] for each in few]) for _ in range(2))
        if not torch.allclose(some, again, equal_nan=True):
            raise ValueError("two looks at x differ, as under a transform that draws")
        x, y = default_collate([data[each] for each in range(len(data))])
        if y.shape != x.shape[:1] or y.is_floating_point():
            raise ValueError(f"y has shape {[*y.shape]} and {y.dtype}")
    except Exception as error:  # of any kind: the data are the user's
        raise BadValue(
            f"{name} must be a Dataset of (x, y) or tensors (x, y), x of one shape and always the "
            f"same, y a class from 0, but: {type(error).__name__}, {said(str(error), 200)}."
        ) from error
    every = torch.arange(len(y))
    return Samples(Inputs(x, run.device), every, y.long().cpu(), every, name)


def forgotten(given: Any, count: int) -> Tensor:
    """Which of the samples are forgotten, (n,) bool. Raises `BadValue` where a position is none or
    named twice, or all are named, `BadFile` for what is no list.
    """
    if isinstance(given, Tensor | range):  # a range may be too long to be listed
        given = torch.as_tensor(given[: count + 1]).cpu().numpy()
    listed = identity.listed(Path(given) if isinstance(given, str) else given)
    found = np.array([] if listed is None or listed.saved else listed.numbers, int)
    times = np.bincount(found[found < count], minlength=count)
    whole = listed is not None and listed.length in (None, count)
    need(
        whole and times.sum() == len(found) and times.max() == 1 > times.min(),
        f"forget names some of train's positions, 0 to {count - 1}, each once, is a mask of as "
        f"many or a file of these, but {said(given)} names {times.sum()}, one {times.max()} times.",
    )
    return torch.from_numpy(times == 1)


def whole_classes(labels: Tensor, gone: Tensor) -> tuple[int, ...]:
    """The classes of the samples `gone`, (n,) bool, where these are all that there are of them."""
    classes = labels[gone].unique()
    return () if torch.isin(labels[~gone], classes).any() else tuple(classes.tolist())


@contextlib.contextmanager
def left_as_found(model: nn.Module, device: torch.device) -> Generator[None]:
    """Inside, a network is in eval mode on the device. Its modes and place, and torch's
    generators, are put back.
    """
    modes = [(module, module.training) for module in model.modules()]
    home = next((each.device for each in chain(model.parameters(), model.buffers())), device)
    with torch.random.fork_rng([device] if device.type == "cuda" else []), torch.no_grad():
        try:
            model.eval().to(device)
            yield
        finally:
            model.to(home)
            for module, training in modes:
                module.training = training


@contextlib.contextmanager
def answering(name: str, x: Tensor) -> Generator[None]:
    """Inside, whatever a network that is asked raises becomes a `BadValue` that names it."""
    try:
        yield
    except Exception as error:  # of any kind: the network is the user's
        raise BadValue(
            f"{name} must answer samples {[*x.shape]} with finite logits ({len(x)}, classes), but: "
            f"{said(str(error), 200)}. Give what it eats; a smaller batch_size takes less memory."
        ) from error


def asked(model: nn.Module, head: nn.Module | None, x: Tensor, labels: Tensor) -> tuple[int, bool]:
    """How many classes a network tells apart, and whether `head` gives the logits. Raises
    `ValueError` where its answers to `x` are no logits, or `labels` have no place among them.
    """
    looked = penultimate(model, head) if head else contextlib.nullcontext([])
    with looked as seen:
        logits = model(x)
    if logits.ndim != 2 or len(logits) != len(x):
        raise ValueError(f"it gives {[*logits.shape]}")
    if (logits >= 0).all() and (logits.sum(1) - 1).abs().max() < 1e-3:
        raise ValueError("it gives probabilities, which a softmax made of them")
    classes = logits.shape[1]
    low, high = labels.aminmax()
    if low < 0 or high >= classes:
        raise ValueError(f"it has {classes} outputs, and labels go from {low} to {high}")
    return classes, len(seen) == 1 and getattr(head, "out_features", classes) == classes
