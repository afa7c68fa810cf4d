"""Looks that end as soon as their answer is clear give the answer of the whole set."""

from __future__ import annotations

import math

import pytest
import torch
import toy

from mucore.engine.data import Samples
from mucore.engine.predict import PIECE, accuracy, accuracy_between, mean_loss, mean_loss_from
from mucore.engine.run import Run


def partly_wrong(share: float) -> Samples:
    """The retain set, as the toy network predicts it but for a share spread over the set."""
    samples = toy.request("mlp", "random").retain
    said = toy.logits(toy.trained("mlp"), samples).argmax(1)
    draws = torch.rand(len(samples), generator=torch.Generator().manual_seed(0))
    return samples.with_labels(torch.where(draws < share, (said + 1) % 6, said))


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.98, 0.995, 1.0])
@pytest.mark.parametrize("target", [0.0, 0.01, 0.1, 0.5, 0.7, 0.97, 1.0, math.nan])
@pytest.mark.parametrize("side", ["above", "below"])
def test_accuracy_beyond_a_target_is_the_accuracy_or_nothing(share: float, target: float, side):
    samples, model = partly_wrong(share), toy.trained("mlp")
    whole, run = accuracy(model, samples, Run(seed=0)), Run(seed=0)
    found = accuracy_between(model, samples, run, **{side: target})
    beyond = whole > target if side == "above" else not whole >= target
    assert found == (whole if beyond else None)
    if found is not None:
        assert run.cost.reads["retain/forward"] == len(samples)
    near = -1e-12 if side == "above" else 1e-12
    assert accuracy_between(model, samples, Run(seed=0), **{side: whole}) is None
    assert accuracy_between(model, samples, Run(seed=0), **{side: whole + near}) == whole


def test_a_look_ends_with_what_decides_it():
    model = toy.trained("mlp")
    for share, target in ((0.0, {"above": 1.0}), (1.0, {"above": 0.99}), (0.0, {"below": 0.01})):
        run = Run(seed=0)
        assert accuracy_between(model, partly_wrong(share), run, **target) is None
        assert run.cost.reads == {"retain/forward": PIECE}
    assert accuracy_between(model, partly_wrong(0.0)[torch.arange(0)], run, below=1.0) is None


@pytest.mark.parametrize("share", [0.0, 0.05, 0.3, 0.6, 1.0])
def test_a_loss_at_its_limit_is_that_of_the_whole_set(share: float):
    samples, model = partly_wrong(share), toy.trained("mlp")
    whole = mean_loss(model, samples, Run(seed=0))
    assert whole == pytest.approx(toy.loss(model, samples), rel=1e-5)
    for factor in (0.2, 0.5, 0.99, 1.01, 1.5, 1.9, 2.2, 5.0):
        run = Run(seed=0)
        found = mean_loss_from(model, samples, run, factor * whole)
        assert found == (whole if factor < 1 else None)
        if factor > 2.5:  # a part was enough
            assert run.cost.reads["retain/forward"] < 2 * PIECE
    few = samples[torch.arange(50)]
    assert mean_loss_from(model, few, Run(seed=0), 0.0) == mean_loss(model, few, Run(seed=0))
