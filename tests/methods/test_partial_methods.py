"""CF-k, EU-k, l1-sparse, Advanced NegGrad, SCRUB+R and RUM: what each one's own mathematics
demands.
"""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import Any

import pytest
import torch
import toy
from torch import Tensor, nn
from toy import PLAIN, gradient, smooth

from mucore import methods, models, training
from mucore.blocks.memorisation import DIRECTIONS, H, confidence_score, curvature_score
from mucore.engine.data import Samples, UnlearningData
from mucore.engine.layers import WEIGHT_LAYERS, tail, train_only
from mucore.engine.run import Run, state_bytes


def assert_moved(
    after: nn.Module, before: nn.Module, wanted: dict[str, Tensor], tolerance: float = 1e-12
) -> None:
    start = dict(before.named_parameters())
    for name, p in after.named_parameters():
        torch.testing.assert_close(
            p.detach() - start[name].detach(), wanted[name], rtol=0, atol=tolerance
        )


def frozen_part(model: nn.Module, chosen: dict[str, nn.Module]) -> list[str]:
    """Names of the tensors of the state that belong to no chosen module."""
    return [name for name in model.state_dict() if name.rpartition(".")[0] not in chosen]


# -- the last layers


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("name", ["resnet9-small", "resnet18", "mlp"])
def test_k_layers_hold_k_convolutions_and_linear_layers(name: str, k: int):
    model = models.build(name, in_channels=3, classes=7, image_size=32, seed=0)
    train_only(model, tail(model, "layer", k))
    layers = [module for module in model.modules() if isinstance(module, WEIGHT_LAYERS)]
    moving = [layer for layer in layers if layer.weight.requires_grad]
    assert moving == layers[-k:]
    assert all(
        p.requires_grad == layer.weight.requires_grad
        for layer in layers
        for p in layer.parameters()
    )


@pytest.mark.parametrize(
    ("name", "k", "children"),
    [
        ("resnet18", 1, ["layer4", "fc"]),
        ("resnet18", 3, ["layer2", "layer3", "layer4", "fc"]),
        ("resnet9-small", 1, ["residual2", "head"]),
        ("mlp", 2, ["hidden2", "hidden3", "head"]),
    ],
)
def test_a_block_is_a_child_of_the_network_and_the_classifier_comes_along(
    name: str, k: int, children: list[str]
):
    model = models.build(name, in_channels=3, classes=10, image_size=32, seed=0)
    wanted = {p for child in children for p in model.get_submodule(child).parameters()}
    # a wrapper has one child, which is not the block that anybody means
    for network in (model, nn.Sequential(model)):
        network.requires_grad_(True)
        share = train_only(network, tail(network, "block", k))
        assert {p for p in network.parameters() if p.requires_grad} == wanted
        assert share == pytest.approx(
            sum(p.numel() for p in wanted) / sum(p.numel() for p in model.parameters())
        )
    train_only(model, tail(model, "block", 99))
    assert all(p.requires_grad for p in model.parameters())


# -- CF-k and EU-k


@pytest.mark.parametrize("method", ["cf_k", "eu_k"])
@pytest.mark.parametrize("name", ["mlp", "conv"])
@pytest.mark.parametrize(("unit", "k"), [("block", 1), ("layer", 1), ("layer", 2)])
def test_frozen_weights_and_statistics_stay_bit_identical(
    method: str, name: toy.Name, unit: str, k: int
):
    start = toy.trained(name)
    chosen = tail(start, unit, k)  # ty: ignore[invalid-argument-type]
    result, run = toy.unlearn(method, name, k_unit=unit, k=k, weight_decay=0.01)
    before, after = start.state_dict(), result.state_dict()
    kept = frozen_part(start, chosen)
    assert kept and all(torch.equal(before[key], after[key]) for key in kept)
    assert not any(torch.equal(before[key], after[key]) for key in before if key not in kept)
    assert 0 < run.diagnostics["trained_share"] < 1
    assert all(p.requires_grad for p in result.parameters())


def test_cf_k_of_all_layers_is_finetune_bit_for_bit():
    data = toy.request("conv", "random", natural=True)
    same: dict[str, Any] = {"lr": 0.01, "epochs": 2, "batch_size": 64}
    first, first_run = toy.unlearn("cf_k", data, "conv", k=99, **same)
    second, second_run = toy.unlearn("finetune", data, "conv", **same)
    assert toy.same(first, second) and first_run.losses == second_run.losses


def test_eu_k_draws_kaiming_weights_by_its_seed():
    data = toy.request("mlp")
    options: dict[str, Any] = {"epochs": 0, "reset_from": "kaiming", "k": 99}
    first, second, other = (
        toy.unlearn("eu_k", data, "mlp", seed=seed, **options)[0] for seed in (0, 0, 1)
    )
    assert toy.same(first, second) and not toy.same(first, other, buffers=False)
    for module in first.modules():
        if isinstance(module, nn.Linear):
            # 64 · 16 draws and more: the deviation of a standard deviation is below 0.05 of it
            fan_in = module.weight.shape[1]
            assert module.weight.std().item() == pytest.approx(math.sqrt(2 / fan_in), rel=0.1)
            assert not module.bias.any()
        if isinstance(module, nn.BatchNorm1d):
            assert module.running_mean is not None and module.running_var is not None
            assert (module.weight == 1).all() and not module.bias.any()
            assert not module.running_mean.any() and (module.running_var == 1).all()


def test_eu_k_of_all_layers_is_retrain_under_the_same_order():
    data = toy.request("conv", "random", natural=True)
    recipe = toy.RECIPE.model_copy(update={"nesterov": False, "epochs": 3})
    retrained = training.train(toy.problem("conv").network(0), data.retain, recipe, Run(seed=5))
    result, _ = toy.unlearn(
        "eu_k",
        data,
        "conv",
        seed=5,
        k=99,
        lr=recipe.lr,
        epochs=3,
        batch_size=recipe.batch_size,
        momentum=recipe.momentum,
        weight_decay=recipe.weight_decay,
        schedule=recipe.schedule,
    )
    assert toy.same(result, retrained)


# -- Advanced NegGrad


def test_advanced_neggrad_steps_along_the_difference_of_gradients():
    data, model, rate = toy.in_float64(toy.request("mlp")), smooth(), 0.01
    options = toy.settings(lr=rate, epochs=1, batch_size=len(data.retain), forget_loss_cap=None)
    result, run = toy.on_copy("advanced_neggrad", data, model, **options, **PLAIN)
    # unequal batches still step
    assert run.cost.steps == 1 and len(data.retain) != len(data.forget)
    retain, forget = gradient(model, data.retain), gradient(model, data.forget)
    assert_moved(result, model, {name: -rate * (retain[name] - forget[name]) for name in retain})


# -- l1-sparse


def size(model: nn.Module) -> float:
    return sum(p.detach().abs().sum().item() for p in model.parameters())


def test_l1_sparse_takes_the_step_of_the_penalised_loss():
    data, model, rate, alpha = toy.in_float64(toy.request("mlp")), smooth(), 0.01, 0.05
    options = toy.settings(lr=rate, alpha=alpha, epochs=1, batch_size=len(data.retain))
    result, _ = toy.on_copy("l1_sparse", data, model, **options, **PLAIN)
    plain = gradient(model, data.retain)
    assert_moved(
        result,
        model,
        {
            name: -rate * (plain[name] + alpha * p.detach().sign())
            for name, p in model.named_parameters()
        },
    )


@pytest.mark.parametrize(
    ("plain_epochs", "weights"), [(0, [1, 0.75, 0.5, 0.25]), (2, [1, 0.5, 0, 0]), (4, [0, 0, 0, 0])]
)
def test_the_penalty_of_l1_sparse_fades_out(plain_epochs: int, weights: list[float]):
    # at rate zero the loss of each epoch is cross-entropy + α_t · ‖θ‖₁ with everything but α_t
    # constant; batches of equal size
    data, model = toy.in_float64(toy.request("mlp")), smooth()
    _, run = toy.on_copy(
        "l1_sparse",
        data,
        model,
        lr=0.0,
        epochs=4,
        alpha=0.2,
        plain_epochs=plain_epochs,
        batch_size=500,
        **PLAIN,
    )
    assert len(data.retain) == 1500
    constant = toy_loss(model, data.retain)
    assert run.losses == pytest.approx(
        [constant + 0.2 * weight * size(model) for weight in weights], rel=1e-5
    )


def toy_loss(model: nn.Module, samples: Samples) -> float:
    (batch,) = samples.batches(Run(seed=0), len(samples))
    return nn.functional.cross_entropy(model(batch.x), batch.y).item()


def test_pruned_convolutions_stay_zero():
    start = toy.trained("conv")
    result, run = toy.unlearn("l1_sparse", "conv", prune=0.6, lr=0.05)
    names = [name for name, module in start.named_modules() if isinstance(module, nn.Conv2d)]
    before = torch.cat(
        [start.get_parameter(f"{name}.weight").detach().abs().flatten() for name in names]
    )
    after = torch.cat([result.get_parameter(f"{name}.weight").detach().flatten() for name in names])
    kept = int(0.4 * len(before) + 1e-9)
    smallest = before.argsort()[: len(before) - kept]
    assert not after[smallest].any()
    assert (after != 0).sum() == kept
    assert all(
        (p != 0).all()
        for name, p in result.named_parameters()
        if name.rpartition(".")[0] not in names
    )
    # a mask of one byte a weight and its anchor of four
    assert run.cost.scratch_bytes == 5 * len(before)


# -- SCRUB+R


def scrubbing(**changes: Any) -> dict[str, Any]:
    return {
        "epochs": 3,
        "msteps": 2,
        "retain_batch_size": 64,
        "forget_batch_size": 32,
        "lr": 5e-3,
    } | changes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("granularity", "lr", "reached"),
    [("epoch", 1e-9, 0.3), ("epoch", 1e-2, 1.0), ("half_epoch", 1e-2, 0.3)],
)
def test_scrub_rewind_chooses_among_all_states_and_holds_those_that_differ_in_error(
    granularity: str, lr: float, reached: float
):
    """Against all states of SCRUB, taken on its way: passes of 10 and 24 steps."""
    ends = {"epoch": [34, 68, 92], "half_epoch": [10, 34, 44, 68, 92]}[granularity]
    data, model = toy.request("mlp"), toy.original("mlp")
    draws = torch.rand(len(data.validation), generator=torch.Generator().manual_seed(0))
    labels = torch.where(draws < reached, data.validation.labels, 0)
    data = replace(data, validation=data.validation.with_labels(labels))
    states: list[nn.Module] = [copy.deepcopy(model).eval()]
    watched = Run(seed=0)

    def see(model: nn.Module) -> None:
        if watched.cost.steps in ends:
            states.append(copy.deepcopy(model).eval())

    watched.observer = see
    toy.unlearn("scrub", data, "mlp", run=watched, **scrubbing(lr=lr))
    assert len(states) == 1 + len(ends)
    errors = [1 - toy.accuracy(state, data.forget) for state in states]
    unseen = data.validation[data.validation.labels == 0]
    target = 1 - toy.accuracy(states[-1], unseen)
    number = min(range(len(states)), key=lambda n: abs(errors[n] - target))
    result, run = toy.unlearn(
        "scrub_rewind", data, model, granularity=granularity, **scrubbing(lr=lr)
    )
    assert run.diagnostics["chosen_state"] == number and toy.same(result, states[number])
    assert run.diagnostics["target_error"] == pytest.approx(target)
    # the teacher is the first of them, and the network itself the last
    assert run.cost.scratch_bytes == len(set(errors[:-1])) * state_bytes(result)


@pytest.mark.parametrize(
    ("reference", "target"), [("reweighted", 0.75 * 0.25 + 0.25 * 1.0), ("filtered", 4 / 10)]
)
def test_the_error_to_reach_counts_the_classes_of_the_forget_set(reference: str, target: float):
    data, model = toy.request("mlp", "random"), toy.trained("mlp")
    right = [
        torch.nonzero(
            (data.validation.labels == c) & (toy.logits(model, data.validation).argmax(1) == c)
        ).flatten()
        for c in range(6)
    ]
    # class 0: six right and two wrong, class 1: two wrong, and class 3, of which nothing is to be
    # forgotten
    index = torch.cat([right[0][:6], right[4][:2], right[4][2:4], right[5][:7]])
    labels = torch.tensor([0] * 8 + [1] * 2 + [3] * 7)
    forget = data.forget[
        torch.cat(
            [torch.nonzero(data.forget.labels == c).flatten()[:n] for c, n in ((0, 3), (1, 1))]
        )
    ]
    data = replace(data, forget=forget, validation=data.validation[index].with_labels(labels))
    _, run = toy.unlearn(
        "scrub_rewind", data, "mlp", **scrubbing(lr=0.0, epochs=0), reference=reference
    )
    assert run.diagnostics["target_error"] == pytest.approx(target)


# -- RUM


def watch(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, UnlearningData, dict[str, Any]]]:
    """Replace the steps of RUM by ones that change nothing, and collect what they are asked to
    do.
    """
    calls = []

    def load(name: str, *rest: Any) -> Any:
        def step(model: nn.Module, data: UnlearningData, run: Run, **settings: Any) -> nn.Module:
            calls.append((name, data, settings))
            return model

        return step

    original = methods.load
    monkeypatch.setattr(
        methods, "load", lambda name, *rest: original(name, *rest) if name == "rum" else load(name)
    )
    return calls


@pytest.mark.parametrize("order", ["low_to_high", "high_to_low"])
@pytest.mark.parametrize("count", [100, 2])
def test_rum_parts_the_forget_set_and_retains_what_is_to_come(
    monkeypatch: pytest.MonkeyPatch, order: str, count: int
):
    calls, data = watch(monkeypatch), toy.request("mlp", count)
    toy.unlearn("rum", data, "mlp", low="finetune", order=order)
    groups = [set(request.forget.ids.tolist()) for _, request, _ in calls]
    assert len(groups) == min(count, 3)
    assert sum(map(len, groups)) == len(set.union(*groups)) == count
    assert max(map(len, groups)) - min(map(len, groups)) <= 1
    everything = set(data.retain.ids.tolist()) | set(data.forget.ids.tolist())
    for number, (_, request, _) in enumerate(calls):
        assert set(request.retain.ids.tolist()) == everything - set.union(*groups[: number + 1])
        labels = toy.problem("mlp").labels
        assert torch.equal(request.retain.labels, labels[request.retain.ids])
        assert request.retain.role == "retain"
    assert torch.equal(calls[-1][1].retain.ids, data.retain.ids)
    names = ["finetune", "finetune", "salun"]
    if count > 3:
        assert [name for name, _, _ in calls] == (names if order == "low_to_high" else names[::-1])
        scores = confidence_score(toy.original("mlp"), data.forget, Run(seed=0))
        by_id = dict(zip(data.forget.ids.tolist(), scores.tolist(), strict=True))
        low, medium, high = groups if order == "low_to_high" else groups[::-1]
        assert max(by_id[i] for i in low) <= min(by_id[i] for i in medium)
        assert max(by_id[i] for i in medium) <= min(by_id[i] for i in high)


def test_confidence_is_the_loss_of_each_sample():
    data, model = toy.request("mlp", "random"), toy.original("mlp")
    p = torch.softmax(toy.logits(model, data.forget).double(), 1)[
        torch.arange(len(data.forget)), data.forget.labels
    ]
    torch.testing.assert_close(
        confidence_score(model, data.forget, Run(seed=0)).double(), -p.log(), rtol=1e-4, atol=1e-6
    )


def test_curvature_of_a_linear_model_follows_its_formula():
    data = toy.request("mlp", 9)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        model = nn.Sequential(nn.Flatten(), nn.Linear(16, 6))
    run = Run(seed=4)
    scores = curvature_score(model, data.forget, run)
    assert run.cost.reads == {"forget/backward": 9 * (1 + DIRECTIONS)}
    # the gradient of cross-entropy by the input of a linear model is (p − e_y) W, so the difference
    # is (p(x + hv) − p(x)) W
    (batch,) = data.forget.batches(Run(seed=0), 9)
    weight, bias = (p.detach().double() for p in model.parameters())
    x = batch.x.flatten(1).double()
    generator, total = Run(seed=4).rng("noise"), torch.zeros(9, dtype=torch.float64)
    for _ in range(DIRECTIONS):
        v = (torch.randint(2, batch.x.shape, generator=generator) * 2 - 1).flatten(1).double()
        turn = torch.softmax((x + H * v) @ weight.T + bias, 1) - torch.softmax(
            x @ weight.T + bias, 1
        )
        total += (turn @ weight).square().sum(1)
    torch.testing.assert_close(scores.double(), total / DIRECTIONS, rtol=1e-3, atol=1e-9)
