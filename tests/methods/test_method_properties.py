"""What each method's own mathematics demands."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import Any

import pytest
import torch
import toy
from torch import nn
from toy import PLAIN, gradient, moved, smooth

from mucore.blocks.importance import fisher_of_batches, fisher_of_samples, saliency
from mucore.blocks.labels import draw_labels, runner_up_labels
from mucore.blocks.masks import density, top_fraction
from mucore.engine.data import Mixture, UnlearningData
from mucore.engine.losses import distillation, soft_divergence
from mucore.engine.run import Run

ASCENT: dict[str, Any] = {"stop_loss": None, "grad_clip": None}


def whole(data: UnlearningData, role: str = "forget") -> int:
    return len(getattr(data, role))


def close(
    first: dict[str, torch.Tensor], second: dict[str, torch.Tensor], tolerance: float = 1e-12
) -> bool:
    return all(torch.allclose(first[name], second[name], rtol=0, atol=tolerance) for name in first)


# -- finetune


def test_finetune_without_rate_moves_batch_norm_statistics_alone():
    result, _ = toy.unlearn("finetune", "mlp", lr=0.0, weight_decay=0.0)
    assert toy.same(result, toy.trained("mlp"), buffers=False)
    assert not toy.same(result, toy.trained("mlp"))


# -- gradient ascent


def test_gradient_ascent_takes_the_step_of_the_negated_mean_loss():
    data, model = toy.in_float64(toy.request("mlp")), smooth()
    rate = 0.01
    result, run = toy.on_copy(
        "gradient_ascent", data, model, lr=rate, epochs=1, batch_size=whole(data), **PLAIN, **ASCENT
    )
    assert run.cost.steps == 1
    assert close(
        moved(result, model), {name: rate * g for name, g in gradient(model, data.forget).items()}
    )


def test_one_small_step_of_gradient_ascent_raises_the_loss_of_its_batch():
    data = toy.request("mlp")
    result, _ = toy.unlearn(
        "gradient_ascent", data, "mlp", lr=1e-3, epochs=1, batch_size=whole(data), **PLAIN, **ASCENT
    )
    assert toy.loss(result, data.forget) > toy.loss(toy.trained("mlp"), data.forget)


def test_gradient_ascent_keeps_frozen_statistics_and_stops_at_the_limit():
    data = toy.request("mlp")
    result, run = toy.unlearn("gradient_ascent", data, "mlp", lr=0.05, epochs=200, stop_loss=1.0)
    assert run.stop_reason and "reached the limit" in run.stop_reason
    assert 0 < run.cost.steps < 200 * data.forget.steps(32)
    assert toy.loss(result, data.forget) >= math.log(6)
    buffers = dict(toy.trained("mlp").named_buffers())
    assert all(torch.equal(value, buffers[name]) for name, value in result.named_buffers())


@pytest.mark.parametrize(
    ("forget", "lr", "stop_loss"),
    [
        ("class", 0.002, 1.0),
        ("class", 0.01, 2.0),
        ("class", 0.05, 0.5),
        ("random", 0.01, 1.0),
        ("random", 0.05, 2.0),
    ],
)
def test_gradient_ascent_ends_after_the_first_epoch_at_the_limit(
    forget: Any, lr: float, stop_loss: float
):
    """Though after most epochs a part of the forget set is asked alone."""
    data, limit = toy.request("mlp", forget), stop_loss * math.log(6)
    options: dict[str, Any] = {"lr": lr, "stop_loss": stop_loss, "batch_size": 32}
    _, run = toy.unlearn("gradient_ascent", data, "mlp", epochs=60, **options)
    taken = len(run.losses)
    assert run.stop_reason and 1 <= taken < 60
    assert run.cost.reads["forget/forward"] <= len(data.forget) * (taken + 1)
    options["stop_loss"] = None
    for epochs, wanted in ((taken, True), (taken - 1, False)):
        result, _ = toy.unlearn("gradient_ascent", data, "mlp", epochs=epochs, **options)
        assert (toy.loss(result, data.forget) >= limit) is wanted


# -- NegGrad+


def test_neggrad_plus_steps_along_the_weighted_difference_of_gradients():
    data, model = toy.in_float64(toy.request("mlp")), smooth()
    a, rate = 0.7, 0.01
    result, run = toy.on_copy(
        "neggrad_plus",
        data,
        model,
        lr=rate,
        epochs=1,
        batch_size=whole(data, "retain"),
        retain_weight=a,
        forget_loss_cap=None,
        **PLAIN,
    )
    retain, forget = gradient(model, data.retain), gradient(model, data.forget)
    assert run.cost.steps == 1
    assert close(
        moved(result, model),
        {name: -rate * (a * retain[name] - (1 - a) * forget[name]) for name in retain},
    )


@pytest.mark.parametrize("bn_forward", ["two", "concat"])
def test_neggrad_plus_at_half_weight_cancels_equal_batches(bn_forward: str):
    data, model = toy.in_float64(toy.request("mlp")), smooth()
    data = replace(data, forget=data.retain)
    result, _ = toy.on_copy(
        "neggrad_plus",
        data,
        model,
        epochs=1,
        batch_size=whole(data),
        retain_weight=0.5,
        bn_forward=bn_forward,
        forget_loss_cap=None,
        **PLAIN,
    )
    assert close(
        moved(result, model),
        {name: torch.zeros_like(p) for name, p in model.named_parameters()},
        1e-15,
    )


def test_neggrad_plus_with_all_weight_on_retain_is_finetune_step_for_step():
    data = toy.request("mlp", natural=False)
    same: dict[str, Any] = {"lr": 0.01, "epochs": 2, "batch_size": 64}
    first, first_run = toy.unlearn("neggrad_plus", data, "mlp", retain_weight=1.0, **same)
    second, second_run = toy.unlearn("finetune", data, "mlp", **same)
    assert toy.same(first, second, buffers=False)
    assert first_run.losses == pytest.approx(second_run.losses)


def test_neggrad_plus_with_no_weight_on_retain_is_gradient_ascent():
    data = toy.request("mlp")
    # as many steps a pass as the forget set has
    data = replace(data, retain=data.retain[torch.arange(whole(data))])
    same: dict[str, Any] = {"lr": 1e-3, "epochs": 2, "batch_size": 60}
    first, _ = toy.unlearn(
        "neggrad_plus", data, "mlp", retain_weight=0.0, forget_loss_cap=None, **same
    )
    second, _ = toy.unlearn("gradient_ascent", data, "mlp", bn="train", **ASCENT, **same)
    assert toy.same(first, second, buffers=False)


def test_neggrad_plus_stops_pushing_above_the_cap():
    data, model = toy.in_float64(toy.request("mlp")), smooth()
    options = toy.settings(epochs=1, batch_size=whole(data, "retain"), retain_weight=0.0) | PLAIN
    capped, _ = toy.on_copy("neggrad_plus", data, model, forget_loss_cap=0.1, **options)
    free, _ = toy.on_copy("neggrad_plus", data, model, forget_loss_cap=None, **options)
    assert toy.same(capped, model)
    assert not toy.same(free, model)


# -- random labels


def test_wrong_labels_are_never_the_true_one_and_near_uniform():
    data = toy.request("mlp", "random")
    labels = torch.arange(6).repeat_interleave(2000)
    drawn = draw_labels(data, labels, Run(seed=3), "others")
    assert not (drawn == labels).any()
    assert torch.equal(drawn, draw_labels(data, labels, Run(seed=3), "others"))
    counts = torch.bincount(labels * 6 + drawn, minlength=36).view(6, 6)
    off = counts[~torch.eye(6, dtype=torch.bool)]
    # five standard deviations of a binomial of 2000 draws at 1/5
    assert (off.float() - 400).abs().max() < 5 * math.sqrt(400 * 0.8)


def test_wrong_labels_avoid_forgotten_classes_and_all_covers_all():
    data = toy.request("mlp")
    labels = torch.zeros(1000, dtype=torch.int64)
    assert set(draw_labels(data, labels, Run(seed=0), "others").tolist()) == {1, 2, 3, 4, 5}
    assert set(draw_labels(data, labels, Run(seed=0), "all").tolist()) == {0, 1, 2, 3, 4, 5}


@pytest.mark.parametrize("mode", ["mixed_fixed", "mixed_fresh"])
def test_mixed_random_labels_without_a_forget_set_are_finetune(mode: str):
    data = toy.request("mlp", torch.tensor([], dtype=torch.int64), natural=True)
    same: dict[str, Any] = {"lr": 0.01, "epochs": 2, "batch_size": 64}
    first, _ = toy.unlearn("random_labels", data, "mlp", mode=mode, **same)
    second, _ = toy.unlearn("finetune", data, "mlp", **same)
    assert toy.same(first, second)


@pytest.mark.parametrize(
    ("mode", "roles"),
    [
        ("sequential", {"forget", "retain"}),
        ("forget_only", {"forget"}),
        ("mixed_fixed", {"forget", "retain"}),
    ],
)
def test_random_labels_modes_read_their_sets(mode: str, roles: set[str]):
    _, run = toy.unlearn("random_labels", "mlp", mode=mode)
    assert {name.partition("/")[0] for name in run.cost.reads} == roles


@pytest.mark.parametrize("mode", ["mixed_fixed", "mixed_fresh"])
def test_mixed_random_labels_forget_a_class(mode: str):
    data = toy.request("mlp")
    result, _ = toy.unlearn("random_labels", data, "mlp", mode=mode, lr=0.05, epochs=4)
    assert toy.accuracy(result, data.forget) <= 0.05
    assert toy.accuracy(result, data.retain) >= 0.9


# -- pseudo-labels


def test_pseudo_labels_are_allowed_classes_and_the_runner_up():
    for forget in ("class", "random"):
        data, model = toy.request("mlp", forget), toy.original("mlp")
        labels = runner_up_labels(model, data.forget, data, Run(seed=0), batch_size=50)
        assert not (labels == data.forget.labels).any()
        assert not torch.isin(labels, torch.tensor(data.forgotten_classes, dtype=torch.int64)).any()
        best = toy.logits(model, data.forget).argsort(1, descending=True)
        right = best[:, 0] == data.forget.labels
        assert right.float().mean() > 0.9
        assert torch.equal(labels[right], best[right, 1])


def test_pseudo_labels_do_not_depend_on_order_or_batches():
    data, model = toy.request("mlp", "random"), toy.original("mlp")
    order = torch.randperm(whole(data), generator=torch.Generator().manual_seed(5))
    straight = runner_up_labels(model, data.forget, data, Run(seed=0), batch_size=7)
    assert torch.equal(
        runner_up_labels(model, data.forget[order], data, Run(seed=0), batch_size=64),
        straight[order],
    )


def test_pseudo_labels_with_nesterov_look_one_step_ahead():
    """Momentum starts at 0, so the first step is 1 + momentum times the plain one; without momentum
    there is nothing to look ahead of.
    """
    data, start = toy.request("mlp"), toy.original("mlp")
    options = toy.settings(lr=0.01, epochs=1, batch_size=len(data.forget), weight_decay=0.0)

    def moved(**changes: Any) -> list[torch.Tensor]:
        result, _ = toy.unlearn("pseudo_labels", data, "mlp", **options | changes)
        return [
            after - before
            for after, before in zip(result.parameters(), start.parameters(), strict=True)
        ]

    plain, ahead = moved(momentum=0.5), moved(momentum=0.5, nesterov=True)
    assert any(step.any() for step in plain)
    for one, other in zip(plain, ahead, strict=True):
        torch.testing.assert_close(other, 1.5 * one, rtol=1e-3, atol=1e-6)
    for one, other in zip(moved(momentum=0.0), moved(momentum=0.0, nesterov=True), strict=True):
        assert torch.equal(one, other)
    several = {"momentum": 0.5, "epochs": 3}
    assert not torch.equal(moved(**several)[0], moved(**several, nesterov=True)[0])


# -- SCRUB


def test_scrub_without_max_steps_and_distillation_is_finetune_step_for_step():
    data = toy.request("mlp")
    first, first_run = toy.unlearn(
        "scrub",
        data,
        "mlp",
        msteps=0,
        gamma=1.0,
        alpha=0.0,
        lr=0.01,
        epochs=3,
        retain_batch_size=64,
        milestones=(),
        grad_clip=None,
    )
    second, second_run = toy.unlearn("finetune", data, "mlp", lr=0.01, epochs=3, batch_size=64)
    assert toy.same(first, second)
    assert first_run.losses == second_run.losses


def test_the_first_max_step_of_scrub_has_no_gradient_without_batch_norm():
    data, student = toy.in_float64(toy.request("mlp")), smooth()
    (batch,) = data.forget.batches(Run(seed=0), whole(data))
    teacher = copy.deepcopy(student)
    (-distillation(student(batch.x), teacher(batch.x).detach(), 4.0)).backward()
    norm = torch.cat([p.grad.flatten() for p in student.parameters() if p.grad is not None]).norm()
    assert norm <= 1e-12


def test_scrub_leaves_that_point_by_noise_or_by_the_other_order():
    data, model = toy.in_float64(toy.request("mlp")), smooth()
    options: dict[str, Any] = {"epochs": 1, "msteps": 1, "gamma": 0.0, "alpha": 1.0, **PLAIN}
    stuck, _ = toy.on_copy("scrub", data, model, break_symmetry="bn_train", **options)
    assert close(
        moved(stuck, model),
        {name: torch.zeros_like(p) for name, p in model.named_parameters()},
        1e-12,
    )
    noisy, _ = toy.on_copy("scrub", data, model, break_symmetry="tiny_noise", **options)
    assert max(change.abs().max() for change in moved(noisy, model).values()) > 1e-6
    options["gamma"] = 1.0
    _, run = toy.on_copy("scrub", data, model, break_symmetry="min_first", **options)
    assert run.status == "ok" and run.cost.reads["forget/backward"] == whole(data)


def test_scrub_keeps_msteps_max_passes_and_lowers_its_rate():
    data = toy.request("mlp")
    _, run = toy.unlearn("scrub", data, "mlp", epochs=4, msteps=2, retain_batch_size=50)
    assert run.cost.reads["retain/backward"] == 4 * whole(data, "retain")
    # the last batch of 300 in batches of 32 has 12 samples, so none is left out
    assert run.cost.reads["forget/backward"] == 2 * whole(data)
    still, _ = toy.unlearn("scrub", data, "mlp", epochs=3, milestones=(1,), rho=0.0)
    once, _ = toy.unlearn("scrub", data, "mlp", epochs=1)
    assert toy.same(still, once, buffers=False)


# -- SalUn


def test_salun_leaves_masked_weights_bit_identical():
    data, start = toy.request("mlp"), toy.trained("mlp")
    result, run = toy.unlearn(
        "salun", data, "mlp", density=0.3, weight_decay=0.1, momentum=0.9, lr=0.05
    )
    masks = top_fraction(
        saliency(toy.original("mlp"), data.forget, Run(seed=0), batch_size=64), 0.3
    )
    initial = dict(start.named_parameters())
    assert all(
        torch.equal(p[~masks[name]], initial[name][~masks[name]])
        for name, p in result.named_parameters()
    )
    assert sum(
        int((p != initial[name]).sum()) for name, p in result.named_parameters()
    ) > 0.9 * sum(int(mask.sum()) for mask in masks.values())
    total = sum(p.numel() for p in start.parameters())
    assert run.diagnostics["mask_density"] == math.floor(0.3 * total) / total
    assert run.cost.scratch_bytes == 5 * total  # a bool mask and a float32 anchor


@pytest.mark.parametrize(
    ("salun", "labels"),
    [
        ({"mode": "sequential"}, "sequential"),
        ({"mode": "mixed", "label_pool": "others"}, "mixed_fresh"),
    ],
)
def test_salun_with_every_weight_is_random_labels(salun: dict, labels: str):
    data = toy.request("mlp", natural=True)
    same: dict[str, Any] = {"lr": 0.01, "epochs": 2, "batch_size": 64}
    first, _ = toy.unlearn("salun", data, "mlp", density=1.0, **salun, **same)
    second, _ = toy.unlearn("random_labels", data, "mlp", mode=labels, **same)
    assert toy.same(first, second)


def test_salun_with_no_weight_moves_batch_norm_statistics_alone():
    result, run = toy.unlearn("salun", "mlp", density=0.0)
    assert toy.same(result, toy.trained("mlp"), buffers=False)
    assert run.diagnostics["mask_density"] == 0


# -- SSD


def importances(data: UnlearningData) -> tuple[dict, dict]:
    model, run = toy.original("mlp"), Run(seed=0)
    return fisher_of_samples(model, data.forget, run, batch_size=64), fisher_of_samples(
        model, Mixture((data.retain, data.forget)), run, batch_size=64
    )


@pytest.mark.parametrize("fisher", ["batch", "sample"])
@pytest.mark.parametrize("order", ["shuffled", "retain_then_forget"])
def test_ssd_shrinks_weights_and_leaves_statistics(fisher: str, order: str):
    start = dict(toy.trained("mlp").named_parameters())
    buffers = dict(toy.trained("mlp").named_buffers())
    result, run = toy.unlearn("ssd", "mlp", fisher=fisher, order=order, alpha=2.0)
    for name, p in result.named_parameters():
        assert (p.abs() <= start[name].abs()).all()
        assert (p * start[name] >= 0).all()
        changed = p != start[name]
        assert (p[changed] / start[name][changed] <= 1 / 2.0 + 1e-6).all()
    assert all(torch.equal(value, buffers[name]) for name, value in result.named_buffers())
    assert 0 < run.diagnostics["selected_fraction"] < 1
    assert run.cost.steps == 0


def test_ssd_selects_by_the_ratio_and_dampens_by_it():
    data, start = toy.request("mlp"), dict(toy.trained("mlp").named_parameters())
    forget, overall = importances(data)
    result, run = toy.unlearn("ssd", data, "mlp", fisher="sample", alpha=2.0, lam=0.5)
    chosen = {name: forget[name] > 2.0 * overall[name] for name in forget}
    # rounding decides at the border
    assert run.diagnostics["selected_fraction"] == pytest.approx(density(chosen), abs=2e-3)
    for name, p in result.named_parameters():
        wanted = torch.where(
            chosen[name],
            (0.5 * overall[name] / forget[name]).clamp(max=1) * start[name],
            start[name],
        )
        border = (forget[name] / overall[name] / 2.0 - 1).abs() < 1e-4
        assert torch.allclose(p[~border], wanted[~border], rtol=1e-4, atol=1e-7)


def test_ssd_selects_fewer_weights_at_a_larger_alpha():
    data, start = toy.request("mlp"), toy.trained("mlp")
    changed = []
    for alpha in (1.5, 2.5, float("inf")):
        result, _ = toy.unlearn("ssd", data, "mlp", alpha=alpha)
        changed.append({name: change != 0 for name, change in moved(result, start).items()})
    for fewer, more in ((1, 0), (2, 1)):
        assert not any((changed[fewer][name] & ~changed[more][name]).any() for name in changed[0])
    assert density(changed[0]) > density(changed[1]) > density(changed[2]) == 0


def test_ssd_by_samples_selects_nothing_above_the_cap():
    data = toy.request("mlp")
    cap = (whole(data) + whole(data, "retain")) / whole(data)
    result, run = toy.unlearn("ssd", data, "mlp", fisher="sample", alpha=1.01 * cap)
    assert toy.same(result, toy.trained("mlp"))
    assert run.diagnostics["selected_fraction"] == 0
    broken, _ = toy.unlearn("ssd", data, "mlp", fisher="batch", order="shuffled", alpha=1.01 * cap)
    # the cap is a property of samples, not of shuffled batches
    assert not toy.same(broken, toy.trained("mlp"))


def test_ssd_by_samples_reads_nothing_twice():
    data = toy.request("mlp")
    _, run = toy.unlearn("ssd", data, "mlp", fisher="sample")
    assert run.cost.reads == {
        "forget/backward": whole(data),
        "retain/backward": whole(data, "retain"),
    }


def test_ssd_depends_on_the_order_only_when_shuffled():
    data = toy.request("mlp")
    fixed = [
        toy.unlearn("ssd", data, "mlp", order="retain_then_forget", seed=seed)[0] for seed in (0, 1)
    ]
    assert toy.same(*fixed)
    mean = fisher_of_batches(toy.original("mlp"), data.forget, Run(seed=0), batch_size=whole(data))
    single = gradient(toy.original("mlp"), data.forget)
    assert all(torch.allclose(mean[name], single[name] ** 2) for name in mean)


# -- bad teacher


def test_bad_teacher_with_nothing_to_forget_has_nothing_to_learn():
    data = toy.in_float64(toy.request("mlp", torch.tensor([], dtype=torch.int64)))
    model = toy.original("mlp").double()
    result, run = toy.on_copy(
        "bad_teacher", data, model, bn="frozen", batch_size=whole(data, "retain")
    )
    assert run.cost.steps == 1
    assert abs(run.losses[0]) < 1e-15
    # Adam divides the rounding-level gradient, about 1e-17, by 1e-8; further steps would feed on
    # that
    assert close(
        moved(result, model),
        {name: torch.zeros_like(p) for name, p in model.named_parameters()},
        1e-12,
    )


def test_bad_teacher_uniform_flattens_the_forget_set():
    data = toy.request("mlp")
    result, _ = toy.unlearn(
        "bad_teacher",
        data,
        "mlp",
        teacher="uniform",
        retain_fraction=0.0,
        epochs=60,
        lr=5e-3,
        bn="frozen",
        reduction="batchmean",
    )
    start = torch.softmax(toy.logits(toy.trained("mlp"), data.forget), 1).amax(1).mean()
    flat = torch.softmax(toy.logits(result, data.forget), 1).amax(1).mean()
    assert start > 0.9
    assert flat < 1 / 6 + 0.02


def test_bad_teacher_element_mean_is_the_batch_mean_over_classes():
    generator = torch.Generator().manual_seed(0)
    student = torch.randn(7, 6, generator=generator)
    target = torch.softmax(torch.randn(7, 6, generator=generator), 1)
    by_class = (target * (target.log() - torch.log_softmax(student / 2, 1))).sum() / 7
    assert soft_divergence(student, target, 2.0) == pytest.approx(by_class.item(), rel=1e-6)
    assert soft_divergence(student, target, 2.0, reduction="element_mean") == pytest.approx(
        by_class.item() / 6, rel=1e-6
    )


def test_bad_teacher_leaves_its_teachers_alone():
    teachers: list[nn.Module] = []
    data = toy.request("mlp")

    def fresh(seed: int) -> nn.Module:
        teachers.append(toy.problem("mlp").network(seed))
        return teachers[-1]

    start = toy.original("mlp")
    _, run = toy.on_copy("bad_teacher", replace(data, fresh_model=fresh), start)
    assert toy.same(start, toy.trained("mlp"))
    (teacher,) = teachers
    teacher = teacher.requires_grad_(True)
    assert all(
        float(value.abs().sum()) == 0
        for name, value in teacher.named_buffers()
        if name.endswith("running_mean")
    )
    assert 0 < run.diagnostics["bad_teacher_entropy"] <= math.log(6)


def test_bad_teacher_reads_a_fixed_part_of_the_retain_set():
    data = toy.request("mlp")
    _, run = toy.unlearn("bad_teacher", data, "mlp", retain_fraction=0.2)
    assert run.cost.reads == {
        "forget/backward": whole(data),
        "retain/backward": round(0.2 * whole(data, "retain")),
    }
