"""What each method's own mathematics demands."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
import toy
from toy import PLAIN, gradient, moved, smooth

from mucore.blocks.importance import fisher_of_samples, saliency
from mucore.blocks.labels import draw_labels, runner_up_labels
from mucore.blocks.masks import density, top_fraction
from mucore.engine.data import Mixture, UnlearningData
from mucore.engine.losses import soft_divergence
from mucore.engine.run import Run

ASCENT: dict[str, Any] = {"stop_loss": None, "grad_clip": None}


def whole(data: UnlearningData, role: str = "forget") -> int:
    return len(getattr(data, role))


def close(
    first: dict[str, torch.Tensor], second: dict[str, torch.Tensor], tolerance: float = 1e-12
) -> bool:
    return all(torch.allclose(first[name], second[name], rtol=0, atol=tolerance) for name in first)


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


def test_gradient_ascent_keeps_frozen_statistics_and_stops_at_the_limit():
    data = toy.request("mlp")
    result, run = toy.unlearn("gradient_ascent", data, "mlp", lr=0.05, epochs=200, stop_loss=1.0)
    assert run.stop_reason and "reached the limit" in run.stop_reason
    assert 0 < run.cost.steps < 200 * data.forget.steps(32)
    assert toy.loss(result, data.forget) >= math.log(6)
    buffers = dict(toy.trained("mlp").named_buffers())
    assert all(torch.equal(value, buffers[name]) for name, value in result.named_buffers())


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


# -- SSD


def importances(data: UnlearningData) -> tuple[dict, dict]:
    model, run = toy.original("mlp"), Run(seed=0)
    return fisher_of_samples(model, data.forget, run, batch_size=64), fisher_of_samples(
        model, Mixture((data.retain, data.forget)), run, batch_size=64
    )


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


def test_ssd_by_samples_selects_nothing_above_the_cap():
    data = toy.request("mlp")
    cap = (whole(data) + whole(data, "retain")) / whole(data)
    result, run = toy.unlearn("ssd", data, "mlp", fisher="sample", alpha=1.01 * cap)
    assert toy.same(result, toy.trained("mlp"))
    assert run.diagnostics["selected_fraction"] == 0
    broken, _ = toy.unlearn("ssd", data, "mlp", fisher="batch", order="shuffled", alpha=1.01 * cap)
    # the cap is a property of samples, not of shuffled batches
    assert not toy.same(broken, toy.trained("mlp"))


# -- bad teacher


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
