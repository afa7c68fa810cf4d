"""Inputs of metrics for their tests: predictions drawn from a seeded generator, with a gap between
seen and unseen samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mucore.metrics import MetricInputs
from mucore.metrics.inputs import GradientNorms
from mucore.outputs import Outputs, SplitOutputs, confusion

CLASSES = 4
# samples, margin of the true class
SPLITS = {"forget": (40, 2.0), "retain": (120, 4.0), "validation": (30, 2.0), "test": (80, 2.0)}


def draw_split(
    rng: np.random.Generator, *, samples: int, margin: float, first_id: int
) -> SplitOutputs:
    labels = np.arange(samples) % CLASSES
    logits = rng.normal(size=(samples, CLASSES)).astype(np.float32)
    logits[np.arange(samples), labels] += margin
    counts = confusion(labels, logits.argmax(axis=1), CLASSES)
    ids = np.arange(first_id, first_id + samples)
    own = rng.spawn(1)[0]  # so that predictions do not depend on there being features
    features = np.maximum(own.normal(size=(samples, 6)) + np.eye(CLASSES, 6)[labels], 0).astype(
        np.float16
    )
    return SplitOutputs(logits=logits, labels=labels, ids=ids, confusion=counts, features=features)


def draw_outputs(seed: int) -> Outputs:
    rng = np.random.default_rng(seed)
    return Outputs(
        {
            name: draw_split(rng, samples=n, margin=margin, first_id=1000 * i)
            for i, (name, (n, margin)) in enumerate(SPLITS.items())
        }
    )


def draw_weights(seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        "first.weight": rng.normal(size=(5, 3)).astype(np.float32),
        "first.bias": rng.normal(size=5).astype(np.float32),
    }


def make_cost(**changes: Any) -> dict[str, Any]:
    return {
        "seconds": 3.0,
        "steps": 20,
        "reads": {"forget/backward": 40, "retain/forward": 120},
        "prepared_seconds": 0.0,
        "prepared_for_request_seconds": 0.0,
        "persistent_bytes": 0,
        "scratch_bytes": 800,
        "peak_memory_bytes": 5_000,
        "device": "cpu",
        "precision": "fp32",
        "threads": 2,
        "shared_device": False,
        **changes,
    }


@pytest.fixture
def make_inputs() -> Callable[..., MetricInputs]:
    """Inputs of an unlearned model (seed 1) beside an original (seed 0) and a Retrain (seed 2),
    with changes.
    """

    def make(**changes: Any) -> MetricInputs:
        inputs = MetricInputs(
            outputs=draw_outputs(1),
            original=draw_outputs(0),
            retrained=draw_outputs(2),
            classes=CLASSES,
            forgotten_classes=(1,),
            weights=draw_weights(1),
            original_weights=draw_weights(0),
            retrained_weights=draw_weights(2),
            cost=make_cost(),
            retrain_cost=make_cost(seconds=12.0),
            retrain_metrics=None,
            evaluation_seed=0,
            mia_samples=2000,
            gradient_norms=GradientNorms(
                squared_norms=np.array([0.04, 0.0, 0.02]),
                squared_norm_of_mean=0.001,
                incompetent=draw_outputs(9)["forget"],
            ),
        )
        return replace(inputs, **changes)

    return make


@pytest.fixture
def cost() -> Callable[..., dict[str, Any]]:
    return make_cost


@pytest.fixture
def of_one_class() -> Callable[[int], SplitOutputs]:
    """A test split on which every prediction is one class."""

    def make(favourite: int) -> SplitOutputs:
        labels = np.arange(80) % CLASSES
        logits = np.zeros((80, CLASSES), np.float32)
        logits[:, favourite] = 1.0
        return SplitOutputs(
            logits=logits,
            labels=labels,
            ids=np.arange(80),
            confusion=confusion(labels, logits.argmax(axis=1), CLASSES),
        )

    return make
