"""What holders of tensors say of themselves, and how a run counts and ends by them."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from mucore.engine.run import Run
from mucore.engine.state import copy_state, frozen, frozen_copy, is_finite, modes_kept, state_bytes


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


def test_copies_stay_as_they_are():
    network = nn.Linear(2, 1)
    state, teacher = copy_state(network), frozen_copy(network)
    before = network.bias.item()
    network.bias.data += 1
    assert state["bias"].item() == teacher.get_parameter("bias").item() == before
    assert not teacher.training and not any(p.requires_grad for p in teacher.parameters())


def test_modes_are_what_they_were():
    network = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.BatchNorm1d(2).eval(), nn.ReLU()))
    before = [module.training for module in network.modules()]
    assert not all(before)
    with modes_kept(network):
        network.eval()
    assert [module.training for module in network.modules()] == before


def test_frozen_parameters_learn_again_afterwards():
    network = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1).requires_grad_(False))
    before = [p.requires_grad for p in network.parameters()]
    with pytest.raises(ValueError, match="inside"), frozen(network):
        assert not any(p.requires_grad for p in network.parameters())
        raise ValueError("inside")
    assert [p.requires_grad for p in network.parameters()] == before == [True, True, False, False]


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
