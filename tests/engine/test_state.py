"""What holders of tensors say of themselves, and how a run counts and ends by them."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from mucore.engine.run import Run
from mucore.engine.state import copy_state, is_finite, state_bytes


def test_bytes_of_networks_tensors_dictionaries_and_lists_add_up():
    network = nn.BatchNorm1d(3)  # four float32 vectors of 3, and an int64
    mask = torch.ones(5, dtype=torch.bool)
    assert state_bytes(network) == 4 * 3 * 4 + 8
    assert state_bytes(network, mask, {"a": mask}, [mask, mask], None) == 56 + 4 * 5
    assert state_bytes() == 0


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_one_entry_makes_a_holder_not_finite(value: float):
    broken = torch.tensor([0.0, value])
    network = nn.Linear(2, 1)
    assert is_finite(network, torch.tensor([1, 2]), {"mask": torch.tensor([True])}, None)
    for holder in (broken, {"a": broken}, [broken]):
        assert not is_finite(network, holder)
    network.bias.data.fill_(value)
    assert not is_finite(network)


def test_finite_entries_whose_sum_overflows_are_finite():
    large = torch.full((4,), torch.finfo(torch.float32).max)
    assert large.sum().isinf() and is_finite(large)
    opposite = torch.tensor([torch.inf, -torch.inf])
    assert not is_finite(large, opposite)


def test_giving_up_leaves_the_model_and_says_why():
    run, network = Run(seed=0), nn.Linear(2, 1)
    before = copy_state(network)
    assert run.give_up(network, "something is not finite") is network
    assert not network.training
    assert all(torch.equal(t, before[name]) for name, t in network.state_dict().items())
    assert run.status == "diverged" and run.stop_reason and "something" in run.stop_reason


def test_holds_counts_copies_and_keeps_the_largest():
    run, weights = Run(seed=0), [torch.zeros(10)]
    run.holds(weights, copies=3)
    run.holds(weights)
    run.holds(weights, None)
    assert run.cost.scratch_bytes == 3 * 40
