"""Property tests of the methods that cross boundaries, make noise, or did well in the challenge."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import Any

import pytest
import torch
import toy
from torch import Tensor, nn
from toy import PLAIN, moved, smooth

from mucore.blocks import adversarial
from mucore.engine.data import TensorImages, UnlearningData
from mucore.engine.features import classifier_layer, replace_layer
from mucore.engine.run import Run
from mucore.methods.boundary_expanding import widened
from mucore.methods.ct import transpose_kernels
from mucore.methods.fcs import contrast_loss
from mucore.methods.unsir import drawn_per_class


def whole_batch(data: UnlearningData, role: str = "forget"):
    samples = getattr(data, role)
    (batch,) = samples.batches(Run(seed=0), len(samples))
    return batch


def changed(after: nn.Module, before: nn.Module) -> set[str]:
    return {name for name, change in moved(after, before).items() if bool((change != 0).any())}


# -- images made against a network


def test_uphill_is_the_direction_of_the_gradient_of_the_cross_entropy():
    data, model = toy.in_float64(toy.request("mlp", "random")), smooth()
    batch = whole_batch(data)
    logits, direction = adversarial.uphill(model, batch.x, batch.y)
    x = batch.x.clone().requires_grad_(True)
    loss = nn.functional.cross_entropy(model(x), batch.y, reduction="none")
    (gradient,) = torch.autograd.grad(loss.sum(), x)
    error = 1 - torch.softmax(logits, 1).gather(1, batch.y.unsqueeze(1)).view(-1, 1, 1, 1)
    assert torch.allclose(gradient, error * direction, rtol=1e-9, atol=1e-14)


def test_uphill_does_not_vanish_where_the_cross_entropy_does():
    data, model = toy.request("mlp"), toy.original("mlp")
    with torch.no_grad():
        classifier_layer(model).weight.mul_(100)
        classifier_layer(model).bias.mul_(100)
    batch = whole_batch(data)
    x = batch.x.clone().requires_grad_(True)
    (gradient,) = torch.autograd.grad(nn.functional.cross_entropy(model(x), batch.y), x)
    lost = gradient.flatten(1).norm(dim=1) == 0
    assert lost.float().mean() > 0.5
    assert bool((adversarial.uphill(model, batch.x, batch.y)[1].flatten(1).norm(dim=1) > 0).all())


def test_a_step_by_sign_stays_in_range_and_on_the_grid():
    pixels = torch.tensor([0.5, 250 / 255, 5 / 255, 0.4])
    step = adversarial.step_by_sign(pixels, torch.tensor([2.0, 1e-9, -3.0, 0.0]), 0.1)
    # 127.5 + 25.5 = 153; 250 + 25.5 is cut to 255; 5 - 25.5 to 0; without a gradient 0.4 = 102
    # stays
    assert torch.allclose(step * 255, torch.tensor([153.0, 255.0, 0.0, 102.0]))
    start = torch.randint(0, 256, (5000,), generator=torch.Generator().manual_seed(0)) / 255
    for epsilon in (4 / 255, 0.1, 0.013):
        moved = adversarial.step_by_sign(
            start, torch.randn(5000, generator=torch.Generator().manual_seed(1)), epsilon
        )
        assert (moved - start).abs().max() <= epsilon + 1 / 510 + 1e-6
        assert moved.min() >= 0 and moved.max() <= 1


def test_the_attack_sees_what_a_bare_loop_sees_and_touches_nothing():
    data, model = toy.in_float64(toy.request("mlp")), smooth()
    before = toy.fingerprint(model)
    run = Run(seed=0)
    # 28.05 levels, no tie
    crossed = adversarial.fast_gradient_sign(model, data.forget, run, epsilon=0.11, batch_size=64)
    batch = whole_batch(data)
    x = batch.x.clone().requires_grad_(True)
    nn.functional.cross_entropy(model(x), batch.y).backward()
    assert x.grad is not None
    pixels = ((batch.x * 0.2 + 0.5) + 0.11 * x.grad.sign()).clamp(0, 1)
    attacked = model(((pixels * 255).round() / 255 - 0.5) / 0.2)
    # mean and std are 0.5 and 0.2 in float32
    assert torch.allclose(crossed.attacked, attacked, atol=1e-6)
    assert torch.allclose(crossed.clean, model(batch.x), atol=1e-12)
    assert toy.fingerprint(model) == before
    assert run.cost.reads == {"forget/backward": 300, "attack/forward": 300}


def linear(gain: float) -> nn.Sequential:
    """Two classes of 16 pixels whose border is Σ x = 8; the Euclidean distance of an image to it is
    |Σ x - 8| / 4.
    """
    model = nn.Sequential(nn.Flatten(), nn.Linear(16, 2))
    layer = classifier_layer(model)
    with torch.no_grad():
        layer.weight.copy_(torch.stack([-torch.ones(16), torch.ones(16)]) * gain)
        layer.bias.copy_(torch.tensor([8.0, -8.0]) * gain)
    return model.eval()


def flat_images(values: list[float], labels: list[int]):
    unscaled = TensorImages(torch.zeros(1, 1, 4, 4), [0.0], [1.0], "cpu")
    pixels = torch.tensor(values).view(-1, 1, 1, 1).expand(-1, 1, 4, 4).contiguous()
    return adversarial.made_samples(unscaled, pixels, torch.tensor(labels), "forget")


@pytest.mark.parametrize("gain", [1.0, 1e4], ids=["plain", "saturated"])
def test_the_nearest_adversarial_image_is_just_across_the_border(gain: float):
    samples = flat_images([0.45, 0.485, 0.53, 0.6, 0.7], [0, 0, 1, 1, 0])
    found = adversarial.nearest_adversarial(
        linear(gain), samples, Run(seed=0), radius=0.04, steps=50, doublings=10, batch_size=3
    )
    change = (
        (found.pixels - torch.tensor([0.45, 0.485, 0.53, 0.6, 0.7]).view(-1, 1, 1, 1))
        .flatten(1)
        .norm(dim=1)
    )
    # |16 v - 8| / 4; the last one is misread already
    distance = torch.tensor([0.05, 0.015, 0.03, 0.1, 0.0]) * 4
    assert found.labels.tolist() == [1, 1, 0, 0, 1]
    assert found.failed == 0
    assert (change >= distance - 1e-5).all()
    assert (change <= distance + found.radii / 10 + 1e-5).all()
    assert (change <= found.radii + 1e-6).all()
    # the first radius of 0.04 · 2^k that reaches the border
    assert found.radii.tolist() == pytest.approx([0.32, 0.08, 0.16, 0.64, 0.04], rel=1e-5)


def test_input_curvature_is_the_turn_of_the_gradient():
    data, model = toy.in_float64(toy.request("mlp", "random")), smooth()
    batch = whole_batch(data)

    def gradient(x: Tensor) -> Tensor:
        return torch.func.grad(lambda x: nn.functional.cross_entropy(model(x), batch.y))(x)

    sign = gradient(batch.x).sign() + 1e-7
    z = 0.9 * sign / sign.flatten(1).norm(dim=1).view(-1, 1, 1, 1)
    turn = (gradient(batch.x + z) - gradient(batch.x)).flatten(1).norm(dim=1)
    assert torch.allclose(
        adversarial.input_curvature(model, batch.x, batch.y, h=0.9), turn, atol=1e-12
    )


# -- L2UL


def test_a_targeted_image_ends_where_the_ball_or_the_range_does():
    """Towards the other class all 16 pixels move alike: by radius / 4, or as far as 0 or 1."""
    samples = flat_images([0.45, 0.55], [1, 0])
    options = toy.settings(step=0.1, steps=100, batch_size=2)
    for radius, ends in ((0.4, (0.55, 0.45)), (4.0, (1.0, 0.0))):
        pixels = adversarial.targeted_adversarial(
            linear(0.1), samples, Run(seed=0), radius=radius, **options
        )
        wanted = torch.tensor(ends).view(-1, 1, 1, 1).expand_as(pixels)
        assert torch.allclose(pixels, wanted, atol=1e-4)


def test_l2ul_takes_the_steps_of_its_loss(monkeypatch: pytest.MonkeyPatch):
    data, model = toy.request("mlp", "random"), smooth().float()
    n, rate, weight = len(data.forget), 0.1, 2.0
    options = toy.settings(copies=1, batch_size=n, adversarial_batch_size=n, iterations=2)
    options |= {"lr": rate, "reg_lambda": weight, **PLAIN}
    result, run = toy.on_copy("l2ul", data, model, **options)
    assert run.cost.steps == 2

    calls = toy.watch_fit(monkeypatch, "l2ul")
    toy.on_copy("l2ul", data, model, **options)
    made = calls[0]["phases"][0].data(0)
    assert bool((made.labels != data.forget.labels[-1 - made.ids]).all())
    squares = toy.gradient(model, data.forget, lambda z, y: z.square().sum(1).mean())
    held = {}
    for name, g in squares.items():
        g = g.abs()
        held[name] = (g.max() - g) / (g.max() - g.min())
    net, start = copy.deepcopy(model), dict(model.named_parameters())
    for _ in range(2):
        up, down = toy.gradient(net, data.forget), toy.gradient(net, made)
        with torch.no_grad():
            for name, p in net.named_parameters():
                pull = weight * held[name] * (p - start[name])
                p -= rate * ((down[name] - up[name]) / 2 + pull)
    wanted = moved(net, model)
    assert all(
        torch.allclose(m, wanted[name], atol=1e-6) for name, m in moved(result, model).items()
    )


def test_l2ul_ends_with_the_step_after_which_no_sample_has_its_label():
    data = toy.request("mlp")
    result, run = toy.unlearn("l2ul", data, "mlp", iterations=200, lr=0.1, copies=1)
    assert toy.accuracy(result, data.forget) == 0 and toy.accuracy(result, data.retain) > 0.9
    assert run.stop_reason and 1 < run.cost.steps < 200


# -- boundary shrink


@pytest.mark.parametrize("forget", ["class", "random"])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5])
def test_shrink_labels_are_allowed_classes(
    monkeypatch: pytest.MonkeyPatch, forget: Any, epsilon: float
):
    calls = toy.watch_fit(monkeypatch, "boundary_shrink")
    data = toy.request("mlp", forget)
    toy.unlearn("boundary_shrink", data, "mlp", epsilon=epsilon)
    labels = calls[0]["phases"][0].data.labels
    assert data.other_labels(data.forget.labels)[torch.arange(len(labels)), labels].all()


def test_shrink_weighs_samples_by_how_clearly_they_crossed():
    data, model = toy.in_float64(toy.request("mlp")), smooth()
    options: dict[str, Any] = {"lr": 0.0, "epochs": 1, "batch_size": 300, "on_fail": "keep"}
    _, run = toy.on_copy("boundary_shrink", data, model, extra="weights", **options)
    crossed = adversarial.fast_gradient_sign(
        model, data.forget, Run(seed=0), epsilon=0.1, batch_size=300
    )
    top = torch.softmax(crossed.attacked, 1).topk(2, 1)
    weights = 3 / (1 + torch.exp(-5 * (top.values[:, 1] - top.values[:, 0] - 0.5)))
    losses = -torch.log_softmax(crossed.clean, 1).gather(1, top.indices[:, :1]).squeeze(1)
    assert run.losses[0] == pytest.approx((weights * losses).mean().item(), rel=1e-5)


def test_the_curvature_term_by_hand(monkeypatch: pytest.MonkeyPatch):
    calls = toy.watch_fit(monkeypatch, "boundary_shrink")
    data, model, later = toy.in_float64(toy.request("mlp")), smooth(), smooth(1)
    toy.on_copy("boundary_shrink", data, model, extra="curvature")
    phase, truth = calls[0]["phases"][0], whole_batch(data).y
    (batch,) = phase.data.batches(Run(seed=0), len(data.forget))
    before, now = (
        adversarial.input_curvature(network, batch.x, truth, h=0.9) for network in (model, later)
    )
    wanted = nn.functional.cross_entropy(later(batch.x), batch.y) + 0.7 * (before - now).norm()
    assert phase.loss(later, batch).item() == pytest.approx(wanted.item(), rel=1e-9)


# -- boundary expanding


def test_the_wide_layer_says_what_the_original_says():
    data, model = toy.request("mlp"), toy.original("mlp")
    before = toy.logits(model, data.retain)
    head = classifier_layer(model)
    wide = widened(head, torch.Generator().manual_seed(0))
    replace_layer(model, head, wide)
    after = toy.logits(model, data.retain)
    assert after.shape == (len(data.retain), 7)
    assert torch.allclose(after[:, :6], before, rtol=0, atol=1e-5)
    assert wide.bias[6] == 0 and torch.equal(wide.weight[:6], head.weight)
    large = widened(nn.Linear(20_000, 9, bias=False), torch.Generator().manual_seed(0))
    assert large.bias is None
    assert large.weight[9].std().item() == pytest.approx(math.sqrt(2 / (20_000 + 10)), rel=0.03)


def test_expanding_takes_the_step_of_the_wide_network_and_gives_its_old_rows_back():
    data, model = toy.in_float64(toy.request("mlp")), smooth()
    wide = copy.deepcopy(model)
    replace_layer(
        wide, classifier_layer(wide), widened(classifier_layer(model), Run(seed=0).rng("init"))
    )
    options = toy.settings(lr=0.1, epochs=1, batch_size=300, stop_share=None) | PLAIN
    result, _ = toy.on_copy("boundary_expanding", data, model, **options)
    nn.functional.cross_entropy(wide(whole_batch(data).x), torch.full((300,), 6)).backward()
    for (name, after), step in zip(result.named_parameters(), wide.parameters(), strict=True):
        assert step.grad is not None
        assert torch.allclose(after, (step - 0.1 * step.grad)[: len(after)], rtol=0, atol=1e-12), (
            name
        )


# -- CT


def test_the_transposed_network_reads_mirrored_images_like_the_original():
    data, original = toy.in_float64(toy.request("conv")), toy.original("conv").double()
    mirrored = copy.deepcopy(original)
    assert transpose_kernels(mirrored, Run(seed=0)) == 3
    x = whole_batch(data, "retain").x
    with torch.no_grad():
        assert torch.allclose(mirrored(x.transpose(2, 3)), original(x), rtol=0, atol=1e-12)
        assert not torch.allclose(mirrored(x), original(x), rtol=0, atol=1e-3)
    assert transpose_kernels(mirrored, Run(seed=0)) == 3
    assert toy.same(mirrored, original)


def test_ct_lowers_its_rate_from_epoch_to_epoch(monkeypatch: pytest.MonkeyPatch):
    calls = toy.watch_fit(monkeypatch, "ct")
    toy.unlearn("ct", "mlp", epochs=3)
    assert [calls[0]["optimizer"].schedule(epoch) for epoch in range(3)] == pytest.approx(
        [1, 0.75, 0.25]
    )


# -- NIU

STILL = toy.settings(lr=0.0, last_lr=0.0, reset_epochs=0, fine_epochs=0, reset_output=False)
# of the perceptron, outside batch norm
TENSORS = {"1.weight", "1.bias", "4.weight", "4.bias", "7.weight", "7.bias"}


def test_niu_draws_the_output_layer_anew():
    data, start = toy.request("mlp"), toy.trained("mlp")
    fresh: list[nn.Module] = []

    def network(seed: int) -> nn.Module:
        fresh.append(toy.problem("mlp").network(seed))
        return fresh[-1]

    options: dict[str, Any] = {**STILL, "sigma": 0.0, "reset_output": True, "noise_epochs": 0}
    result, _ = toy.unlearn("niu", toy.request("mlp", fresh_model=network), "mlp", **options)
    assert changed(result, start) == {"7.weight", "7.bias"}
    assert torch.equal(classifier_layer(result).weight, classifier_layer(fresh[0]).weight)
    other, _ = toy.unlearn("niu", data, "mlp", seed=1, **options)
    assert changed(other, result) == {"7.weight", "7.bias"}


@pytest.mark.parametrize(
    ("chosen", "share", "count"), [(3, 0.7, 2), (6, 0.7, 4), (9, 0.7, 4), (4, 0.5, 2), (5, 0.1, 0)]
)
def test_niu_noises_at_most_its_share(chosen: int, share: float, count: int):
    options = STILL | toy.settings(
        noise_epochs=1, chosen_tensors=chosen, noise_share=share, sigma=0.04
    )
    result, run = toy.unlearn("niu", "mlp", **options)
    touched = changed(result, toy.trained("mlp"))
    assert len(touched) == count and touched <= TENSORS
    if touched & {"1.weight", "4.weight"}:
        size = max(
            (moved(result, toy.trained("mlp"))[name] for name in touched),
            key=lambda change: change.numel(),
        )
        assert size.std().item() == pytest.approx(0.04, rel=0.1)
        assert run.diagnostics["noise_to_weight"] > 0


def test_niu_raises_its_rate_in_the_very_last_epoch(monkeypatch: pytest.MonkeyPatch):
    calls = toy.watch_fit(monkeypatch, "niu")
    toy.unlearn("niu", "mlp", reset_epochs=1, noise_epochs=4, fine_epochs=4)
    assert [call["optimizer"].lr for call in calls] == [2e-4] * 8 + [1e-3]
    assert all(call["epochs"] == 1 for call in calls)


# -- MSG


def pull(data: UnlearningData, seed: int, batch_size: int) -> dict[str, Tensor]:
    """Gradient sum over the drawn part of the retain set minus that over the forget set, by
    backward passes.
    """
    model = toy.original("conv").eval()
    part = data.retain[
        torch.randperm(len(data.retain), generator=Run(seed=seed).rng("subset"))[: len(data.forget)]
    ]
    for samples, sign in ((part, 1), (data.forget, -1)):
        for batch in samples.batches(Run(seed=0), batch_size):
            (sign * nn.functional.cross_entropy(model(batch.x), batch.y)).backward()
    return {name: p.grad for name, p in model.named_parameters() if p.grad is not None}


def test_msg_draws_exactly_its_share_of_each_convolution_anew():
    data, start = toy.request("conv"), toy.trained("conv")
    result, run = toy.unlearn("msg", data, "conv", lr=0.0, weight_decay=0.0, epochs=1)
    gradients = pull(data, 0, 64)
    assert changed(result, start) == {"0.weight", "4.weight", "7.weight"}
    for name, change in moved(result, start).items():
        if name in ("0.weight", "4.weight", "7.weight"):
            count = round(0.3 * change.numel())
            assert int((change != 0).sum()) == count
            size = gradients[name].abs()
            assert size[change != 0].max() <= size[change == 0].min() + 1e-7
    fresh = dict(result.named_parameters())["7.weight"][moved(result, start)["7.weight"] != 0]
    assert fresh.std().item() == pytest.approx(math.sqrt(2 / (16 * 9)), rel=0.1)
    assert run.diagnostics["reinitialised_share"] == pytest.approx(0.3, abs=0.01)


def test_msg_ranks_over_the_network_if_told():
    start = toy.trained("conv")
    options = toy.settings(lr=0.0, weight_decay=0.0, epochs=1, ranking="network", share=0.25)
    result, _ = toy.unlearn("msg", "conv", **options)
    counts = {name: int((change != 0).sum()) for name, change in moved(result, start).items()}
    assert sum(counts.values()) == int(0.25 * (72 + 1152 + 2304))
    assert counts["4.weight"] != round(0.25 * 1152)


def test_msg_moves_kept_convolution_weights_ten_times_less():
    data = toy.in_float64(toy.request("conv"))
    options: dict[str, Any] = {"lr": 0.01, "epochs": 1, "batch_size": len(data.retain), **PLAIN}
    start = toy.original("conv").double()
    unmoved: dict[str, Any] = {**options, "lr": 0.0}
    still, _ = toy.on_copy("msg", data, start, **unmoved)
    full, _ = toy.on_copy("msg", data, start, kept_factor=1.0, **options)
    tenth, _ = toy.on_copy("msg", data, start, kept_factor=0.1, **options)
    for name, change in moved(full, still).items():
        softened = moved(tenth, still)[name]
        kept = moved(still, start)[name] == 0
        if name in ("0.weight", "4.weight", "7.weight"):
            assert torch.allclose(softened[kept], 0.1 * change[kept], rtol=1e-6, atol=1e-15)
            assert torch.allclose(softened[~kept], change[~kept], rtol=1e-9, atol=1e-15)
        else:
            assert torch.allclose(softened, change, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize(
    ("epochs", "factors"),
    [
        (5, [1 / 3, 2 / 3, 1, 2 / 3, 1 / 3]),
        (1, [1]),
        (2, [1, 1 / 2]),
        (4, [1 / 2, 1, 2 / 3, 1 / 3]),
    ],
)
def test_msg_warms_up_and_cools_down(
    monkeypatch: pytest.MonkeyPatch, epochs: int, factors: list[float]
):
    calls = toy.watch_fit(monkeypatch, "msg")
    toy.unlearn("msg", "mlp", epochs=epochs)
    assert [calls[0]["optimizer"].schedule(epoch) for epoch in range(epochs)] == pytest.approx(
        factors
    )


# -- FCS


def test_the_contrast_loss_is_at_least_the_log_of_the_batch():
    generator = torch.Generator().manual_seed(0)
    for scale in (0.1, 1.0, 30.0):
        forgotten = torch.randn(9, 5, generator=generator) * scale
        retained = torch.randn(31, 5, generator=generator) * scale
        assert contrast_loss(forgotten, retained, 1.15) >= math.log(31) - 1e-6
    assert contrast_loss(torch.zeros(9, 5), retained, 1.15).item() == pytest.approx(math.log(31))
    # one forgotten sample with inner products 0 and ln 3 · t: softmax 1/4 and 3/4
    by_hand = -(math.log(1 / 4) + math.log(3 / 4)) / 2
    pair = torch.tensor([[0.0], [math.log(3) * 2.0]])
    assert contrast_loss(torch.ones(1, 1), pair, 2.0).item() == pytest.approx(by_hand)


# -- UNSIR


def test_class_noise_raises_the_loss_and_leaves_the_network_alone():
    data, model = toy.request("conv"), toy.original("conv").train()
    before = toy.fingerprint(model)
    options: dict[str, Any] = {"count": 32, "lr": 0.1, "penalty": 0.1}
    losses = []
    for steps in (0, 40):
        noise = adversarial.class_noise(
            model, data.retain.images, 1, Run(seed=0), steps=steps, **options
        )
        with torch.no_grad():
            losses.append(
                nn.functional.cross_entropy(
                    model.eval()(noise), torch.ones(32, dtype=torch.int64)
                ).item()
            )
    assert losses[1] > losses[0] + 1
    assert toy.fingerprint(model) == before
    assert all(p.grad is None for p in model.parameters())


def test_evading_noise_runs_from_the_logits_and_is_an_image():
    data, model = toy.request("conv"), toy.original("conv").eval()
    batch = whole_batch(data)
    distances = []
    for steps in (0, 20):
        noise = adversarial.evading_noise(
            model, data.forget.images, batch.x, Run(seed=0), steps=steps, lr=0.05
        )
        pixels = adversarial.to_pixels(data.forget.images, noise)
        assert pixels.min() >= -1e-6 and pixels.max() <= 1 + 1e-6
        with torch.no_grad():
            distances.append(nn.functional.mse_loss(model(noise), model(batch.x)).item())
    assert distances[1] > distances[0]


def test_the_instance_form_teaches_retained_labels_on_noise_and_image():
    data, model = toy.in_float64(toy.request("mlp", "random")), smooth()
    data = replace(data, retain=data.retain[torch.arange(200)])
    options = toy.settings(
        instance_epochs=1, instance_batch_size=500, instance_lr=0.0, instance_noise_steps=0
    )
    _, run = toy.on_copy("unsir", data, model, **options)
    drawn, order = Run(seed=0), Run(seed=0).rng("order/retain")
    batch = whole_batch(
        replace(data, retain=data.retain[torch.randperm(200, generator=order)]), "retain"
    )
    pixels = torch.randn(180, 1, 4, 4, generator=drawn.rng("noise")).clamp(0, 1)
    on_noise = nn.functional.cross_entropy(
        model(adversarial.to_input(data.forget.images, pixels)), batch.y[:180]
    )
    plain = nn.functional.cross_entropy(model(batch.x), batch.y)
    assert run.losses == pytest.approx([(on_noise + plain).item(), plain.item()], rel=1e-5)


@pytest.mark.parametrize(("use", "images"), [("full", 64), ("official60", 1)])
def test_the_impair_set_is_noise_and_a_part_of_each_class(use: str, images: int):
    data = toy.request("mlp")
    options = toy.settings(
        form="class", noise_use=use, noise_batches=3, class_noise_steps=10, retain_per_class=40
    )
    _, run = toy.unlearn("unsir", data, "mlp", **options)
    assert run.cost.reads == {"noise/backward": 10 * 64 + 3 * images, "retain/backward": 2 * 5 * 40}
    part = drawn_per_class(data.retain, 40, Run(seed=0))
    assert torch.bincount(part.labels, minlength=6).tolist() == [0, 40, 40, 40, 40, 40]
    assert len(part.ids.unique()) == 200
    assert len(drawn_per_class(data.retain, 10_000, Run(seed=0))) == len(data.retain)


# -- AMUN


def test_adversarial_images_are_wrong_near_and_as_many_as_forgotten_samples():
    data, model = toy.request("mlp", "random"), toy.original("mlp")
    before = toy.fingerprint(model)
    found = adversarial.nearest_adversarial(
        model, data.forget, Run(seed=0), radius=0.04, steps=50, doublings=10, batch_size=64
    )
    pixels = adversarial.to_pixels(data.forget.images, whole_batch(data).x)
    assert len(found.pixels) == len(found.labels) == len(data.forget)
    assert found.failed == 0 and not (found.labels == data.forget.labels).any()
    assert ((found.pixels - pixels).flatten(1).norm(dim=1) <= found.radii + 1e-5).all()
    assert found.pixels.min() >= 0 and found.pixels.max() <= 1
    made = adversarial.made_samples(data.forget.images, found.pixels, found.labels, "adversarial")
    # an image right at the border may fall back by rounding
    assert toy.accuracy(model, made) > 0.98
    assert toy.fingerprint(model) == before
