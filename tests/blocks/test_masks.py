"""Choosing a share of the weights, and moving only those."""

from __future__ import annotations

import math

import pytest
import torch
import toy
from hypothesis import given
from hypothesis import strategies as st

from mucore.blocks.masks import MaskedStep, density, mask_grads, top_fraction
from mucore.engine.loop import Optimizer, Phase, fit
from mucore.engine.run import Run


@given(
    values=st.lists(
        st.sampled_from([0.0, 0.0, 0.5, 1.0, 2.0, float("nan")]), min_size=1, max_size=40
    ),
    share=st.floats(0, 1),
)
def test_top_fraction_keeps_exactly_the_share(values: list[float], share: float):
    half = len(values) // 2
    scores = {"a": torch.tensor(values[:half]), "b": torch.tensor(values[half:]).view(-1, 1)}
    masks = top_fraction(scores, share)
    kept = torch.cat([masks["a"], masks["b"].flatten()])
    flat = torch.nan_to_num(torch.tensor(values), nan=-1.0)
    assert int(kept.sum()) in (
        math.floor(share * len(values)),
        math.floor(share * len(values) + 1e-9),
    )
    if kept.any() and not kept.all():
        assert flat[kept].min() >= flat[~kept].max()


def test_top_fraction_breaks_ties_by_position():
    masks = top_fraction({"a": torch.zeros(6), "b": torch.tensor([1.0, 0.0])}, 0.5)
    assert masks["a"].tolist() == [True, True, True, False, False, False]
    assert masks["b"].tolist() == [True, False]
    assert density(masks) == 0.5


def test_a_share_that_binary_cannot_hold_is_not_rounded_down():
    assert int(top_fraction({"a": torch.arange(10.0)}, 0.3)["a"].sum()) == 3


def test_gradients_outside_a_mask_become_zero():
    model = toy.original("mlp")
    parameters = dict(model.named_parameters())
    for p in parameters.values():
        p.grad = torch.ones_like(p)
    first, second = list(parameters)[:2]
    mask = parameters[first] > 0
    mask_grads(model, {first: mask})
    found = {name: p.grad for name, p in parameters.items() if p.grad is not None}
    assert torch.equal(found[first].bool(), mask) and not mask.all()
    assert found[second].bool().all()


@pytest.mark.parametrize("name", ["sgd", "adamw"])
def test_masked_weights_stay_under_decay_and_momentum(name):
    model, data = toy.original("mlp"), toy.request("mlp")
    start = {key: p.detach().clone() for key, p in model.named_parameters()}
    masks = {key: torch.zeros_like(p, dtype=torch.bool) for key, p in model.named_parameters()}
    free = list(masks)[-2]
    masks[free][:] = True
    step = MaskedStep(model, masks)
    fit(
        model,
        [Phase(data=data.retain, batch_size=64)],
        Run(seed=0),
        epochs=1,
        optimizer=Optimizer(lr=0.01, name=name, momentum=0.9, weight_decay=0.1),
        edit_grads=step.edit_grads,
        after_step=step.after_step,
    )
    for key, p in model.named_parameters():
        assert torch.equal(p, start[key]) == (key != free)
