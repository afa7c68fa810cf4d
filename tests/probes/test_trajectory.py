"""Watching a run changes no bit of it: with batch norm, in training mode, with its own random
streams.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
import toy

from mucore import catalog
from mucore.engine.run import Run
from mucore.probes.trajectory import Watcher

ONE_SHOT = {"ssd", "l_codec"}  # they change weights without a step
# steps alone, two optimisers, random streams of its own, a student, noise that is trained, a record
WATCHED = ["finetune", "scrub_rewind", "fcs", "rum", "gkt", "unsir", "unrolling", *sorted(ONE_SHOT)]
STEPS = 200  # more than any method takes here


def data_of(method: str):
    card = catalog.method(method)
    allowed = card.scenarios is None or any(
        catalog.scenario(name).class_wise for name in card.scenarios
    )
    return toy.request("conv", "class" if allowed else "random", natural=True)


def watched(run: Run, marks: list[int]) -> Watcher:
    data = toy.request("conv")
    watcher = Watcher(run, {"forget": data.forget, "retain": data.retain[torch.arange(40)]}, marks)
    run.observer = watcher
    return watcher


def states() -> tuple:
    return (
        torch.get_rng_state().numpy().tobytes(),
        random.getstate(),
        np.random.get_state(legacy=False)["state"]["key"].tobytes(),
    )


@pytest.mark.slow
@pytest.mark.parametrize("method", WATCHED)
def test_a_watched_run_is_the_run(method):
    plain, unseen = toy.unlearn(method, data_of(method), toy.original("conv").train())
    run = Run(seed=0)
    watcher = watched(run, list(range(1, STEPS)))
    first = watcher.look(toy.original("conv"))
    before = states()
    data = data_of(method)
    with run.clock():
        model, _ = toy.unlearn(method, data, toy.original("conv").train(), run=run)
    assert toy.same(plain, model)
    assert states() == before and not list(toy.hooks(model))
    assert (run.cost.steps, run.cost.reads, run.losses) == (
        unseen.cost.steps,
        unseen.cost.reads,
        unseen.losses,
    )
    assert run.rng_states().keys() == unseen.rng_states().keys()
    assert all(
        torch.equal(state, unseen.rng_states()[purpose])
        for purpose, state in run.rng_states().items()
    )
    looks = watcher.looks(model, first)
    assert (len(looks) == 2) == (run.cost.steps == 0) == (method in ONE_SHOT)
    assert [look.steps for look in looks] == sorted(look.steps for look in looks)
    assert looks[-1].steps == run.cost.steps
    assert looks[-1].work >= looks[-2].work and looks[0].work == 0


def test_gradients_and_modes_stay():
    """Between two steps the network keeps its gradients, its modes and the statistics of its batch
    norms.
    """
    network = toy.original("conv").train()
    list(network.modules())[2].eval()
    data = toy.request("conv")
    run = Run(seed=0)
    (batch,) = data.forget.batches(Run(seed=0), 1000)
    network(batch.x).sum().backward()
    before = [network.state_dict()[name].clone() for name in network.state_dict()]
    gradients = [p.grad.clone() for p in network.parameters() if p.grad is not None]
    modes = [module.training for module in network.modules()]
    watched(run, [1])
    run.stepped(network)
    assert all(
        torch.equal(*pair) for pair in zip(before, network.state_dict().values(), strict=True)
    )
    assert all(
        p.grad is not None and torch.equal(one, p.grad)
        for one, p in zip(gradients, network.parameters(), strict=True)
    )
    assert modes == [module.training for module in network.modules()]
    assert run.cost.steps == 1 and not run.cost.reads and not run.rng_states()


def test_marks_are_looked_at_once_each_and_late_ones_not_twice():
    run = Run(seed=0)
    watcher = watched(run, [2, 3, 9])
    network = toy.original("conv")
    for _ in range(5):
        run.stepped(network)
    assert [look.steps for look in watcher.looks(network, watcher.look(network))[1:-1]] == [2, 3]


def test_only_the_network_that_is_returned_counts():
    """While a helper is trained, the returned network stays as it was; one that was never trained
    has two ends and nothing between.
    """
    run = Run(seed=0)
    watcher = watched(run, [1, 2, 3])
    helper, network = toy.problem("conv").network(3), toy.original("conv")
    first = watcher.look(network)
    for trained in (helper, network, helper):
        run.stepped(trained)
    looks = watcher.looks(network, first)
    assert [look.steps for look in looks] == [0, 1, 2, 3, 3]
    assert looks[1].sets is first.sets
    assert looks[3].sets is looks[2].sets
    assert looks[2].sets is not first.sets
    assert [look.steps for look in watcher.looks(toy.original("conv"), first)] == [0, 3]


def test_outputs_that_are_no_numbers_are_no_outputs():
    run = Run(seed=0)
    network = toy.original("conv")
    with torch.no_grad():
        next(iter(network.parameters())).fill_(torch.nan)
    assert watched(run, []).look(network).sets is None
