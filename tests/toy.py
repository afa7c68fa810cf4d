"""The toy problems of mucore/testing/toy.py, with settings under which every method of the roster
runs in a fraction of a second.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from torch import nn

from mucore import catalog, methods
from mucore.engine.data import Samples, UnlearningData
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
    "SHORT",
    "Name",
    "Problem",
    "accuracy",
    "fingerprint",
    "in_float64",
    "logits",
    "loss",
    "original",
    "parameters",
    "problem",
    "request",
    "same",
    "trained",
    "unlearn",
    "watch_fit",
]

# Epochs and batches fit for a toy; all else is the authors'.
SHORT: Mapping[str, Mapping[str, Any]] = {
    "finetune": {"epochs": 2, "batch_size": 64},
    "gradient_ascent": {"epochs": 3, "batch_size": 32, "lr": 1e-3},
    "neggrad_plus": {"epochs": 2, "batch_size": 64, "retain_weight": 0.9},
    "random_labels": {"epochs": 2, "batch_size": 64},
    "pseudo_labels": {"epochs": 2, "batch_size": 32, "lr": 1e-3},
    "scrub": {
        "epochs": 3,
        "msteps": 2,
        "retain_batch_size": 64,
        "forget_batch_size": 32,
        "lr": 5e-3,
    },
    "salun": {"epochs": 2, "batch_size": 64},
    "ssd": {"batch_size": 64, "alpha": 2.0},
    "bad_teacher": {"epochs": 1, "batch_size": 64, "lr": 1e-3},
    "first_order": {"tau": 1e-2, "batch_size": 64},
    "second_order": {"scale": 10.0, "zeta": 10.0, "hvp_batch_size": 256},
    "fisher": {"batch_size": 64},
    "ntk": {"retain_samples": 60},
    "sfron": {"iterations": 20, "batch_size": 64},
    "advanced_neggrad": {"epochs": 2, "batch_size": 64, "lr": 5e-3},
    "scrub_rewind": {
        "epochs": 3,
        "msteps": 2,
        "retain_batch_size": 64,
        "forget_batch_size": 32,
        "lr": 5e-3,
    },
    "sisa": {"shards": 3, "slices": 2, "epochs": 6},
    "cf_k": {"epochs": 2, "batch_size": 64, "lr": 0.1},
    "eu_k": {"epochs": 3, "batch_size": 64},
    "l1_sparse": {"epochs": 2, "batch_size": 64},
    "rum": {"medium_epochs": 1, "high_epochs": 2, "batch_size": 64},
    "boundary_shrink": {"epochs": 3, "batch_size": 32, "lr": 1e-3},
    "boundary_expanding": {"epochs": 3, "batch_size": 32, "lr": 1e-3},
    "unsir": {"batch_size": 64, "noise_batches": 3, "class_noise_steps": 10},
    "amun": {"epochs": 2, "batch_size": 64},
    "fcs": {"epochs": 2, "batch_size": 64, "forget_batch_size": 32},
    "msg": {"epochs": 2},
    "ct": {"epochs": 2},
    "niu": {"noise_epochs": 1, "fine_epochs": 1},
    "delete": {"epochs": 3, "batch_size": 32, "lr": 1e-3},
    "lotus": {"epochs": 2, "batch_size": 64, "lr": 1e-3},
    "munba": {"epochs": 2, "batch_size": 64},
    "duck": {"epochs": 3, "batch_size": 64, "class_batch_size": 64, "retain_batches": 5},
    "contrastive": {"epochs": 3, "batch_size": 32, "class_batch_size": 32},
    "scar": {"epochs": 4, "batch_size": 64, "class_surrogate_batches": 2},
    "gkt": {"batches": 4, "check_every": 2, "batch_size": 64, "student_steps": 3},
    "unrolling": {"epochs": 2, "batch_size": 64},
    "amnesiac": {"repair_epochs": 4, "batch_size": 64, "lr": 0.05},
    "l_codec": {"perturbations": 40, "cap": 5, "group": 32, "l2_reg": 0.2},
    "pgu": {"epochs": 5, "batch_size": 64},
}


def parameters(method: str, **changes: Any) -> dict[str, Any]:
    """The authors' values, shortened for the toys, with `changes` on top."""
    return (
        {p.name: p.default for p in catalog.method(method).parameters}
        | dict(SHORT.get(method, {}))
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


def watch_fit(monkeypatch: pytest.MonkeyPatch, method: str) -> list[dict[str, Any]]:
    """What the method hands to the loop, which then does nothing."""
    calls: list[dict[str, Any]] = []

    def stand_in(model: nn.Module, phases: list, run: Run, **options: Any) -> nn.Module:
        calls.append({"phases": phases, **options})
        return model.eval()

    monkeypatch.setattr(f"mucore.methods.{method}.fit", stand_in)
    return calls
