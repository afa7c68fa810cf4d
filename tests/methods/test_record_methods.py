"""Methods that need a record of training, the recorders behind them, and the pieces they are made
of.
"""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
import toy
from torch import Tensor, nn
from toy import PLAIN, gradient, smooth

from mucore import catalog
from mucore.blocks import importance, stopping
from mucore.blocks.channels import Channels, add, gather
from mucore.blocks.foci import codec, foci
from mucore.blocks.layer_moments import layer_moments, protected, protected_inputs
from mucore.blocks.stopping import CrossedOver
from mucore.blocks.subset_newton import newton_step, noise_deviation, secant
from mucore.engine.data import Samples, UnlearningData
from mucore.engine.loop import Optimizer, Phase, fit
from mucore.engine.run import Run
from mucore.errors import BadValue, MucoreError
from mucore.runs import Recipe
from mucore.training import records, train
from mucore.training.records import FinalEpochs, PerStep, Recorder, RunningSum, named


def state(model: nn.Module) -> dict[str, Tensor]:
    return {name: p.detach().clone() for name, p in model.named_parameters()}


def close(first: dict[str, Tensor], second: dict[str, Tensor], tolerance: float) -> bool:
    return first.keys() == second.keys() and all(
        torch.allclose(first[k], second[k], rtol=0, atol=tolerance) for k in first
    )


# -- recorders


def test_amnesiac_asks_for_the_record_of_its_store_alone():
    card = catalog.method("amnesiac")
    assert records.needed(card, {"store": "running_sum", "lr": 0.1}) == ["running_sum"]
    assert records.needed(card, {"store": "per_step"}) == ["per_step"]
    assert records.needed(card, {"store": "replay"}) == []
    assert records.needed(catalog.method("unrolling"), {"variant": "posthoc"}) == []
    assert records.needed(catalog.method("l_codec"), {"cap": 3}) == ["final_epochs"]


def test_a_key_depends_on_the_forget_set_only_where_the_record_does():
    assert records.key("a", "running_sum", "x") != records.key("a", "running_sum", "y")
    assert records.key("a", "final_epochs", "x") == records.key("a", "final_epochs", "y")
    assert len(
        {records.key(original, name, "x") for original in "ab" for name in records.NAMES}
    ) == 2 * len(records.NAMES)


@pytest.mark.parametrize("name", ["mlp", pytest.param("conv", marks=pytest.mark.slow)])
def test_a_recorded_training_ends_in_the_same_bits(name: toy.Name):
    problem = toy.problem(name)
    data = problem.samples(torch.arange(len(problem.labels)), "train", natural=True)
    wanted = train(problem.network(0), data, toy.RECIPE, Run(seed=3))
    for recorder in (Recorder(), RunningSum(torch.arange(10)), PerStep(1e9), FinalEpochs()):
        assert toy.same(
            train(problem.network(0), data, toy.RECIPE, Run(seed=3), recorder=recorder), wanted
        )


def test_the_log_holds_every_step_and_its_batch():
    problem, data = toy.problem("conv"), toy.request("conv")
    log = data.record["per_step"]
    steps = toy.RECIPE.epochs * math.ceil(len(problem.labels) / toy.RECIPE.batch_size)
    assert log["ids"].shape == (steps, toy.RECIPE.batch_size)
    one_epoch = log["ids"][: steps // toy.RECIPE.epochs]
    assert sorted(one_epoch[one_epoch >= 0].tolist()) == list(range(len(problem.labels)))
    start, end = state(problem.network(0)), state(toy.trained("conv"))
    for name, updates in named(log, "update").items():
        assert torch.allclose(
            updates.double().sum(0), end[name].double() - start[name].double(), rtol=0, atol=1e-6
        )


def test_a_log_over_its_cap_is_refused_before_anything_is_trained():
    problem, run = toy.problem("conv"), Run(seed=0)
    data = problem.samples(torch.arange(len(problem.labels)), "train")
    with pytest.raises(
        BadValue, match=r"log of all 84 training steps takes .* more than the 1e-05 " r"GB allowed"
    ):
        train(problem.network(0), data, toy.RECIPE, run, recorder=PerStep(1e4))
    assert run.cost.steps == 0


def test_final_epochs_holds_the_gradient_of_full_batches_and_the_weights_between():
    data = toy.in_float64(toy.request("mlp", "random")).retain
    recipe = Recipe(
        epochs=4,
        batch_size=len(data),
        lr=0.1,
        momentum=0.0,
        nesterov=False,
        weight_decay=0.0,
        schedule="constant",
    )
    recorder, model = FinalEpochs(), smooth()
    end = state(train(model, data, recipe, Run(seed=0), recorder=recorder))
    before = copy.deepcopy(smooth())
    third = train(before, data, recipe.model_copy(update={"epochs": 3}), Run(seed=0))
    second = train(smooth(), data, recipe.model_copy(update={"epochs": 2}), Run(seed=0))
    record = recorder.record()
    assert close(named(record, "weights_before"), state(third), 1e-12)
    assert close(named(record, "gradient_last"), gradient(third, data), 1e-12)
    assert close(named(record, "gradient_before"), gradient(second, data), 1e-12)
    assert close(
        {k: (state(third)[k] - end[k]) / 0.1 for k in end}, named(record, "gradient_last"), 1e-10
    )


# -- amnesiac


def test_amnesiac_without_an_affected_step_is_the_identity_before_repair():
    data = toy.request("mlp", torch.tensor([], dtype=torch.int64))
    for store in ("running_sum", "per_step", "replay"):
        result, run = toy.unlearn("amnesiac", data, "mlp", store=store, repair_epochs=0)
        assert toy.same(result, toy.trained("mlp"))
        assert run.diagnostics["affected_steps"] == 0


@pytest.mark.slow
def test_the_ways_to_store_give_the_same_model():
    for name, forget in (("mlp", 3), ("conv", "random")):
        data = toy.request(name, forget)
        kept, logged, replayed = (
            toy.unlearn("amnesiac", data, name, store=store)
            for store in ("running_sum", "per_step", "replay")
        )
        assert 0 < kept[1].diagnostics["affected_steps"] <= 1
        assert toy.same(kept[0], replayed[0])
        before = [
            toy.unlearn("amnesiac", data, name, store=s, repair_epochs=0)[0]
            for s in ("running_sum", "per_step")
        ]
        assert close(state(before[0]), state(before[1]), 1e-6)
        assert not toy.same(before[0], toy.trained(name))
        weights = sum(p.numel() for p in kept[0].parameters())
        assert kept[1].cost.persistent_bytes == 4 * weights + 16
        assert replayed[1].cost.persistent_bytes == 0
        assert replayed[1].cost.steps > kept[1].cost.steps
        assert replayed[1].cost.reads["train/backward"] == toy.RECIPE.epochs * len(
            data.everything()
        )
        assert logged[1].cost.persistent_bytes > 80 * kept[1].cost.persistent_bytes


class Linear(RunningSum):
    """Records a training under a loss that is linear in the weights of a linear network; `skip`:
    affected batches teach nothing.
    """

    def __init__(self, forget: Tensor, *, skip: bool):
        super().__init__(forget)
        self.skip = skip

    def watch(self, loss):
        return self.loss

    def loss(self, model: nn.Module, batch) -> Tensor:
        self.see(batch)
        weight = 0.0 if self.skip and torch.isin(batch.ids, self.forget).any() else 1.0
        return -weight * model(batch.x).gather(1, batch.y[:, None]).mean()


@pytest.mark.parametrize(("momentum", "exact"), [(0.0, True), (0.9, False)])
def test_amnesiac_is_training_without_the_batches_for_a_linear_loss_and_plain_sgd(
    momentum: float, exact: bool
):
    data = toy.in_float64(toy.request("mlp", 5))
    recipe = Recipe(
        epochs=2, batch_size=64, lr=0.1, momentum=momentum, weight_decay=0.0, schedule="cosine"
    )

    def trained(skip: bool) -> tuple[nn.Module, RunningSum]:
        model = nn.Sequential(nn.Flatten(), nn.Linear(16, 6)).double()
        watch = Linear(data.forget.ids, skip=skip)
        with torch.no_grad():
            for p in model.parameters():
                p.zero_()
        return train(model, data.everything(), recipe, Run(seed=0), recorder=watch), watch

    (original, watch), (wanted, _) = trained(False), trained(True)
    result, run = toy.unlearn(
        "amnesiac", replace(data, record={"running_sum": watch.record()}), original, repair_epochs=0
    )
    assert 0 < run.diagnostics["affected_steps"] < 1
    assert close(state(result), state(wanted), 1e-12) == exact


def test_a_replay_that_ends_elsewhere_is_refused():
    model = toy.original("mlp")
    with torch.no_grad():
        model.get_parameter("1.bias")[0] += 1e-6
    with pytest.raises(MucoreError, match="ended in other weights"):
        toy.unlearn("amnesiac", toy.request("mlp"), model, store="replay")


# -- unrolling


def two_stage(data: UnlearningData, **changes: Any) -> UnlearningData:
    recipe = Recipe(
        epochs=2,
        batch_size=64,
        lr=0.05,
        momentum=0.0,
        nesterov=False,
        weight_decay=0.0,
        schedule="constant",
    )
    return replace(data, record={"initial": smooth}, recipe=recipe, **changes)


def test_unrolling_is_retraining_for_a_linear_loss(monkeypatch):
    def linear(logits: Tensor, labels: Tensor, reduction: str = "mean") -> Tensor:
        return -logits.gather(1, labels[:, None]).mean()

    def network() -> nn.Module:
        return nn.Sequential(nn.Flatten(), nn.Linear(16, 6)).double().requires_grad_(True)

    start = network()
    data = replace(
        two_stage(toy.in_float64(toy.request("mlp", 50))),
        record={"initial": lambda: copy.deepcopy(start)},
    )
    monkeypatch.setattr(nn.functional, "cross_entropy", linear)
    monkeypatch.setattr(importance._total, "__defaults__", (linear,))
    options = toy.settings(variant="two_stage", epochs=3, lr=0.01, batch_size=64) | PLAIN
    result, _ = toy.unlearn("unrolling", data, network(), **options)
    wanted = train(copy.deepcopy(start), data.retain, data.recipe, Run(seed=0))
    fit(
        wanted,
        [Phase(data=data.retain, batch_size=64, shuffle=False)],
        Run(seed=0),
        epochs=3,
        optimizer=Optimizer(lr=0.01),
    )
    assert close(state(result), state(wanted), 1e-12)
    assert not close(state(result), state(start), 1e-3)


@pytest.mark.parametrize("variant", ["init_grad_then_ft", "posthoc"])
def test_unrolling_with_nothing_to_add_is_finetune(variant: str):
    data = toy.request("mlp", natural=True)
    same: dict[str, Any] = {"lr": 0.02, "epochs": 2, "batch_size": 64}
    first, _ = toy.unlearn("unrolling", data, "mlp", variant=variant, kappa=0.0, **same)
    second, _ = toy.unlearn("finetune", data, "mlp", **same)
    assert toy.same(first, second)


def test_two_stage_trains_what_retraining_would():
    data = toy.request("mlp")
    seen: dict[int, dict[str, Tensor]] = {}
    # the network without the forget set belongs to the training's seed, not to the method's
    for seed in (0, 1):
        result, _ = toy.unlearn(
            "unrolling", data, "mlp", variant="two_stage", lr=1e-12, epochs=1, seed=seed, **PLAIN
        )
        seen[seed] = state(result)
    wanted = train(toy.problem("mlp").network(0), data.retain, data.recipe, Run(seed=0))
    assert close(seen[0], state(wanted), 1e-7) and close(seen[1], state(wanted), 1e-7)


# -- PGU


def moments_by_hand(x: Tensor, layer: nn.Conv2d) -> Tensor:
    """Patches cut out one by one."""
    size, stride, padding = layer.kernel_size[0], layer.stride[0], int(layer.padding[0])
    padded = nn.functional.pad(x, (padding,) * 4).double()
    rows = [
        padded[:, :, i : i + size, j : j + size].flatten(1)
        for i in range(0, padded.shape[2] - size + 1, stride)
        for j in range(0, padded.shape[3] - size + 1, stride)
    ]
    every = torch.cat(rows)
    return every.T @ every


def test_moments_are_sums_over_patches_and_add_up():
    data, model = toy.request("conv", "random"), toy.original("conv")
    whole, forget, retain = (
        layer_moments(model, s, Run(seed=0)) for s in (data.everything(), data.forget, data.retain)
    )
    assert list(whole) == ["0", "4", "7", "12"]
    for name, moment in whole.items():
        assert torch.allclose(
            moment - forget[name], retain[name], rtol=1e-5, atol=1e-5 * float(moment.abs().max())
        )
    (batch,) = data.forget.batches(Run(seed=0), len(data.forget))
    with torch.no_grad():
        inputs = {0: batch.x, 7: model[:7](batch.x)}
    for index, x in inputs.items():
        layer = model[index]
        assert isinstance(layer, nn.Conv2d)
        wanted = moments_by_hand(x, layer)
        assert torch.allclose(
            forget[str(index)], wanted, rtol=1e-4, atol=1e-5 * float(wanted.max())
        )
    assert not [hook for module in model.modules() for hook in module._forward_pre_hooks.values()]


def test_protected_counts_singular_values_by_their_cumulated_sum():
    turn = torch.linalg.qr(
        torch.randn(4, 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    ).Q
    # singular values 4, 3, 2, 1 of 10
    moment = turn @ torch.diag(torch.tensor([16.0, 9.0, 4.0, 1.0], dtype=torch.float64)) @ turn.T
    for share, k in ((0.39, 0), (0.5, 1), (0.75, 2), (0.95, 3)):
        basis = protected(moment, share)
        assert basis is not None and basis.shape == (4, k)
        projector = basis @ basis.T
        assert torch.allclose(projector @ projector, projector)
        assert torch.allclose(projector, projector.T)
        assert torch.allclose(projector, turn[:, :k] @ turn[:, :k].T)
    more = protected(moment, 0.5, extra=1)
    assert more is not None and more.shape == (4, 2)
    assert protected(moment, 1.0) is None and protected(moment, 0.95, extra=1) is None
    for share in (0.39, 0.75):
        basis, free = protected(moment, share), protected(moment, share, free=True)
        assert basis is not None and free is not None
        assert torch.allclose(basis @ basis.T + free @ free.T, torch.eye(4, dtype=torch.float64))
    negative = protected(moment - 20 * torch.eye(4, dtype=torch.float64), 0.5)
    assert negative is not None and negative.shape == (4, 0)


def in_double(data: UnlearningData) -> UnlearningData:
    wide = toy.in_float64(data)
    return replace(
        wide, record={"layer_moments": layer_moments(smooth(), wide.everything(), Run(seed=0))}
    )


def test_pgu_does_not_move_along_protected_inputs():
    data = in_double(toy.request("mlp"))
    result, run = toy.unlearn(
        "pgu", data, smooth(), epochs=1, batch_size=len(data.forget), retained_var=0.7
    )
    assert run.cost.steps == 1
    bases = protected_inputs(
        data.record["layer_moments"],
        layer_moments(smooth(), data.forget, Run(seed=0)),
        0.7,
        extra=1,
    )
    free, _ = toy.unlearn(
        "pgu",
        data,
        smooth(),
        epochs=1,
        batch_size=len(data.forget),
        retained_var=0.0,
        class_stop="retain",
    )
    for name in ("1", "3"):
        change, unbound = (
            m.get_parameter(f"{name}.weight") - smooth().get_parameter(f"{name}.weight")
            for m in (result, free)
        )
        basis = bases[name]
        assert 1 < basis.shape[1] < len(basis)
        assert (change @ basis).norm() <= 1e-12 * (unbound @ basis).norm()
        assert change.norm() > 1e-6
    assert run.cost.persistent_bytes == 8 * (16**2 + 20**2)


def test_pgu_takes_the_step_of_its_loss():
    data = in_double(toy.request("mlp", "random"))
    # nothing to protect
    record = {name: torch.zeros_like(m) for name, m in data.record["layer_moments"].items()}
    original = smooth()
    with torch.no_grad():  # so that the forget set is not below the validation set before the start
        original.get_parameter("3.bias")[:] = 0

    def loss(logits: Tensor, labels: Tensor) -> Tensor:
        p = logits.softmax(1)
        chance = p[torch.arange(len(labels)), labels]
        return -torch.log(1.1 - chance).mean() + 0.3 * (p * p.log()).sum(1).mean()

    request = replace(
        data,
        record={"layer_moments": record},
        validation=data.validation[torch.tensor([], dtype=torch.int64)],
    )
    options: dict[str, Any] = {"offset": 0.1, "entropy_weight": 0.3, "weight_decay": 0.01}
    result, _ = toy.on_copy(
        "pgu", request, original, epochs=2, lr=0.4, lr_end=0.1, batch_size=10_000, **options
    )
    wanted = copy.deepcopy(original)
    for rate in (0.2, 0.1):  # 0.4 · (0.1 / 0.4)^(e/2)
        slope = gradient(wanted, data.forget, loss)
        with torch.no_grad():
            for name in ("1.weight", "3.weight"):
                p = wanted.get_parameter(name)
                p -= rate * (slope[name] + 0.01 * p)
    assert close(state(result), state(wanted), 1e-6)  # the method's softmax is in single precision
    assert not close(state(result), state(original), 1e-3)


def test_pgu_ends_when_the_forget_set_is_below_the_validation_set():
    data = toy.request("mlp", "random")
    result, run = toy.unlearn("pgu", data, "mlp", epochs=60, lr=0.5, lr_end=0.5, retained_var=0.3)
    assert run.stop_reason is None or "below the validation set" in run.stop_reason
    assert run.stop_reason is not None or toy.accuracy(result, data.forget) >= toy.accuracy(
        result, data.validation
    )


def test_crossing_over_keeps_the_nearer_state(monkeypatch):
    data = toy.request("mlp", "random")
    for second, kept in ((0.88, 2.0), (0.7, 1.0)):  # gaps: -0.1, then 0.02 or 0.2

        def said(model: nn.Linear, samples: Samples, run: Run, second: float = second) -> float:
            of_forget = {1.0: 1.0, 2.0: second}[model.weight.item()]
            return of_forget if samples is data.forget else 0.9

        def unseen(model: nn.Linear, samples: Samples, run: Run, above: float) -> float | None:
            return 0.9 if above < 0.9 else None

        monkeypatch.setattr(stopping, "accuracy", said)
        monkeypatch.setattr(stopping, "accuracy_between", unseen)
        rule, model = CrossedOver(data.forget, data.validation, Run(seed=0)), nn.Linear(1, 1)
        for value, wanted in ((1.0, False), (2.0, True)):
            with torch.no_grad():
                model.weight.fill_(value)
            assert (rule(model, int(value)) is not None) == wanted
        assert model.weight.item() == kept


# -- L-CODEC


def codec_by_hand(y: np.ndarray, z: np.ndarray, x: np.ndarray | None = None) -> float:
    """The two formulas with loops (Azadkia and Chatterjee, 2021, for values without ties)."""
    m = len(y)
    rank = [sum(y <= value) for value in y]

    def nearest(columns: np.ndarray, i: int) -> int:
        distance = [
            np.inf if k == i else float(((columns[i] - columns[k]) ** 2).sum()) for k in range(m)
        ]
        return int(np.argmin(distance))

    if x is None:
        above = sum(
            m * min(rank[i], rank[nearest(z, i)]) - (m + 1 - rank[i]) ** 2 for i in range(m)
        )
        return above / sum((m + 1 - r) * (r - 1) for r in rank)
    both = np.hstack([x, z])
    above = sum(
        min(rank[i], rank[nearest(both, i)]) - min(rank[i], rank[nearest(x, i)]) for i in range(m)
    )
    return above / sum(rank[i] - min(rank[i], rank[nearest(x, i)]) for i in range(m))


RUN = Run(seed=0)  # asks nobody whether to end


def test_codec_matches_the_formulas():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(40, 2)), rng.normal(size=(40, 1))
    y = x[:, 0] + 0.5 * z[:, 0] + 0.1 * rng.normal(size=40)
    assert codec(torch.tensor(y), torch.tensor(x), RUN) == pytest.approx(codec_by_hand(y, x))
    # greedy: alone first, then given what is chosen
    columns = np.hstack([x, z, rng.normal(size=(40, 3))])
    first = int(np.argmax([codec_by_hand(y, columns[:, [j]]) for j in range(6)]))
    gains = {
        j: codec_by_hand(y, columns[:, [j]], columns[:, [first]]) for j in range(6) if j != first
    }
    second = max(gains, key=lambda j: gains[j])
    assert gains[second] > 0
    assert foci(torch.tensor(y), torch.tensor(columns), 2, RUN) == [first, second]


def test_foci_picks_what_the_response_is_made_of():
    rng = np.random.default_rng(2)
    columns = torch.tensor(rng.normal(size=(300, 12)))
    y = columns[:, 3] + columns[:, 7]
    assert set(foci(y, columns, 2, RUN)) == {3, 7}
    assert set(foci(y, columns, 2, RUN, candidates=4)) == {3, 7}
    assert len(foci(y, columns, 1, RUN)) == 1
    assert len(foci(y, columns, 50, RUN)) <= 12
    # only ranks of the response count
    assert foci(y, columns, 5, RUN) == foci(y * 10 - 3, columns, 5, RUN)


def test_newton_step_is_the_dense_solve():
    generator = torch.Generator().manual_seed(0)
    g, a, b = (torch.randn(7, generator=generator, dtype=torch.float64) for _ in range(3))
    for removed, n, scale in ((1, 100, 1.0), (10, 100, 0.1)):
        left = n - removed
        hessian = (
            n * torch.outer(a, a) - removed * scale**2 * torch.outer(b, b)
        ) / left + 0.3 * torch.eye(7, dtype=torch.float64)
        wanted = removed / left * torch.linalg.solve(hessian, g)
        assert torch.allclose(
            newton_step(g, a, scale * b, removed=removed, n=n, damping=0.3),
            wanted,
            rtol=1e-12,
            atol=1e-15,
        )
    # a direction of strongly negative curvature is left out
    alone = (100 * torch.outer(a, a)) / 99 + 0.3 * torch.eye(7, dtype=torch.float64)
    assert torch.allclose(
        newton_step(g, a, 50 * b, removed=1, n=100, damping=0.3),
        torch.linalg.solve(alone, g) / 99,
        rtol=1e-10,
    )
    still = newton_step(
        g, torch.zeros(7).double(), torch.zeros(7).double(), removed=1, n=100, damping=0.3
    )
    assert torch.allclose(still, g / 0.3 / 99)


def test_secant_and_noise_by_hand():
    assert torch.equal(
        secant(torch.tensor([3.0, -6.0]), torch.tensor([-4.0, 5.0])), torch.tensor([1.0, -2.0])
    )
    assert torch.equal(secant(torch.tensor([1.0]), torch.tensor([0.0])), torch.tensor([0.0]))
    values = [noise_deviation(50_000, damping, 0.1, 0.01) for damping in (0.01, 1e-3, 5e-4)]
    assert values == pytest.approx([6.2e-3, 6.2, 50], rel=0.01)


def test_channels_and_their_weights():
    model, data = toy.original("conv"), toy.request("conv")
    channels = Channels(model)
    assert len(channels) == 8 + 16 + 16 + 4
    (batch,) = data.forget.batches(Run(seed=0), len(data.forget))
    values, logits = channels.values(batch.x, RUN)
    with torch.no_grad():
        assert torch.equal(logits, model(batch.x))
        assert torch.allclose(values[:, :8], model[0](batch.x).mean((2, 3)), atol=1e-6)
        assert torch.allclose(values[:, 40:], logits, atol=1e-5)
    rows = channels.rows([41, 2, 5, 8])
    assert {name: index.tolist() for name, index in rows.items()} == {
        "0.weight": [2, 5],
        "4.weight": [0],
        "4.bias": [0],
        "12.weight": [1],
        "12.bias": [1],
    }
    weights, start = dict(model.named_parameters()), toy.trained("conv")
    vector = gather(weights, rows)
    assert len(vector) == 2 * 9 + 8 * 9 + 1 + 16 + 1
    add(weights, rows, torch.ones_like(vector))
    assert torch.allclose(gather(weights, rows), vector + 1)
    others = start.get_parameter("0.weight")[[0, 1, 3, 4, 6, 7]]
    assert torch.equal(weights["0.weight"][[0, 1, 3, 4, 6, 7]], others)
    assert torch.equal(weights["7.weight"], start.get_parameter("7.weight"))


def test_l_codec_changes_the_chosen_channels_alone():
    start, data = toy.trained("conv"), toy.request("conv", 3)
    options = toy.settings(group=3, l2_reg=1e-2, epsilon=None, val_gap=1.0, perturbations=50)
    result, run = toy.unlearn("l_codec", data, "conv", cap=2, **options)
    channels = set()
    for name, p in result.named_parameters():
        changed = (
            (p != start.get_parameter(name)).flatten(1).any(1)
            if p.dim() > 1
            else p != start.get_parameter(name)
        )
        channels |= {(name.partition(".")[0], int(channel)) for channel in changed.nonzero()}
    assert 1 <= len(channels) <= 2
    assert {index for index, _ in channels} <= {"0", "4", "7", "12"}  # no batch norm
    buffers = dict(start.named_buffers())
    assert all(torch.equal(value, buffers[name]) for name, value in result.named_buffers())
    assert run.diagnostics["noise_deviation"] == 0
    weights = sum(p.numel() for p in start.parameters())
    assert run.cost.persistent_bytes == 3 * 4 * weights


def test_l_codec_undoes_what_hurts():
    result, run = toy.unlearn(
        "l_codec", toy.request("conv", 40), "conv", l2_reg=1e-3, val_gap=0.0, cap=20
    )
    assert run.diagnostics["noise_deviation"] > 10
    assert run.diagnostics["undone_share"] == 1
    assert toy.same(result, toy.trained("conv"))
