"""SISA: shards, slices, votes; exactness bit by bit; and the way of an ensemble through the
store.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
import toy
from torch import Tensor, nn

from mucore import training
from mucore.blocks.shards import Sharded, checkpoint, partition, record_name, slice_epochs
from mucore.engine.collect import collect
from mucore.engine.data import UnlearningData
from mucore.engine.ensemble import Ensemble, Vote, restore
from mucore.engine.run import Run, state_bytes
from mucore.rng import stream_seed
from mucore.runner.execute import execute
from mucore.runner.session import Session
from mucore.runs import make_recipe, make_spec
from mucore.store import open_store

CUT: dict[str, Any] = {"shards": 4, "slices": 3, "epochs": 4}


def setting(data: UnlearningData, shards: int = 4, slices: int = 3, epochs: int = 4) -> Sharded:
    """How the toy's shards are trained; the partition is that of the whole training set."""
    parts = partition(
        torch.arange(len(toy.problem("mlp").labels)), shards, slices, data.training_seed
    )
    return Sharded(
        parts=parts,
        epochs=epochs,
        recipe=toy.RECIPE,
        fresh_model=toy.problem("mlp").network,
        training_seed=data.training_seed,
    )


def members(model: nn.Module) -> list[nn.Module]:
    assert isinstance(model, Ensemble)
    return list(model.members)


def equals(model: nn.Module, state: dict[str, Tensor]) -> bool:
    return all(torch.equal(t, state[name]) for name, t in model.state_dict().items())


# -- the plan


@pytest.mark.parametrize(
    ("epochs", "slices", "wanted"),
    [(20, 1, [20]), (20, 2, [13, 13]), (20, 5, [6, 7, 7, 6, 7]), (15, 1, [15])],
)
def test_epochs_of_slices_by_hand(epochs: int, slices: int, wanted: list[int]):
    assert slice_epochs(epochs, slices) == wanted


def test_the_partition_is_one_and_depends_on_the_training_seed_alone():
    ids = torch.arange(100, 203)
    parts = partition(ids, 4, 3, 0)
    assert torch.equal(torch.cat([piece for shard in parts for piece in shard]).sort().values, ids)
    assert {len(torch.cat(shard)) for shard in parts} == {25, 26}
    assert all(max(map(len, shard)) - min(map(len, shard)) <= 1 for shard in parts)
    turned = partition(ids.flip(0), 4, 3, 0)
    assert all(
        torch.equal(a, b)
        for one, other in zip(parts, turned, strict=True)
        for a, b in zip(one, other, strict=True)
    )
    assert not torch.equal(parts[0][0], partition(ids, 4, 3, 1)[0][0])


# -- exactness


def test_untouched_shards_stay_bit_identical_and_earlier_slices_are_not_trained_again():
    parts = setting(toy.request("mlp")).parts
    # the last slice of one shard, the first of another
    data = toy.request("mlp", torch.cat([parts[1][2][:3], parts[3][0][:1]]))
    before = data.record[record_name(**CUT)]
    result, run = toy.unlearn("sisa", data, "mlp", **CUT)
    for shard, member in enumerate(members(result)):
        assert equals(member, checkpoint(before, shard, 2)) == (shard in (0, 2))
    budget = slice_epochs(4, 3)
    shard = len(torch.cat(list(parts[1]))), [len(piece) for piece in parts[3]]
    wanted = budget[2] * (shard[0] - 3) + sum(
        e * (sum(shard[1][: n + 1]) - 1) for n, e in enumerate(budget)
    )
    # a last batch of one sample is left out
    assert abs(run.cost.reads["retain/backward"] - wanted) <= sum(budget) + budget[2]
    assert run.diagnostics["retrained_share"] == pytest.approx((1 + 3) / 12)
    assert (
        run.cost.persistent_bytes
        == state_bytes(before.values())
        == 12 * state_bytes(toy.trained("mlp").state_dict().values())
    )


def test_a_shard_that_diverged_marks_the_run_and_no_later_shard_does(monkeypatch):
    data = toy.request("mlp")
    sharded = setting(data, shards=3, slices=1, epochs=1)
    marked: list[str] = []

    class Watched(Run):
        def mark(self, status: Any, reason: str) -> None:
            marked.append(reason)
            super().mark(status, reason)

    def fit(model: nn.Module, phases: Any, run: Run, *, what: str, **_: Any) -> nn.Module:
        if what == "shard 2 of 3":
            Run.mark(run, "diverged", "the loss is not finite")
        return model

    monkeypatch.setattr("mucore.blocks.shards.fit", fit)
    run = Watched(seed=0)
    sharded.train_all(data.retain, run)
    assert run.status == "diverged"
    assert marked == ["shard 2 of 3: the loss is not finite"] == [run.stop_reason]


@pytest.mark.parametrize("forget", ["class", "random", 2])
@pytest.mark.parametrize("natural", [False, True])
def test_the_result_is_that_of_never_having_seen_the_forget_set(forget: Any, natural: bool):
    data = toy.request("mlp", forget, natural=natural)
    how = setting(data)
    record = how.train_all(data.retain.joined(data.forget), Run(seed=9))
    data = replace(data, record={record_name(**CUT): record})
    result, _ = toy.unlearn("sisa", data, "mlp", seed=3, **CUT)
    for shard, member in enumerate(members(result)):
        assert equals(member, how.train(shard, data.retain, Run(seed=5))[-1])


def test_one_slice_of_one_shard_is_retrain():
    data = toy.request("mlp", "random", natural=True)
    retrained = training.train(
        toy.problem("mlp").network(stream_seed(0, "init")),
        data.retain,
        toy.RECIPE,
        Run(seed=data.training_seed),
    )
    result, run = toy.unlearn("sisa", data, "mlp", shards=1, slices=1, epochs=None)
    (member,) = members(result)
    assert toy.same(member, retrained)
    assert run.cost.steps == toy.RECIPE.epochs * data.retain.steps(
        toy.RECIPE.batch_size, skip_single=True
    )


# -- votes


class Fixed(nn.Module):
    """Says the same for every sample."""

    def __init__(self, probabilities: list[float]):
        super().__init__()
        self.logits = nn.Parameter(torch.tensor(probabilities).log())

    def forward(self, x: Tensor) -> Tensor:
        return self.logits.expand(len(x), -1)


@pytest.mark.parametrize(
    ("vote", "winner"),
    [
        ("hard", 1),  # two votes for class 1, one for 2, one for 0
        ("soft", 2),  # mean probabilities 0.275, 0.2875, 0.4375
        ("proportional", 0),  # the member with 10 samples outvotes 3 + 3
    ],
)
def test_votes_by_hand(vote: Vote, winner: int):
    said = [[0.05, 0.5, 0.45], [0.05, 0.5, 0.45], [0.1, 0.1, 0.8], [0.9, 0.05, 0.05]]
    ensemble = Ensemble([Fixed(p) for p in said], vote, torch.tensor([3, 3, 2, 10]))
    mean, chosen = ensemble.vote(torch.zeros(5, 1))
    torch.testing.assert_close(mean.exp(), torch.tensor(said).mean(0).expand(5, 3))
    torch.testing.assert_close(torch.softmax(ensemble(torch.zeros(5, 1)), 1), mean.exp())
    assert chosen.tolist() == [winner] * 5


def test_outputs_count_votes_and_keep_mean_probabilities():
    data = toy.request("mlp", "random")
    result, _ = toy.unlearn("sisa", data, "mlp", shards=4, slices=3, epochs=1)
    assert isinstance(result, Ensemble)
    outputs = collect(result, data.validation, 6, Run(seed=0))
    (batch,) = data.validation.batches(Run(seed=0), len(data.validation))
    with torch.no_grad():
        each = [torch.softmax(member(batch.x), 1) for member in result.members]
    mean = torch.stack(each).mean(0).numpy()
    np.testing.assert_allclose(np.exp(outputs.logits), mean, rtol=1e-4, atol=1e-6)
    votes = np.stack([p.argmax(1).numpy() for p in each])
    winners = np.array([np.bincount(column, minlength=6).argmax() for column in votes.T])
    wanted = np.zeros((6, 6), dtype=np.int64)
    np.add.at(wanted, (data.validation.labels.numpy(), winners), 1)
    assert (outputs.confusion == wanted).all()
    # one epoch on a quarter of the data: the two rules differ somewhere
    assert (winners != mean.argmax(1)).any()
    assert outputs.features is None


def test_an_ensemble_comes_back_from_its_state_and_a_network_too():
    networks = [toy.problem("mlp").network(seed).eval() for seed in range(3)]
    ensemble = Ensemble(networks, "proportional", torch.tensor([5, 6, 7])).eval()
    x = torch.randn(9, 1, 4, 4, generator=torch.Generator().manual_seed(0))
    again = restore(ensemble.state_dict(), lambda: toy.problem("mlp").network(9)).eval()
    assert isinstance(again, Ensemble) and toy.same(again, ensemble)
    assert all(torch.equal(a, b) for a, b in zip(again.vote(x), ensemble.vote(x), strict=True))
    alone = restore(networks[1].state_dict(), lambda: toy.problem("mlp").network(9))
    assert toy.same(alone, networks[1])


# -- through the store


@pytest.fixture
def session(tmp_path):
    store = open_store(tmp_path)
    yield Session(store, "cpu")
    store.close()


def spec(**changes: Any):
    recipe = make_recipe("quick", {"epochs": 3, "batch_size": 64})
    options = toy.settings(
        scenario="one_class", method="sisa", parameters={"shards": 3, "slices": 2}
    )
    options |= changes
    return make_spec(dataset="digits", model="mlp", recipe=recipe, **options)


@pytest.mark.slow
def test_a_run_of_sisa_is_stored_loaded_and_measured_again(session):
    result = execute(spec(), session)
    assert result.status == "ok"
    for metric in ("ta", "ra", "fa", "rte", "mia_confidence", "persistent_bytes"):
        assert result.metrics[metric].value is not None, result.metrics[metric].error
    for metric in ("l2", "l2_normalised"):
        assert result.metrics[metric].value is None
        assert "There is no single set of weights" in (result.metrics[metric].error or "")
    assert not any("failed" in flag or "changed nothing" in flag for flag in result.flags)
    assert 0.5 < result.diagnostics["own_original_ta"] <= 1
    assert 0.5 < result.diagnostics["own_original_fa"] <= 1
    assert any("its own original" in note for note in result.notes)
    again = execute(spec(evaluation_seed=1), session)
    assert again.key != result.key and again.model_key == result.model_key
    assert again.cost["seconds"] == result.cost["seconds"]
    assert again.metrics["ta"].value == result.metrics["ta"].value
    assert again.confusion == result.confusion
