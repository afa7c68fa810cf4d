"""Variants that are a choice of a parameter: SCAR-self, UNSC, sparse originals, RUM's other
proxies, adaptive and loss-free SSD.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
import toy
from torch import nn
from toy import draws, smooth

from mucore import catalog, methods
from mucore.blocks.importance import output_sensitivity, ratio_quantile
from mucore.blocks.layer_moments import class_bases, extended, layer_moments
from mucore.blocks.masks import MaskedStep, density, top_fraction
from mucore.blocks.memorisation import symmetric_divergence
from mucore.blocks.pruning import SparseTraining, cut, magnitudes, synflow_masks
from mucore.blocks.surrogate_data import COUNT
from mucore.engine.data import Samples, UnlearningData
from mucore.engine.loop import Optimizer, Phase, fit, is_finite
from mucore.engine.run import Run, state_bytes
from mucore.errors import BadValue
from mucore.methods import scar
from mucore.training import records, train
from mucore.training.records import LearningEvents, named

SELF: dict[str, Any] = {"form": "self", "surrogate": "textures"}
NULL: dict[str, Any] = {"projection": "null_space", "null_epochs": 3, "null_batch_size": 64}
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("scar", {**SELF, "epochs": 1, "batch_size": 1024}),
    ("pseudo_labels", NULL),
    ("l1_sparse", {"pruning": "omp", "prune": 0.5}),
    ("l1_sparse", {"pruning": "imp", "prune": 0.3, "rewind": 0.0}),
    ("l1_sparse", {"pruning": "synflow", "prune": 0.5}),
    ("rum", {"proxy": "learning_events"}),
    ("rum", {"proxy": "heldout_retrain", "heldout_epochs": 2}),
    ("ssd", {"selection": "percentile"}),
    ("ssd", {"selection": "percentile", "fisher": "sample"}),
    ("ssd", {"fisher": "output_norm"}),
]
variants = pytest.mark.parametrize(
    ("method", "options"),
    VARIANTS,
    ids=[f"{name}-{'-'.join(map(str, o.values()))}" for name, o in VARIANTS],
)


# -- what every method must do


@pytest.mark.slow
@variants
def test_a_variant_gives_back_a_clean_model_and_repeats_itself(
    method: str, options: dict[str, Any]
):
    name: toy.Name = "conv"
    data, start = toy.request(name, natural=True), toy.trained(name)
    before = toy.fingerprint(start)
    first, run = toy.unlearn(method, data, name, **options)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        second, _ = toy.unlearn(method, data, name, **options)
    assert toy.same(first, second) and toy.fingerprint(start) == before
    assert run.status == "ok" and is_finite(first) and not list(toy.hooks(first))
    assert list(first.state_dict()) == list(start.state_dict()) and not toy.same(first, start)
    assert all(p.requires_grad for p in first.parameters())
    assert not any(module.training for module in first.modules())


# -- SCAR-self


def test_scar_self_shrinks_once_and_moves_to_kept_classes(monkeypatch: pytest.MonkeyPatch):
    shrinkings, phases = [], []

    class Watched(scar.Clusters):
        def __init__(self, *args: Any, **options: Any):
            shrinkings.append(options["shrinkings"])
            super().__init__(*args, **options)

    def still(model: nn.Module, given: list[Phase], *args: Any, **options: Any) -> nn.Module:
        phases.extend(given)
        return model

    monkeypatch.setattr(scar, "Clusters", Watched)
    monkeypatch.setattr(scar, "fit", still)
    data = replace(toy.request("mlp"), forgotten_classes=(0, 3))
    toy.unlearn("scar", data, "mlp", **SELF)
    toy.unlearn("scar", data, "mlp")
    assert shrinkings == [1, 2]
    labels = phases[0].at(0).labels
    assert len(labels) == COUNT and not set(labels.unique().tolist()) & {0, 3}
    said = toy.logits(toy.trained("mlp"), phases[0].at(0)).argmax(1)
    assert torch.equal(labels >= 0, torch.isin(said, torch.tensor([0, 3])))


# -- pseudo-labels in the null space (UNSC)


def test_a_basis_grows_until_it_holds_the_share():
    turn = torch.linalg.qr(draws(4, 4, seed=1)).Q
    # of 30
    moment = turn @ torch.diag(torch.tensor([16.0, 9.0, 4.0, 1.0], dtype=torch.float64)) @ turn.T
    for share, k in ((0.5, 1), (0.8, 2), (0.9, 3), (29.5 / 30, 4)):
        basis = extended(moment[:, :0], moment, share)
        assert basis.shape == (4, k)
        assert torch.allclose(basis.T @ basis, torch.eye(k, dtype=torch.float64))
        assert torch.allclose(basis @ basis.T, turn[:, :k] @ turn[:, :k].T)
    second = turn[:, 1:2]  # holds 0.3 already
    assert torch.equal(extended(second, moment, 0.25), second)
    grown = extended(second, moment, 0.5)
    assert torch.allclose(grown @ grown.T, turn[:, :2] @ turn[:, :2].T)
    assert extended(moment[:, :0], torch.zeros_like(moment), 0.9).shape == (4, 0)
    assert extended(moment[:, :0], moment * torch.nan, 0.9).isnan().all()


def test_class_bases_hold_each_class_to_its_share():
    data, model = toy.request("conv"), toy.original("conv")
    run = Run(seed=3)
    bases = class_bases(model, data.retain, data.retain.labels, run, total=4, share=0.9, count=20)
    assert run.cost.reads == {"retain/forward": 3 * 20}
    order = torch.randperm(len(data.retain), generator=Run(seed=3).rng("subset"))
    for label in (1, 2, 3):
        drawn = data.retain[order[data.retain.labels[order] == label][:20]]
        for name, moment in layer_moments(model, drawn, Run(seed=0)).items():
            basis = bases[name]
            assert (basis.T @ moment @ basis).trace() >= (0.9 + 0.025 * label) * moment.trace() * (
                1 - 1e-9
            )
    assert all(
        torch.allclose(b.T @ b, torch.eye(b.shape[1], dtype=b.dtype), atol=1e-8)
        for b in bases.values()
    )


def test_unsc_does_not_move_along_inputs_of_kept_classes():
    data = toy.in_float64(toy.request("mlp"))
    options = toy.settings(
        projection="null_space", energy=0.7, null_lr=0.1, null_batch_size=len(data.forget)
    )
    bases = class_bases(
        smooth(), data.retain, data.retain.labels, Run(seed=0), total=6, share=0.7, count=125
    )
    once, run = toy.unlearn("pseudo_labels", data, smooth(), null_epochs=1, **options)
    assert run.cost.steps == 1
    assert run.cost.reads["retain/forward"] == 5 * 125
    assert run.cost.reads["retain/backward"] == 0
    start = smooth()
    (batch,) = data.forget.batches(Run(seed=0), len(data.forget))
    told = start(batch.x).detach()
    told[:, 0] = -torch.inf
    gradients = dict(
        zip(
            dict(start.named_parameters()),
            torch.autograd.grad(
                nn.functional.cross_entropy(start(batch.x), told.argmax(1)),
                list(start.parameters()),
            ),
            strict=True,
        )
    )
    for name in ("1", "3"):
        basis, slope = bases[name], gradients[f"{name}.weight"]
        change = once.get_parameter(f"{name}.weight") - start.get_parameter(f"{name}.weight")
        assert 0 < basis.shape[1] < len(basis)
        assert (change @ basis).norm() < 1e-5 * change.norm()
        torch.testing.assert_close(
            change, -0.1 * (slope - slope @ basis @ basis.T), rtol=0, atol=1e-10
        )
        assert torch.equal(once.get_parameter(f"{name}.bias"), start.get_parameter(f"{name}.bias"))


# -- sparse originals


def test_synflow_scores_a_linear_network_by_its_paths():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        model = nn.Sequential(
            nn.Flatten(), nn.Linear(4, 5, bias=False), nn.Linear(5, 3, bias=False)
        )
    before = toy.fingerprint(model)
    masks = synflow_masks(model, (1, 2, 2), 0.4)
    assert toy.fingerprint(model) == before
    first, second = (
        model.get_parameter(f"{n}.weight").detach().double().abs().numpy() for n in (1, 2)
    )
    kept = np.ones(35, dtype=bool)
    for number in range(1, 101):
        a, b = first * kept[:20].reshape(5, 4), second * kept[20:].reshape(3, 5)
        # the sum over all paths through a weight of the product along it
        scores = np.concatenate([(a * b.sum(0)[:, None]).ravel(), (b * a.sum(1)[None, :]).ravel()])
        scores[~kept] = -1
        kept[np.argsort(scores)[: 35 - int(35 * 0.4 ** (number / 100) + 1e-9)]] = False
    assert np.array_equal(
        torch.cat([masks["1.weight"].flatten(), masks["2.weight"].flatten()]).numpy(), kept
    )


def everything(name: toy.Name) -> Samples:
    return toy.problem(name).samples(torch.arange(len(toy.problem(name).labels)), "train")


def test_one_shot_pruning_is_training_from_the_start_under_the_mask():
    data, initial, dense = everything("conv"), toy.problem("conv").network(0), toy.original("conv")
    before = toy.fingerprint(dense)
    record = SparseTraining(kind="omp", share=0.6, rewind=0.0, recipe=toy.RECIPE).train(
        initial, dense, data, Run(seed=1)
    )
    assert toy.fingerprint(dense) == before
    masks = top_fraction(magnitudes(dense), 0.4)
    assert all(torch.equal(masks[name], mask) for name, mask in named(record, "mask").items())
    wanted = toy.problem("conv").network(0)
    held = cut(wanted, masks)
    assert isinstance(held, MaskedStep)
    fit(
        wanted,
        [Phase(data=data, batch_size=64)],
        Run(seed=1),
        epochs=12,
        optimizer=Optimizer.of(toy.RECIPE),
        edit_grads=held.edit_grads,
        after_step=held.after_step,
    )
    assert all(
        torch.equal(t, wanted.state_dict()[name]) for name, t in named(record, "model").items()
    )


@pytest.mark.parametrize("kind", ["omp", "synflow", pytest.param("imp", marks=pytest.mark.slow)])
def test_a_sparse_original_is_learned_and_stays_sparse(kind: str):
    data = toy.request("conv", "random")
    options: dict[str, Any] = {"pruning": kind, "prune": 0.7}
    sparse, run = toy.unlearn("l1_sparse", data, "conv", epochs=0, **options)
    record = data.record[
        records.needed(catalog.method("l1_sparse"), {"rewind": 0.044, **options})[0]
    ]
    assert all(
        torch.equal(t, sparse.state_dict()[name]) for name, t in named(record, "model").items()
    )
    assert run.cost.persistent_bytes == state_bytes(record.values())
    assert toy.accuracy(sparse, data.retain) > 0.9
    masks = named(record, "mask")
    assert density(masks) == pytest.approx(0.3, abs=1e-3)
    result, _ = toy.unlearn("l1_sparse", data, "conv", lr=0.05, **options)
    assert not toy.same(result, sparse)
    assert all(not result.get_parameter(name).detach()[~mask].any() for name, mask in masks.items())


def test_which_sparse_original_is_needed():
    card = catalog.method("l1_sparse")
    assert records.needed(card, {"pruning": "magnitude", "prune": 0.5, "rewind": 0.1}) == []
    assert records.needed(card, {"pruning": "omp", "prune": 0.5, "rewind": 0.1}) == ["omp/0.5/0.1"]
    assert records.needed(card, {"pruning": "synflow", "prune": 0.5, "rewind": 0.1}) == [
        "synflow/0.5"
    ]
    assert SparseTraining.of("imp/0.25/0.1", toy.RECIPE) == SparseTraining(
        kind="imp", share=0.25, rewind=0.1, recipe=toy.RECIPE
    )
    with pytest.raises(BadValue, match="prune is 0. Set prune"):
        toy.unlearn("l1_sparse", "mlp", pruning="omp")


# -- RUM's other proxies


def test_learning_events_change_nothing_and_average_what_training_saw():
    data = toy.problem("conv").samples(torch.arange(60), "train", natural=True)
    recorder = LearningEvents()
    recorded = train(
        toy.problem("conv").network(0), data, toy.RECIPE, Run(seed=3), recorder=recorder
    )
    assert toy.same(recorded, train(toy.problem("conv").network(0), data, toy.RECIPE, Run(seed=3)))
    assert not list(toy.hooks(recorded)) and recorder.record()["confidence"].shape == (60,)
    assert torch.equal(recorder.count, torch.full((60,), 12.0))
    # by hand: two batches, the second model twice as sure
    by_hand, linear = LearningEvents(), nn.Linear(1, 2, bias=False)
    with torch.no_grad():
        linear.weight.copy_(torch.tensor([[1.0], [0.0]]))
    for ids, x in ((torch.tensor([4, 1]), [2.0, -1.0]), (torch.tensor([1]), [3.0])):
        labels = torch.zeros(len(ids), dtype=torch.int64)
        batch = next(toy.request("mlp").forget[torch.arange(len(ids))].batches(Run(seed=0), 9))
        given = replace(batch, x=torch.tensor(x).unsqueeze(1), y=labels, ids=ids, host=())
        value = by_hand.watch(lambda model, batch: model(batch.x).sum())(linear, given)
        assert value.item() == sum(x)
    found = by_hand.record()["confidence"]
    sure = [1 / (1 + math.exp(-each)) for each in (2.0, -1.0, 3.0)]
    assert found[[4, 1]].tolist() == pytest.approx([sure[0], (sure[1] + sure[2]) / 2], rel=1e-6)
    assert found[[0, 2, 3]].isnan().all()


def steps_of_rum(monkeypatch: pytest.MonkeyPatch) -> list[UnlearningData]:
    asked: list[UnlearningData] = []
    load = methods.load

    def step(model: nn.Module, data: UnlearningData, run: Run, **settings: Any) -> nn.Module:
        asked.append(data)
        return model

    monkeypatch.setattr(
        methods, "load", lambda name, *rest: load(name, *rest) if name == "rum" else step
    )
    return asked


def test_rum_takes_what_was_learned_early_for_least_memorised(monkeypatch: pytest.MonkeyPatch):
    asked, data = steps_of_rum(monkeypatch), toy.request("mlp", 9)
    confidence = torch.full((1800,), torch.nan)
    confidence[:9] = torch.tensor([0.1, 0.9, 0.5, 0.2, 0.8, 0.6, 0.3, 0.7, 0.4])
    record = {"learning_events": {"confidence": confidence}}
    _, run = toy.unlearn(
        "rum", replace(data, record=record), "mlp", proxy="learning_events", low="finetune"
    )
    assert [sorted(each.forget.ids.tolist()) for each in asked] == [[1, 4, 7], [2, 5, 8], [0, 3, 6]]
    assert run.cost.persistent_bytes == 4 * 1800 and not run.cost.reads
    assert records.needed(catalog.method("rum"), {"proxy": "learning_events"}) == [
        "learning_events"
    ]
    assert records.needed(catalog.method("rum"), {"proxy": "confidence"}) == []


def test_divergence_by_hand():
    p, q = torch.tensor([[0.5, 0.5], [1.0, 0.0]]), torch.tensor([[0.25, 0.75], [1.0, 0.0]])
    there = 0.5 * math.log(2) + 0.5 * math.log(2 / 3)
    back = 0.25 * math.log(0.5) + 0.75 * math.log(1.5)
    assert symmetric_divergence(p, q).tolist() == pytest.approx([(there + back) / 2, 0.0])
    assert torch.isfinite(
        symmetric_divergence(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]]))
    ).all()


# -- adaptive and loss-free SSD


def test_ratio_quantile_by_hand():
    first = {"a": torch.tensor([1.0, 8.0, 3.0]), "b": torch.tensor([[0.0, 5.0]])}
    second = {"a": torch.ones(3), "b": torch.zeros(1, 2)}
    assert ratio_quantile(first, second, 0.5) == 3.0  # 0/0 and 5/0 are left out of 1, 3, 8
    assert ratio_quantile(first, second, 0.75) == 5.5
    assert ratio_quantile({"b": second["b"]}, {"b": second["b"]}, 0.9) == math.inf


@pytest.mark.parametrize("fisher", ["batch", "sample", "output_norm"])
@pytest.mark.parametrize("forget", ["class", "random"])
def test_adaptive_ssd_selects_the_share_that_the_forget_set_calls_for(fisher: str, forget: Any):
    data, start = toy.request("mlp", forget), dict(toy.trained("mlp").named_parameters())
    result, run = toy.unlearn("ssd", data, "mlp", fisher=fisher, selection="percentile")
    # 16.7 % of the data: 2.9 % of the weights
    wanted = math.log(1 + 100 * len(data.forget) / 1800) / 100
    assert run.diagnostics["selected_fraction"] == pytest.approx(wanted, abs=3e-3)
    for name, p in result.named_parameters():
        assert (p.abs() <= start[name].abs()).all() and (p * start[name] >= 0).all()
        changed = p != start[name]
        assert (p[changed] / start[name][changed] <= 1 / run.diagnostics["alpha"] + 1e-6).all()


def test_loss_free_importance_of_a_linear_model_and_its_labels():
    data = toy.in_float64(toy.request("mlp", 50))
    model = nn.Sequential(nn.Flatten(), nn.Linear(16, 6)).double()
    found = output_sensitivity(model, data.forget, Run(seed=0), batch_size=25)
    wanted = torch.zeros(6, 16, dtype=torch.float64)
    for batch in data.forget.batches(Run(seed=0), 25):
        x = batch.x.flatten(1)
        wanted += (2 / 25 * model(batch.x).detach().T @ x).abs() / 2
    torch.testing.assert_close(found["1.weight"], wanted)
    other = replace(
        data,
        forget=data.forget.with_labels((data.forget.labels + 1) % 6),
        retain=data.retain.with_labels(data.retain.labels * 0),
    )
    first, second = (
        toy.unlearn("ssd", each, "mlp", fisher="output_norm")[0]
        for each in (
            toy.request("mlp", 50),
            replace(
                toy.request("mlp", 50),
                forget=replace(toy.request("mlp", 50).forget, labels=other.forget.labels),
            ),
        )
    )
    assert toy.same(first, second) and not toy.same(first, toy.trained("mlp"))
