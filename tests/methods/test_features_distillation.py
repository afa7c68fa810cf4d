"""Property tests of DELETE, LoTUS, MUNBa, DUCK, contrastive unlearning, SCAR and GKT."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest
import torch
import toy
from torch import Tensor, nn
from toy import PLAIN, draws, smooth

from mucore.blocks.clusters import Clusters, correlation, shrunk
from mucore.blocks.generator import Doubled, Game, Generator
from mucore.blocks.labels import draw_labels, gumbel_softmax
from mucore.engine.data import Repeated, Samples, UnlearningData
from mucore.engine.features import (
    activations,
    attention_map,
    class_means,
    cosine_distance,
    features_of,
    nearest,
)
from mucore.engine.losses import distillation_without, soft_divergence
from mucore.engine.run import Run
from mucore.methods.contrastive import unlearning_loss
from mucore.methods.delete import without_own_class
from mucore.methods.munba import bargaining_weights
from mucore.rng import stream_seed


def wrong(samples: Samples, count: int) -> Samples:
    """The first `count` labels moved on by one class: samples that a good model gets wrong."""
    labels = samples.labels.clone()
    labels[:count] = (labels[:count] + 1) % 6
    return samples.with_labels(labels)


def gradients(model: nn.Module, loss: Tensor) -> list[Tensor]:
    return list(torch.autograd.grad(loss, list(model.parameters())))


def whole(samples: Samples) -> tuple[Tensor, Tensor]:
    (batch,) = samples.batches(Run(seed=0), len(samples))
    return batch.x, batch.y


# -- DELETE


def test_delete_starts_with_the_gradient_that_moves_probability_by_dark_knowledge():
    z, y = draws(5, 4).requires_grad_(True), torch.tensor([0, 1, 2, 3, 1])
    own = nn.functional.one_hot(y, 4).bool()
    p = torch.softmax(z.detach(), 1)
    q = without_own_class(z.detach(), ~own).double()
    loss = soft_divergence(z, q, 1.0) * len(z)
    assert loss.item() == pytest.approx(-torch.log(1 - p[own]).sum().item(), abs=1e-5)
    (gradient,) = torch.autograd.grad(loss, z)
    by_others = p / (1 - p[own]).unsqueeze(1)  # q, without a mask
    wanted = torch.where(own, p, -p[own].unsqueeze(1) * by_others)
    assert torch.allclose(gradient, wanted, atol=1e-6)


def test_delete_steps_along_the_cross_entropy_with_the_masked_original():
    data, model = toy.in_float64(toy.request("mlp")), smooth()
    result, run = toy.on_copy(
        "delete", data, model, lr=0.01, epochs=1, momentum=0.0, batch_size=len(data.forget)
    )
    x, _ = whole(data.forget)
    logits = model(x)
    q = torch.softmax(logits.detach()[:, 1:], 1)
    wanted = gradients(model, -(q * torch.log_softmax(logits, 1)[:, 1:]).sum(1).mean())
    assert run.cost.steps == 1
    for after, before, g in zip(result.parameters(), model.parameters(), wanted, strict=True):
        assert torch.allclose(after - before, -0.01 * g, atol=1e-8)


# -- LoTUS


def test_gumbel_softmax_draws_classes_with_the_probabilities_of_the_logits():
    logits = torch.tensor([0.0, 1.0, 2.0]).repeat(20_000, 1)
    drawn = gumbel_softmax(logits, 1.0, Run(seed=0), hard=True)
    assert torch.equal(drawn.sort(1).values, torch.tensor([0.0, 0.0, 1.0]).repeat(20_000, 1))
    assert torch.allclose(drawn.mean(0), torch.softmax(logits[0], 0), atol=0.015)


def test_lotus_takes_temperature_one_at_the_target_and_stops_at_the_tolerance_below_it():
    data = toy.request("mlp", "random")
    known = toy.accuracy(toy.trained("mlp"), data.forget) == 1.0
    assert known and len(data.forget) == 180
    data = replace(
        data, forget=data.forget[torch.arange(100)], validation=data.validation[torch.arange(100)]
    )
    assert toy.accuracy(toy.trained("mlp"), data.validation) == 1.0
    _, run = toy.unlearn("lotus", data, "mlp", epochs=1)
    assert run.diagnostics["tau"] == 1.0 and run.cost.steps > 0
    _, run = toy.unlearn(
        "lotus", replace(data, forget=wrong(data.forget, 1)), "mlp", epochs=1, tolerance=0.011
    )
    assert run.stop_reason is None and run.diagnostics["tau"] == pytest.approx(math.exp(-0.08))
    result, run = toy.unlearn(
        "lotus", replace(data, forget=wrong(data.forget, 1)), "mlp", epochs=1, tolerance=0.01
    )
    assert run.stop_reason and run.cost.steps == 0
    assert toy.same(result, toy.trained("mlp"))


def test_lotus_teaches_soft_answers_on_the_forget_set_and_drawn_classes_on_the_rest(
    monkeypatch: pytest.MonkeyPatch,
):
    calls = toy.watch_fit(monkeypatch, "lotus")
    data, model, student = toy.in_float64(toy.request("mlp")), smooth(), smooth(1)
    _, run = toy.on_copy("lotus", data, model, alpha=2.0)
    (phase,) = calls[0]["phases"]
    (batch,) = phase.data.batches(Run(seed=0), 5000)
    again, said = Run(seed=0), model(batch.x).detach().float()
    drawn = gumbel_softmax(said, 1.0, again, hard=True)
    soft = gumbel_softmax(said, run.diagnostics["tau"], again)
    asked = (batch.y == 0).unsqueeze(1)  # the class that goes, in no sample of the retain set
    wanted = (
        -(torch.where(asked, soft, drawn) * torch.log_softmax(student(batch.x), 1)).sum(1).mean()
    )
    assert phase.loss(student, batch).item() == pytest.approx(wanted.item(), rel=1e-5)


# -- MUNBa


def test_the_bargain_solves_its_equation_and_has_length_root_two():
    cases = [(draws(30, seed=seed), draws(30, seed=seed + 50)) for seed in range(5)]
    # orthogonal, where the official formula divides 0 by 0
    cases.append((torch.tensor([3.0, 0.0]), torch.tensor([0.0, 0.2])))
    for first, second in cases:
        both = torch.stack([first, second])
        alpha = bargaining_weights(first, second)
        assert torch.allclose(
            alpha * (both @ both.T @ alpha), torch.ones(2, dtype=first.dtype), rtol=1e-5
        )
        assert (alpha @ both).norm().item() == pytest.approx(math.sqrt(2), rel=1e-5)


def test_munba_steps_along_the_bisector_of_both_gradients():
    data, model = toy.in_float64(toy.request("mlp", "random")), smooth()
    size = len(data.retain)
    result, run = toy.on_copy("munba", data, model, lr=0.01, epochs=1, batch_size=size, **PLAIN)
    assert run.cost.steps == 1
    again = Run(seed=0)
    shuffled = data.forget[torch.randperm(len(data.forget), generator=again.rng("order/forget"))]
    x, y = whole(shuffled)
    forgotten = gradients(
        model, nn.functional.cross_entropy(model(x), draw_labels(data, y, again, "all"))
    )
    x, y = whole(data.retain)
    retained = gradients(model, nn.functional.cross_entropy(model(x), y))
    sides = [torch.cat([g.flatten() for g in side]) for side in (retained, forgotten)]
    bisector = nn.functional.normalize(
        torch.stack([nn.functional.normalize(side, dim=0) for side in sides]).sum(0), dim=0
    )
    moved = torch.cat(
        [
            (after - before).flatten()
            for after, before in zip(result.parameters(), model.parameters(), strict=True)
        ]
    )
    assert torch.allclose(moved, -0.01 * bisector, atol=1e-10)


# -- features


def test_class_means_and_the_nearest_allowed_class():
    features = torch.tensor([[1.0, 0.0], [3.0, 0.0], [0.0, 5.0]])
    means = class_means(features, torch.tensor([0, 0, 2]), 3)
    assert torch.equal(means[[0, 2]], torch.tensor([[2.0, 0.0], [0.0, 5.0]]))
    assert means[1].isnan().all()
    distances = torch.tensor([[0.1, torch.nan, 0.3], [0.1, 0.0, 0.3]])
    allowed = torch.tensor([[True, True, True], [False, False, True]])
    assert nearest(distances, allowed).tolist() == [0, 2]


def test_repeated_gives_each_batch_several_times_and_counts_it_each_time():
    data, run = toy.request("mlp"), Run(seed=0)
    repeated = Repeated(data.forget, 3)
    ids = [batch.ids.tolist() for batch in repeated.batches(run, 128, shuffle=True, backward=True)]
    assert len(ids) == repeated.steps(128) == 9
    assert ids[0] == ids[1] == ids[2] != ids[3]
    assert sorted(ids[0] + ids[3] + ids[6]) == data.forget.ids.tolist()
    assert run.cost.reads == {"forget/backward": 900}


# -- DUCK


def test_duck_stops_after_the_first_epoch_below_the_target():
    data = toy.request("mlp")
    options: dict[str, Any] = {"class_lr": 3e-4, "class_stop": 0.5}
    _, run = toy.unlearn("duck", data, "mlp", epochs=60, **options)
    taken = len(run.losses)
    assert run.stop_reason and 1 < taken < 60
    result, _ = toy.unlearn("duck", data, "mlp", epochs=taken, **options)
    assert toy.accuracy(result, data.forget) < 0.5
    result, run = toy.unlearn("duck", data, "mlp", epochs=taken - 1, **options)
    assert toy.accuracy(result, data.forget) >= 0.5 and run.stop_reason is None


def test_the_loss_of_duck_by_hand():
    data, model = toy.in_float64(toy.request("mlp", "random")), smooth()
    centroids = class_means(model[:-1](whole(data.retain)[0]).detach(), data.retain.labels, 6)
    (x_f, _), (x_r, y_r) = whole(data.forget), whole(data.retain)
    distances = torch.stack(
        [
            1 - nn.functional.cosine_similarity(model[:-1](x_f), centroid[None])
            for centroid in centroids
        ],
        1,
    )
    reached = (
        distances.masked_fill(~data.other_labels(data.forget.labels), torch.inf).amin(1).mean()
    )
    wanted = 0.7 * reached + 1.9 * nn.functional.cross_entropy(model(x_r) / 3, y_r)
    options: dict[str, Any] = {"lr": 0.0, "epochs": 1, "batch_size": 2000, "retain_batches": 1}
    _, run = toy.on_copy(
        "duck", data, model, lambda_1=0.7, lambda_2=1.9, temperature=3.0, **options
    )
    assert run.cost.steps == 1
    assert run.losses[0] == pytest.approx(wanted.item(), rel=1e-4)


def test_duck_polishes_with_a_tenth_of_the_pull_and_halves_its_rate(
    monkeypatch: pytest.MonkeyPatch,
):
    calls = toy.watch_fit(monkeypatch, "duck")
    data, model, later = toy.in_float64(toy.request("mlp", "random")), smooth(), smooth(1)
    toy.on_copy("duck", data, model, polish=True, lambda_1=3.0, temperature=2.0)
    first, second = calls
    assert [first["optimizer"].factor(0, 1, epoch) for epoch in (24, 25, 39, 40)] == [
        1,
        0.5,
        0.5,
        0.25,
    ]
    assert (second["optimizer"].lr, second["optimizer"].schedule, second["epochs"]) == (
        1e-4,
        "cosine",
        2,
    )
    (forget,), (retain,) = (
        samples.batches(Run(seed=0), 2000)
        for samples in (second["phases"][0].data.samples, data.retain)
    )
    means = class_means(
        features_of(model, data.retain, Run(seed=0), batch_size=64), data.retain.labels, 6
    )
    distance = cosine_distance(later[:-1](forget.x).float(), means[forget.y]).mean()
    wanted = nn.functional.cross_entropy(later(retain.x) / 2, retain.y) + 0.3 * distance
    assert second["phases"][0].loss(later, forget, retain).item() == pytest.approx(
        wanted.item(), rel=1e-5
    )


# -- contrastive unlearning


def brute_force(u: Tensor, v: Tensor, y_u: Tensor, y_v: Tensor, tau: float, push: str) -> float:
    total = 0.0
    for i in range(len(u)):
        s = [float(u[i] @ v[k]) / tau for k in range(len(v))]
        own = [s[k] for k in range(len(v)) if y_v[k] == y_u[i]]
        others = [s[k] for k in range(len(v)) if y_v[k] != y_u[i]]
        total -= sum(others) / len(others)
        if own:
            total += math.log(sum(map(math.exp, own))) * (
                len(v) / len(others) if push == "code" else 1
            )
    return total / len(u)


@pytest.mark.parametrize("push", ["paper", "code"])
def test_contrastive_loss_against_loops(push: Literal["paper", "code"]):
    u, v = (nn.functional.normalize(draws(n, 8, seed=n), dim=1) for n in (5, 9))
    # class 3 has no retained sample
    y_u, y_v = torch.tensor([0, 1, 2, 3, 0]), torch.tensor([0, 0, 1, 1, 2, 2, 0, 1, 2])
    loss = unlearning_loss(u, v, y_u, y_v, temperature=0.7, push=push)
    assert loss.item() == pytest.approx(brute_force(u, v, y_u, y_v, 0.7, push), abs=1e-12)
    order = torch.randperm(9, generator=torch.Generator().manual_seed(1))
    assert unlearning_loss(
        u, v[order], y_u, y_v[order], temperature=0.7, push=push
    ).item() == pytest.approx(loss.item(), abs=1e-12)


def test_contrastive_loss_is_finite_without_the_own_class_and_without_others():
    u, v = draws(3, 8).requires_grad_(True), draws(4, 8, seed=1)
    for labels in (torch.ones(4), torch.zeros(4)):
        loss = unlearning_loss(u, v, torch.zeros(3), labels, temperature=0.7, push="paper")
        (gradient,) = torch.autograd.grad(loss, u)
        assert torch.isfinite(loss) and torch.isfinite(gradient).all()
        down = -(gradient @ v.mean(0))
        # towards other classes, away from the own
        assert (down > 0).all() if labels[0] else (down < 0).all()


def test_contrastive_stops_by_validation_data():
    data = toy.request("mlp")
    blind = replace(data, validation=data.validation.with_labels((data.validation.labels + 1) % 6))
    _, run = toy.unlearn("contrastive", blind, "mlp", epochs=5, lr=0.0)
    assert run.stop_reason and len(run.losses) == 1
    _, run = toy.unlearn("contrastive", data, "mlp", epochs=5, lr=0.0)
    assert run.stop_reason is None and len(run.losses) == 5
    assert run.cost.reads["validation/forward"] == 5 * 40  # of the forgotten class alone
    data = toy.request("mlp", "random")
    _, run = toy.unlearn(
        "contrastive", replace(data, forget=wrong(data.forget, 180)), "mlp", epochs=5, lr=0.0
    )
    assert run.stop_reason and len(run.losses) == 1


def test_the_loss_of_contrastive_unlearning_by_hand():
    data, model = toy.in_float64(toy.request("mlp", "random")), smooth()
    (x_f, y_f), (x_r, y_r) = whole(data.forget), whole(data.retain)
    u, v = (nn.functional.normalize(model[:-1](x), dim=1) for x in (x_f, x_r))
    contrast = unlearning_loss(u, v, y_f, y_r, temperature=0.5, push="paper")
    wanted = 2.5 * contrast + 0.6 * nn.functional.cross_entropy(model(x_r), y_r)
    options = toy.settings(lr=0.0, epochs=1, batch_size=2000, repeats=1, temperature=0.5)
    _, run = toy.on_copy("contrastive", data, model, lambda_unlearn=2.5, lambda_ce=0.6, **options)
    assert run.cost.steps == 1
    assert run.losses[0] == pytest.approx(wanted.item(), rel=1e-4)


# -- SCAR


def test_shrinkage_and_correlation_by_hand():
    covariance = torch.tensor([[2.0, 1.0], [1.0, 4.0]])
    # V1 = 3, V2 = 1
    assert torch.equal(shrunk(covariance, 3.0, 3.0), torch.tensor([[11.0, 4.0], [4.0, 13.0]]))
    assert torch.equal(
        shrunk(torch.diag(torch.tensor([1.0, 3.0])), 3.0, 3.0), torch.diag(torch.tensor([7.0, 9.0]))
    )
    assert correlation(torch.tensor([[4.0, 3.0], [3.0, 9.0]]))[0, 1].item() == pytest.approx(0.5)


def scar_clusters(data: UnlearningData, features: Tensor) -> Clusters:
    clusters = Clusters(delta=0.5, gammas=(3.0, 3.0))
    for number in range(6):
        clusters.add(number, features[data.retain.labels == number])
    return clusters


def original_features(data: UnlearningData) -> Tensor:
    return features_of(toy.original("mlp"), data.retain, Run(seed=0), batch_size=512)


def to_all(clusters: Clusters, features: Tensor) -> Tensor:
    return torch.stack([clusters.to_class(features, number) for number in range(6)], 1)


def test_distances_against_numpy():
    data = toy.request("mlp", "random")
    features = original_features(data)
    clusters = scar_clusters(data, features)
    bent = np.sqrt(np.maximum(features.double().numpy(), 1e-6))
    members = bent[data.retain.labels.numpy() == 2]
    sigma = np.cov(members.T)
    for _ in range(2):
        off = sigma[~np.eye(len(sigma), dtype=bool)]
        sigma = (
            sigma
            + 3 * sigma.diagonal().mean() * np.eye(len(sigma))
            + 3 * off[off != 0].mean() * (1 - np.eye(len(sigma)))
        )
    deviation = np.sqrt(sigma.diagonal())
    a = bent[0] / np.linalg.norm(bent[0]) - members.mean(0) / np.linalg.norm(members.mean(0))
    wanted = a @ np.linalg.inv(sigma / np.outer(deviation, deviation)) @ a
    assert clusters.to_class(features[:1], 2).item() == pytest.approx(wanted, rel=1e-3)


def test_a_feature_row_of_zeros_gives_finite_distances_and_gradients():
    features = original_features(toy.request("mlp"))
    clusters = scar_clusters(toy.request("mlp"), features)
    # the forgotten class has no statistics
    assert clusters.to_class(features, 0).isnan().all()
    row = torch.zeros(1, features.shape[1], requires_grad=True)
    distance = clusters.to_class(row, 3)
    (gradient,) = torch.autograd.grad(distance.sum(), row)
    assert torch.isfinite(distance).all() and torch.isfinite(gradient).all()


def test_distillation_leaves_out_what_looks_removed_and_gives_the_removed_class_the_minimum():
    teacher = torch.tensor([[9.0, 0.0, 1.0], [1.0, 4.0, -2.0], [0.0, 1.0, 3.0]])
    student = draws(3, 3).float()
    # the first row is class 0's
    target = torch.softmax(torch.tensor([[-2.0, 4.0, -2.0], [-2.0, 1.0, 3.0]]), 1)
    wanted = (target * (target.log() - torch.log_softmax(student[1:], 1))).sum(1).mean()
    assert distillation_without(student, teacher, (0,), 1.0).item() == pytest.approx(
        wanted.item(), abs=1e-6
    )
    assert teacher[1, 0] == 1.0
    assert distillation_without(student, teacher, (0, 1, 2), 1.0).item() == 0.0
    assert distillation_without(teacher, teacher, (), 1.0).item() == pytest.approx(0.0, abs=1e-6)


def test_the_loss_of_scar_by_hand():
    data, model = toy.in_float64(toy.request("mlp", "random")), smooth()
    (x_f, _), (x_r, _) = whole(data.forget), whole(data.retain)
    retained, forgotten = (model[:-1](x).detach().float() for x in (x_r, x_f))
    clusters = scar_clusters(data, retained)
    reached = (
        to_all(clusters, forgotten)
        .masked_fill(~data.other_labels(data.forget.labels), torch.inf)
        .amin(1)
        .mean()
    )
    said = model(x_r).detach()
    q = torch.softmax(said / 2, 1)
    held = (q * (q.log() - torch.log_softmax(said, 1))).sum(1).mean()
    options: dict[str, Any] = {"lr": 0.0, "epochs": 1, "batch_size": 2000, "surrogate_batches": 1}
    _, run = toy.on_copy(
        "scar", data, model, lambda_1=0.7, lambda_2=40.0, temperature=2.0, **options
    )
    assert run.cost.steps == 1
    assert run.losses[0] == pytest.approx((0.7 * reached + 40 * held).item(), rel=1e-3)


def test_scar_moves_a_class_as_far_as_it_is_still_known(monkeypatch: pytest.MonkeyPatch):
    calls = toy.watch_fit(monkeypatch, "scar")
    data, model = toy.request("mlp", "random"), toy.original("mlp")
    data = replace(data, forget=wrong(data.forget, 60))
    right = (toy.logits(model, data.forget).argmax(1) == data.forget.labels).double()
    shares = torch.stack([right[data.forget.labels == c].mean() for c in data.forget.labels])
    limit = shares.unique().sort().values[2].item() - 1e-3  # two of the classes are below
    toy.on_copy("scar", data, model, lambda_2=0.0, still_known=limit)
    (phase,) = calls[0]["phases"]
    (batch,), (beside,) = (
        samples.batches(Run(seed=0), 2000) for samples in (phase.data.samples, data.retain)
    )
    clusters = scar_clusters(data, features_of(model, data.retain, Run(seed=0), batch_size=64))
    gaps = clusters.to_own(features_of(model, data.forget, Run(seed=0), batch_size=64), batch.y)
    assert phase.loss(model, batch, beside).item() == pytest.approx(gaps.mean().item(), rel=1e-4)
    assert calls[0]["stop"](model, 0) is None
    wanted = (torch.where(shares >= limit, shares, 0.0) * gaps).mean()
    assert 0 < wanted < gaps.mean()
    assert phase.loss(model, batch, beside).item() == pytest.approx(wanted.item(), rel=1e-4)


# -- GKT


def game(epsilon: float = 0.2, forgotten: tuple[int, ...] = (0,)) -> Game:
    teacher = toy.original("conv").requires_grad_(False)
    return Game(
        teacher,
        toy.problem("conv").network(5).train(),
        Generator(16, (1, 8, 8), 0).train(),
        forgotten,
        epsilon,
        Run(seed=0),
    )


def test_the_gate_keeps_no_image_that_the_teacher_takes_for_a_forgotten_class():
    play, z = game(), torch.randn(256, 16, generator=torch.Generator().manual_seed(0))
    play.learn(z, 0.0)
    _, kept, said, *maps = play._lesson
    assert 0 < len(kept) < 256
    assert torch.softmax(play.teacher(kept), 1)[:, 0].max() <= 0.2 + 1e-6
    assert torch.allclose(said, torch.softmax(play.teacher(kept), 1), atol=1e-6)
    assert len(maps) == 3
    assert play.kept_share() == len(kept) / 256
    assert play.run.cost.reads == {"made_up/forward": 256, "made_up/backward": len(kept)}
    everything = game(1.0, ())
    everything.learn(z, 0.0)
    assert everything.kept_share() == 1.0


def test_the_losses_of_the_game_by_hand():
    play, z = game(), torch.randn(64, 16, generator=torch.Generator().manual_seed(0))
    student, generator = copy.deepcopy(play.student), copy.deepcopy(play.generator)

    def disagreement(x: Tensor) -> Tensor:
        p = torch.softmax(play.teacher(x), 1)
        # over samples and the four classes
        return (p * (p.log() - torch.log_softmax(student(x), 1))).sum() / (4 * len(x))

    x = generator(z)
    kept = x[torch.softmax(play.teacher(x), 1)[:, 0] <= 0.2].detach()
    sought = disagreement(kept)
    assert 1 < len(kept) < 64
    assert play.seek(z).item() == pytest.approx(-sought.item(), rel=1e-4)
    with activations(student) as own, activations(play.teacher) as wanted:
        taught = disagreement(kept)
    maps = sum(
        (attention_map(a) - attention_map(b)).square().mean()
        for a, b in zip(own, wanted, strict=True)
    )
    assert play.learn(z, 30.0).item() == pytest.approx((taught + 30 * maps).item(), rel=1e-4)


def test_a_missed_batch_moves_nobody():
    data = toy.request("conv")
    result, run = toy.unlearn("gkt", data, "conv", epsilon=0.0)
    assert run.diagnostics["kept_share"] == 0.0
    assert toy.same(result, toy.problem("conv").network(stream_seed(0, "student")), buffers=False)


def test_gkt_gives_both_sides_their_steps_on_each_batch(monkeypatch: pytest.MonkeyPatch):
    told: list[str] = []
    for name in ("seek", "learn"):
        real = getattr(Game, name)
        monkeypatch.setattr(
            Game,
            name,
            lambda play, *given, name=name, real=real: (told.append(name), real(play, *given))[1],
        )
    toy.unlearn("gkt", "conv", batches=2, generator_steps=2, student_steps=3)
    assert told == ["seek", "seek", "learn", "learn", "learn"] * 2


def test_gkt_gives_back_the_student_that_agreed_best_before_it_leaked(
    monkeypatch: pytest.MonkeyPatch,
):
    # of four classes: a probability of one half
    options: dict[str, Any] = {"check_every": 1, "leak": 2.0}
    looks = iter(
        [(0.2, 0.1), (0.9, 0.49), (0.5, 0.3), (0.95, 0.51), (1.0, 0.0), (0.2, 0.1), (0.9, 0.49)]
    )
    monkeypatch.setattr(Game, "compare", lambda play, z: next(looks))
    best, run = toy.unlearn("gkt", "conv", batches=5, **options)
    assert run.stop_reason and "0.510" in run.stop_reason and len(run.losses) == 4
    assert run.diagnostics["agreement"] == 0.9
    next(looks)
    short, _ = toy.unlearn("gkt", "conv", batches=2, **options)
    assert toy.same(best, short)


@pytest.mark.parametrize("size", [(7, 7), (1, 2), (4, 3)])
def test_a_doubled_convolution_is_that_of_the_image_with_repeated_pixels(size: tuple[int, int]):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        layer, plain = Doubled(3, 5).double(), nn.Conv2d(3, 5, 3, padding=1).double()
        x = torch.randn(4, 3, *size, dtype=torch.float64)
        slope = torch.randn(4, 5, 2 * size[0], 2 * size[1], dtype=torch.float64)
    plain.load_state_dict(layer.state_dict())
    found, wanted = [], []
    for network, results in ((layer, found), (plain, wanted)):
        own = x.clone().requires_grad_(True)
        seen = own if network is layer else nn.functional.interpolate(own, scale_factor=2)
        y = network(seen)
        results += [y, *torch.autograd.grad(y, [own, *network.parameters()], slope)]
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)
