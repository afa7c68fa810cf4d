"""The toy problems of tests/toy_problems.py, with the short settings of roster.py: under these,
every method runs in a fraction of a second.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
import toy_problems as toy
from roster import ROSTER
from torch import Tensor, nn
from toy_problems import RECIPE, Name, Problem, fingerprint, original, problem, same, trained

from mucore import catalog, methods
from mucore.datasets.poisoned import poisoned
from mucore.datasets.splits import Split, Splits
from mucore.engine.data import Samples, UnlearningData
from mucore.engine.losses import cross_entropy, predicted, task_of
from mucore.engine.run import Run
from mucore.scenarios.poison import Poison, poisoned_ids

__all__ = [
    "PLAIN",
    "RECIPE",
    "Name",
    "Problem",
    "accuracy",
    "draws",
    "fingerprint",
    "gradient",
    "hooks",
    "in_float64",
    "logits",
    "loss",
    "moved",
    "no_curvature",
    "on_copy",
    "original",
    "parameters",
    "problem",
    "request",
    "same",
    "settings",
    "smooth",
    "trained",
    "unlearn",
    "watch_fit",
]


POISONS: Mapping[Name, Poison] = {
    "mlp_flipped": {"scenario": "label_flip", "budget": 0.4, "pairs": None, "seed": 0},
    "conv_backdoor": {
        "scenario": "backdoor",
        "budget": 0.1,
        "target": 0,
        "size": 2,
        "value": 255,
        "position": "bottom_right",
        "seed": 0,
    },
}


def _poisoned(name: Name, clean: Problem) -> Problem:
    def split(pixels: Tensor, labels: Tensor) -> Split:
        return Split(pixels=pixels, labels=labels, ids=torch.arange(len(labels)))

    held_out = split(clean.validation_pixels, clean.validation_labels)
    names = tuple(map(str, range(clean.classes)))
    splits = poisoned(
        Splits(
            name=name,
            train=split(clean.pixels, clean.labels),
            validation=held_out,
            test=held_out,
            class_names=names,
            mean=(0.5,),
            std=(0.2,),
            natural=False,
            data_hash="",
        ),
        POISONS[name],
    )
    train = splits.train
    return replace(
        clean,
        name=name,
        pixels=train.pixels,
        labels=train.labels,
        true_labels=splits.true_labels,
        trigger=splits.trigger,
    )


toy.PROBLEMS["mlp_flipped"] = lambda: _poisoned("mlp_flipped", problem("mlp"))
toy.PROBLEMS["conv_backdoor"] = lambda: _poisoned("conv_backdoor", problem("conv"))


def request(name: Name, forget: Any = "class", **changes: Any) -> UnlearningData:
    """As `toy_problems.request`, of "poison", too."""
    if isinstance(forget, str) and forget == "poison":
        clean = problem(name)
        assert clean.true_labels is not None, "this toy is not poisoned"
        labels = clean.true_labels.numpy()
        ids = poisoned_ids(POISONS[name], labels, np.arange(len(labels)), clean.classes)
        forget = torch.from_numpy(ids)
    return toy.request(name, forget, **changes)


PLAIN: dict[str, Any] = {"momentum": 0.0, "weight_decay": 0.0}  # of an optimiser


def smooth(seed: int = 0) -> nn.Sequential:
    """A network without batch norm for the perceptron's data, in double precision, in eval mode."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = nn.Sequential(nn.Flatten(), nn.Linear(16, 20), nn.Tanh(), nn.Linear(20, 6))
    return network.double().eval()


@torch.no_grad()
def logits(model: nn.Module, samples: Samples) -> Tensor:
    return torch.cat([model(batch.x) for batch in samples.batches(Run(seed=0), 512)])


def accuracy(model: nn.Module, samples: Samples) -> float:
    return (
        (predicted(logits(model, samples), task_of(samples.labels)) == samples.labels)
        .float()
        .mean()
        .item()
    )


def loss(model: nn.Module, samples: Samples) -> float:
    return cross_entropy(logits(model, samples), samples.labels).item()


def hooks(model: nn.Module) -> Iterator[Any]:
    """All hooks that hang on a network."""
    kinds = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    for module in model.modules():
        for kind in kinds:
            yield from getattr(module, kind).values()


def draws(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def gradient(
    model: nn.Module, samples: Samples, loss: Callable[..., Tensor] = nn.functional.cross_entropy
) -> dict[str, Tensor]:
    """Of the loss of all samples in one batch, by weight."""
    (batch,) = samples.batches(Run(seed=0), len(samples))
    grads = torch.autograd.grad(loss(model(batch.x), batch.y), list(model.parameters()))
    return dict(zip(dict(model.named_parameters()), grads, strict=True))


def moved(after: nn.Module, before: nn.Module) -> dict[str, Tensor]:
    start = dict(before.named_parameters())
    return {name: p.detach() - start[name].detach() for name, p in after.named_parameters()}


def parameters(method: str, **changes: Any) -> dict[str, Any]:
    """The authors' values, shortened for the toys, with `changes` on top."""
    return (
        {p.name: p.default for p in catalog.method(method).parameters}
        | dict(ROSTER[method].short if method in ROSTER else {})
        | changes
    )


def settings(**values: Any) -> dict[str, Any]:
    """Parameters of a method, for several calls."""
    return values


def unlearn(
    method: str,
    data: UnlearningData | Name,
    model: nn.Module | Name | None = None,
    *,
    seed: int = 0,
    run: Run | None = None,
    **changes: Any,
) -> tuple[nn.Module, Run]:
    """Run a method on `model` itself and give what it returns, with its run. The name of a toy
    stands for its class to be forgotten, and for a copy of its trained network.
    """
    if not isinstance(data, UnlearningData):
        model = data if model is None else model
        data = request(data)
    assert model is not None
    model = model if isinstance(model, nn.Module) else original(model)
    run = run or Run(seed=seed)
    return methods.load(method)(model, data, run, **parameters(method, **changes)), run


def on_copy(
    method: str, data: UnlearningData, model: nn.Module, **options: Any
) -> tuple[nn.Module, Run]:
    """As `unlearn`, but `model` stays as it is."""
    return unlearn(method, data, copy.deepcopy(model), **options)


def in_float64(data: UnlearningData) -> UnlearningData:
    """The same request with images normalised in double precision, for exactness tests."""

    def wide(samples: Samples) -> Samples:
        images = copy.copy(samples.images)
        images.mean, images.std = images.mean.double(), images.std.double()
        return replace(samples, images=images)

    return replace(
        data, forget=wide(data.forget), retain=wide(data.retain), validation=wide(data.validation)
    )


def no_curvature(logits: Tensor, tangent: Tensor, y: Tensor) -> Tensor:
    """The tangent itself, the Hessian of half the squared distance; divided by A for attributes."""
    return tangent if task_of(y) == "classes" else tangent / logits.shape[1]


def watch_fit(monkeypatch: pytest.MonkeyPatch, method: str) -> list[dict[str, Any]]:
    """What the method hands to the loop, which then does nothing."""
    calls: list[dict[str, Any]] = []

    def stand_in(model: nn.Module, phases: list, run: Run, **options: Any) -> nn.Module:
        calls.append({"phases": phases, **options})
        return model.eval()

    monkeypatch.setattr(f"mucore.methods.{method}.fit", stand_in)
    return calls
