"""The training loop: its optimisers, batch-norm modes, guards, checkpoints and counters."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
import toy
from torch import Tensor, nn

from mucore.engine.batch import Batch
from mucore.engine.loop import Optimizer, Phase, cross_entropy, fit
from mucore.engine.run import Progress, Run
from mucore.errors import Cancelled

SGD = Optimizer(lr=0.05, momentum=0.9, weight_decay=5e-4)


def train(
    model: nn.Module,
    *,
    run: Run | None = None,
    epochs: int = 2,
    optimizer: Optimizer = SGD,
    batch_size: int = 64,
    **options: Any,
) -> Run:
    run = run or Run(seed=0)
    fit(
        model,
        [Phase(data=toy.request("mlp").retain, batch_size=batch_size)],
        run,
        epochs=epochs,
        optimizer=optimizer,
        **options,
    )
    return run


def buffers(model: nn.Module) -> list[Tensor]:
    return [value.clone() for value in model.buffers()]


def equal(first: list[Tensor], second: list[Tensor]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


# -- what it computes


@pytest.mark.parametrize(
    "optimizer",
    [
        SGD,
        Optimizer(lr=0.05, momentum=0.9, nesterov=True, schedule="cosine"),
        Optimizer(lr=1e-3, name="adamw", weight_decay=0.1, schedule="onecycle"),
    ],
    ids=["sgd", "nesterov cosine", "adamw onecycle"],
)
def test_equals_a_bare_loop(optimizer: Optimizer):
    model, data = toy.problem("mlp").network(1), toy.request("mlp").retain
    bare = copy.deepcopy(model)
    run = train(model, optimizer=optimizer, epochs=3)

    engine = optimizer.make(list(bare.parameters()))
    surroundings, step, total, losses = Run(seed=0), 0, 3 * data.steps(64), []
    for epoch in range(3):
        bare.train()
        epoch_losses = []
        for batch in data.batches(surroundings, 64, shuffle=True, augment=True):
            for group in engine.param_groups:
                group["lr"] = optimizer.lr * optimizer.factor(step, total, epoch)
            engine.zero_grad()
            loss = nn.functional.cross_entropy(bare(batch.x), batch.y)
            loss.backward()
            engine.step()
            epoch_losses.append(loss.item())
            step += 1
        losses.append(sum(epoch_losses) / len(epoch_losses))
    assert toy.same(model, bare)
    assert run.losses == pytest.approx(losses, rel=1e-5)
    assert run.cost.steps == step
    assert run.cost.reads == {"retain/backward": 3 * len(data)}
    assert not model.training


def test_step_schedule_drops_after_each_milestone():
    optimizer = Optimizer(lr=1.0, schedule="step", milestones=(3, 5, 9), rho=0.1)
    # SCRUB: lr0 · rho ** count(m : e > m), e from 1
    factors = [optimizer.factor(0, 1, epoch) for epoch in range(10)]
    assert factors == pytest.approx([1, 1, 1, 0.1, 0.1, 0.01, 0.01, 0.01, 0.01, 0.001])


def test_cosine_and_onecycle_end_near_zero():
    for schedule in ("cosine", "onecycle"):
        optimizer = Optimizer(lr=1.0, schedule=schedule)
        factors = [optimizer.factor(step, 100, 0) for step in range(100)]
        assert max(factors) == pytest.approx(1.0, abs=0.05)
        assert 0 <= factors[-1] < 0.01


def test_clipping_limits_the_step():
    model = toy.problem("mlp").network(1)
    start = [p.detach().clone() for p in model.parameters()]
    train(model, epochs=1, batch_size=4000, optimizer=Optimizer(lr=1.0, grad_clip=1e-3))
    step = torch.cat(
        [(p.detach() - q).flatten() for p, q in zip(model.parameters(), start, strict=True)]
    ).norm()
    assert step == pytest.approx(1e-3, rel=1e-3)


def test_phases_run_in_order_and_only_when_they_should():
    data, seen = toy.request("mlp"), []

    def watched(name: str):
        def loss(model: nn.Module, batch: Batch) -> Tensor:
            seen.append(name)
            return cross_entropy(model, batch)

        return loss

    phases = [
        Phase(
            data=data.forget, batch_size=300, loss=watched("forget"), when=lambda epoch: epoch < 1
        ),
        Phase(
            data=lambda epoch: data.retain[torch.arange(100 * (epoch + 1))],
            batch_size=100,
            loss=watched("retain"),
        ),
    ]
    fit(toy.original("mlp"), phases, Run(seed=0), epochs=2, optimizer=SGD)
    assert seen == ["forget", "retain", "retain", "retain"]


def test_a_set_beside_is_cycled():
    data, sizes = toy.request("mlp", 70), []

    def loss(model: nn.Module, batch: Batch, other: Batch) -> Tensor:
        sizes.append((len(batch), len(other)))
        return cross_entropy(model, batch) + cross_entropy(model, other)

    run = Run(seed=0)
    phase = Phase(
        data=data.retain[torch.arange(200)],
        batch_size=50,
        loss=loss,
        beside=data.forget,
        beside_batch_size=40,
    )
    fit(toy.original("mlp"), [phase], run, epochs=1, optimizer=SGD)
    assert sizes == [(50, 40), (50, 30), (50, 40), (50, 30)]
    assert run.cost.reads == {"retain/backward": 200, "forget/backward": 140}


def test_stop_ends_the_loop_with_its_reason():
    run = train(
        toy.original("mlp"), epochs=5, stop=lambda model, epoch: "enough" if epoch == 1 else None
    )
    assert run.stop_reason == "enough"
    assert len(run.losses) == 2


def test_frozen_parameters_do_not_move():
    model = toy.original("mlp")
    model[1].requires_grad_(False)
    model[2].requires_grad_(False)
    weight = model.get_parameter("1.weight").detach().clone()
    statistics = model.get_buffer("2.running_mean").clone()
    train(model)
    assert torch.equal(model.get_parameter("1.weight"), weight)
    # a batch norm that does not learn stays in eval mode
    assert torch.equal(model.get_buffer("2.running_mean"), statistics)
    assert not torch.equal(
        model.get_parameter("4.weight"), toy.trained("mlp").get_parameter("4.weight")
    )


# -- batch norm


@pytest.mark.parametrize(("bn", "moves"), [("train", True), ("frozen", False), ("eval", False)])
def test_batch_norm_modes(bn, moves: bool):
    model = toy.original("mlp")
    start, scale = buffers(model), model.get_parameter("2.weight").detach().clone()
    train(model, bn=bn)
    assert equal(buffers(model), start) != moves
    assert not torch.equal(model.get_parameter("2.weight"), scale)


def test_dropout_is_active_when_batch_norm_is_frozen_and_not_in_eval():
    seen: list[tuple[bool, bool]] = []

    class Watch(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.Sequential(nn.Flatten(), nn.Linear(16, 6), nn.BatchNorm1d(6))

        def forward(self, x: Tensor) -> Tensor:
            seen.append((self.training, self.layers[2].training))
            return self.layers(x)

    for bn in ("train", "frozen", "eval"):
        train(Watch(), bn=bn, epochs=1, batch_size=4000)
    assert seen == [(True, True), (True, False), (False, False)]


@pytest.mark.parametrize(("count", "batch_size", "steps"), [(65, 64, 1), (1, 64, 1), (3, 1, 3)])
def test_single_samples_never_break_batch_norm(count: int, batch_size: int, steps: int):
    model, run = toy.original("mlp"), Run(seed=0)
    start = buffers(model)
    data = toy.request("mlp").retain[torch.arange(count)]
    fit(model, [Phase(data=data, batch_size=batch_size)], run, epochs=1, optimizer=SGD)
    assert run.cost.steps == steps
    assert not toy.same(model, toy.trained("mlp"), buffers=False)
    lone = count != 65
    assert equal(buffers(model), start) == lone
    assert any("one sample" in note for note in run.notes) == lone
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


def test_a_lone_sample_beside_leaves_the_other_batch_its_statistics():
    model, data = toy.original("mlp"), toy.request("mlp", 1)
    start = buffers(model)

    def loss(model: nn.Module, batch: Batch, other: Batch) -> Tensor:
        return cross_entropy(model, other) + cross_entropy(model, batch)

    fit(
        model,
        [Phase(data=data.retain, batch_size=64, loss=loss, beside=data.forget)],
        Run(seed=0),
        epochs=1,
        optimizer=SGD,
    )
    assert not equal(buffers(model), start)
    assert int(model.get_buffer("2.num_batches_tracked")) - int(start[2]) == data.retain.steps(64)


# -- guards


def test_divergence_keeps_the_last_good_epoch():
    model, data = toy.original("mlp"), toy.request("mlp").retain
    good = toy.original("mlp")
    train(good, epochs=1)
    steps: list[int] = []

    def loss(model: nn.Module, batch: Batch) -> Tensor:
        steps.append(1)
        return cross_entropy(model, batch) * (1.0 if len(steps) <= data.steps(64) else torch.nan)

    run = Run(seed=0)
    fit(model, [Phase(data=data, batch_size=64, loss=loss)], run, epochs=3, optimizer=SGD)
    assert run.status == "diverged" and len(run.losses) == 1
    assert toy.same(model, good)


def test_cancel_is_asked_at_every_step():
    asked: list[int] = []

    def cancelled() -> bool:
        asked.append(1)
        return len(asked) == 4  # once before the first

    run = Run(seed=0, cancelled=cancelled)
    with pytest.raises(Cancelled):
        train(toy.original("mlp"), run=run)
    assert run.cost.steps == 3


def test_progress_rises_to_one_and_carries_the_losses():
    told: list[Progress] = []
    run = train(toy.original("mlp"), run=Run(seed=0, on_progress=told.append), epochs=3)
    fractions = [moment.fraction for moment in told]
    assert fractions == sorted(fractions) and fractions[-1] == 1.0
    assert [moment.loss for moment in told if moment.loss is not None] == run.losses


# -- checkpoints


class Memory:
    """Checkpoints as a training keeps them, in memory; `dies_after` ends the training at a save."""

    every = 2

    def __init__(self, dies_after: int | None = None):
        self.state: dict | None = None
        self.saves, self.dies_after = 0, dies_after

    def load(self) -> dict | None:
        return copy.deepcopy(self.state)

    def save(self, state: dict) -> None:
        self.state = copy.deepcopy(state)
        self.saves += 1
        if self.saves == self.dies_after:
            raise KeyboardInterrupt


@pytest.mark.parametrize(
    "optimizer",
    [
        Optimizer(lr=0.05, momentum=0.9, nesterov=True, schedule="cosine"),
        Optimizer(lr=1e-3, name="adam"),
    ],
    ids=["sgd", "adam"],
)
def test_a_resumed_training_ends_where_an_undisturbed_one_does(optimizer: Optimizer):
    data = toy.request("conv", natural=True).retain
    phases = [Phase(data=data, batch_size=64)]
    network = toy.problem("conv").network
    undisturbed, run = network(3), Run(seed=4)
    fit(undisturbed, phases, run, epochs=6, optimizer=optimizer)

    memory = Memory(dies_after=2)
    with pytest.raises(KeyboardInterrupt):
        fit(network(3), phases, Run(seed=4), epochs=6, optimizer=optimizer, checkpoints=memory)
    resumed, second = network(3), Run(seed=4)
    fit(resumed, phases, second, epochs=6, optimizer=optimizer, checkpoints=memory)
    assert toy.same(resumed, undisturbed)
    assert second.losses == run.losses
    assert second.cost.steps == run.cost.steps
    assert second.cost.reads == run.cost.reads
    assert second.notes == ["resumed after epoch 4 of 6"]
