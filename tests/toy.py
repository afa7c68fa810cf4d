"""The toy problems of mucore/testing/toy.py, with the short settings of roster.py: under these,
every method runs in a fraction of a second.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest
from roster import ROSTER
from torch import Tensor, nn

from mucore import catalog, methods
from mucore.engine.data import Samples, UnlearningData
from mucore.engine.losses import task_of
from mucore.engine.run import Run
from mucore.testing.toy import (
    RECIPE,
    Name,
    Problem,
    accuracy,
    fingerprint,
    logits,
    loss,
    original,
    problem,
    request,
    same,
    trained,
)

__all__ = [
    "RECIPE",
    "Name",
    "Problem",
    "accuracy",
    "fingerprint",
    "in_float64",
    "logits",
    "loss",
    "no_curvature",
    "original",
    "parameters",
    "problem",
    "request",
    "same",
    "trained",
    "unlearn",
    "watch_fit",
]


def parameters(method: str, **changes: Any) -> dict[str, Any]:
    """The authors' values, shortened for the toys, with `changes` on top."""
    return (
        {p.name: p.default for p in catalog.method(method).parameters}
        | dict(ROSTER[method].short if method in ROSTER else {})
        | changes
    )


def unlearn(
    method: str,
    data: UnlearningData,
    model: nn.Module,
    *,
    seed: int = 0,
    run: Run | None = None,
    **changes: Any,
) -> tuple[nn.Module, Run]:
    """Run a method on `model` itself and give what it returns, with its run."""
    run = run or Run(seed=seed)
    return methods.load(method)(model, data, run, **parameters(method, **changes)), run


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
