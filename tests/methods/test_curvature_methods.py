"""The influence updates, Fisher forgetting, NTK scrubbing and SFRon against what their mathematics
says.
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
from torch.func import functional_call, jacrev

from mucore.blocks import curvature, importance, linearised, solvers
from mucore.blocks.prediction_fisher import fisher_of_predictions
from mucore.engine.data import Mixture, Samples, UnlearningData
from mucore.engine.features import classifier_layer
from mucore.engine.losses import inverse_loss_weights
from mucore.engine.run import Run

EXACT: dict[str, Any] = {"iterations": 2000, "tolerance": 1e-13, "retain_samples": None}


def smooth(seed: int = 0) -> nn.Module:
    """A network without batch norm for the perceptron's data, in double precision."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return (
            nn.Sequential(nn.Flatten(), nn.Linear(16, 7), nn.Tanh(), nn.Linear(7, 6))
            .double()
            .eval()
        )


def linear(seed: int = 0) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return nn.Sequential(nn.Flatten(), nn.Linear(16, 6)).double().eval()


def inputs(samples: Samples | Mixture) -> tuple[Tensor, Tensor]:
    (batch,) = samples.batches(Run(seed=0), len(samples))
    return batch.x, batch.y


def weights(model: nn.Module) -> Tensor:
    return curvature.to_vector(p.detach() for p in model.parameters())


def gradient(model: nn.Module, samples: Samples, *, mean: bool = False) -> Tensor:
    x, y = inputs(samples)
    loss = nn.functional.cross_entropy(model(x), y, reduction="mean" if mean else "sum")
    return curvature.to_vector(torch.autograd.grad(loss, list(model.parameters())))


def loss(model: nn.Module, samples: Samples) -> float:
    x, y = inputs(samples)
    with torch.no_grad():
        return nn.functional.cross_entropy(model(x), y).item()


def columns(samples: Samples | Mixture) -> tuple[Tensor, Tensor]:
    """Inputs with a column of ones (n, 17) and one-hot labels (n, 6), for regressions solved by
    hand.
    """
    x, y = inputs(samples)
    return torch.cat(
        [x.flatten(1), torch.ones(len(x), 1, dtype=x.dtype)], 1
    ), nn.functional.one_hot(y, 6).double()


def ridge_solution(
    samples: Samples | Mixture, penalty: float, towards: Tensor | None = None
) -> Tensor:
    """Weights and biases (6, 17) that minimise the sum of half squared errors plus penalty / 2 · |W
    - towards|².
    """
    x, y = columns(samples)
    towards = torch.zeros(6, 17, dtype=x.dtype) if towards is None else towards
    right = x.T @ y + penalty * towards.T
    return torch.linalg.solve(x.T @ x + penalty * torch.eye(17, dtype=x.dtype), right).T


def put(model: nn.Module, solution: Tensor) -> nn.Module:
    layer = model.get_submodule("1")
    assert isinstance(layer, nn.Linear)
    with torch.no_grad():
        layer.weight.copy_(solution[:, :16])
        layer.bias.copy_(solution[:, 16])
    return model


def of(model: nn.Module) -> Tensor:
    layer = model.get_submodule("1")
    assert isinstance(layer, nn.Linear)
    return torch.cat([layer.weight, layer.bias.unsqueeze(1)], 1).detach()


# -- first order


def test_first_order_takes_one_step_up_the_summed_gradient():
    data, model = toy.in_float64(toy.request("mlp")), smooth()
    result, run = toy.on_copy("first_order", data, model, tau=1e-3)
    assert torch.allclose(
        weights(result) - weights(model), 1e-3 * gradient(model, data.forget), atol=1e-14
    )
    assert run.cost.steps == 1 and run.cost.reads == {"forget/backward": len(data.forget)}


@pytest.mark.parametrize("counterpart", ["random_label", "soft_uniform"])
def test_first_order_counterparts(counterpart: str):
    data, model, tau = toy.in_float64(toy.request("mlp")), smooth(), 1e-5
    result, _ = toy.on_copy("first_order", data, model, tau=tau, counterpart=counterpart)
    # the gradient of what takes the set's place
    moved = (weights(model) - weights(result)) / tau + gradient(model, data.forget)
    x, _ = inputs(data.forget)
    if counterpart == "soft_uniform":
        new = nn.functional.cross_entropy(
            model(x), torch.full((len(x), 6), 1 / 6, dtype=x.dtype), reduction="sum"
        )
        wanted = curvature.to_vector(torch.autograd.grad(new, list(model.parameters())))
        assert torch.allclose(moved, wanted, atol=1e-7)
    else:
        assert loss(result, data.forget) > loss(model, data.forget)
        assert not torch.allclose(moved, gradient(model, data.forget))


# -- second order


@pytest.fixture
def regression(monkeypatch: pytest.MonkeyPatch) -> tuple[UnlearningData, nn.Module, float]:
    """A ridge regression on the perceptron's data, solved, in place of a classification; its
    penalty on the sum of losses.
    """
    monkeypatch.setattr(curvature, "cross_entropy_sum", curvature.squared_sum)
    monkeypatch.setattr(solvers, "TOLERANCE", 1e-14)
    data = small(forget=60, retain=540)
    penalty = data.recipe.weight_decay * (len(data.retain) + len(data.forget))
    model = put(linear(), ridge_solution(Mixture((data.retain, data.forget)), penalty))
    return data, model, penalty


NEWTON = toy.settings(
    solver="cg_hessian", damping=0.0, iterations=1000, hvp_samples=10**6, zeta=1.0
)


def test_second_order_gives_the_retrained_ridge_regression(
    regression: tuple[UnlearningData, nn.Module, float],
):
    data, model, penalty = regression
    wanted = ridge_solution(data.retain, penalty)
    start = of(model)
    result, run = toy.on_copy("second_order", data, model, **NEWTON)
    assert (of(result) - wanted).abs().max() < 1e-10 < (start - wanted).abs().max()
    # The Hessian of all data in place of the retain set's, by hand: plainly another solution.
    x, y = columns(data.forget)
    everything, _ = columns(Mixture((data.retain, data.forget)))
    wrong = (
        start
        + torch.linalg.solve(
            everything.T @ everything + penalty * torch.eye(17).double(), x.T @ (x @ start.T - y)
        ).T
    )
    assert (wrong - wanted).abs().max() > 1e-5
    assert run.diagnostics["solver_residual"] < 1e-13


def test_second_order_on_a_network_inverts_its_gauss_newton_matrix(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(solvers, "TOLERANCE", 1e-6)
    data, model = small(forget=10, retain=60), smooth()
    options: dict[str, Any] = {**NEWTON, "solver": "cg_ggn", "damping": 0.05}
    result, run = toy.on_copy("second_order", data, model, **options)
    x, _ = inputs(data.retain)
    rows = dense_jacobian(model, x)
    p = torch.softmax(model(x), 1).detach()
    root = torch.stack(
        [
            torch.linalg.cholesky(torch.diag(r) - torch.outer(r, r) + 1e-14 * torch.eye(6).double())
            for r in p
        ]
    )
    half = torch.einsum("nij,nip->njp", root, rows.view(len(x), 6, -1)).flatten(0, 1)
    n = len(x)
    ridge = data.recipe.weight_decay * (n + len(data.forget)) / n + 0.05
    wanted = (
        torch.linalg.solve(
            half.T @ half / n + ridge * torch.eye(half.shape[1]).double(),
            gradient(model, data.forget),
        )
        / n
    )
    assert torch.allclose(
        weights(result) - weights(model), wanted, rtol=1e-3, atol=1e-3 * wanted.abs().max().item()
    )
    assert run.diagnostics["solver_residual"] <= 1e-6


def test_second_order_reports_a_series_that_diverges():
    data = toy.request("mlp")
    result, run = toy.unlearn("second_order", data, "mlp", solver="lissa", scale=1e-3)
    assert run.status == "diverged" and toy.same(result, toy.trained("mlp"))


@pytest.mark.parametrize("method", ["second_order", "ntk"])
def test_a_linear_system_that_was_not_solved_is_a_status(
    method: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(linearised, "KERNEL_ROWS", 0)
    monkeypatch.setattr(linearised, "SKETCH", 1)
    data = toy.request("mlp")
    _, run = toy.unlearn(method, data, "mlp", iterations=1)
    assert run.status == "unsolved" and "residual" in (run.stop_reason or "")
    _, run = toy.unlearn(method, data, "mlp", iterations=5000)
    assert run.status == "ok" and run.stop_reason is None


# -- Fisher forgetting


def test_fisher_of_a_softmax_regression_is_the_closed_form():
    data, model = toy.in_float64(toy.request("mlp")), linear()
    x, _ = inputs(data.retain)
    p = torch.softmax(model(x), 1).detach()
    found = fisher_of_predictions(model, data.retain, Run(seed=0), batch_size=64)
    wanted = (p * (1 - p)).T @ x.flatten(1).square() / len(x)
    assert torch.allclose(found["1.weight"], wanted, rtol=1e-10)
    assert torch.allclose(found["1.bias"], (p * (1 - p)).mean(0), rtol=1e-10)


@pytest.mark.parametrize("name", ["mlp", "conv"])
def test_fisher_of_predictions_is_the_loop_over_samples_and_classes(name: toy.Name):
    data, model = toy.request(name), toy.original(name).eval()
    samples = data.retain[torch.arange(20)]
    total = {key: torch.zeros_like(p) for key, p in model.named_parameters()}
    for number in range(20):
        x, _ = inputs(samples[torch.tensor([number])])
        log_p = torch.log_softmax(model(x), 1)[0]
        for y in range(data.classes):
            slopes = torch.autograd.grad(log_p[y], list(model.parameters()), retain_graph=True)
            for key, slope in zip(total, slopes, strict=True):
                total[key] += log_p[y].exp().detach() * slope.square() / 20
    run = Run(seed=0)
    found = fisher_of_predictions(model, samples, run, batch_size=16)
    assert all(torch.allclose(found[key], total[key], rtol=1e-4, atol=1e-9) for key in total)
    # a column less than classes, and one look at how many there are
    # each image is read once and passed back once a column
    assert run.cost.reads == {
        "retain/forward": 1,
        "retain/backward": 20,
        "columns/backward": 20 * (data.classes - 2),
    }


def test_fisher_noise_has_the_variance_it_should_have():
    model = toy.original("conv")
    information = {name: torch.full_like(p, 1e-2) for name, p in model.named_parameters()}
    information["0.weight"][3] = 1.0  # a filter that matters
    information["4.bias"].zero_()
    variance = importance.noise_variance(model, information, alpha=1e-4, power=0.5, forgotten=(2,))
    assert variance["0.weight"][3].max().item() == pytest.approx(1e-4)
    assert variance["0.weight"][0].min().item() == pytest.approx(1e-2, rel=1e-5)
    # the clamp, and ten times for vectors
    assert variance["4.bias"][0].item() == pytest.approx(10 * 1e-4 * 1e3, rel=1e-5)
    assert variance["12.weight"][0].max().item() == pytest.approx(10 * 1e-4 * 1e2, rel=1e-5)
    assert variance["12.weight"][2].max().item() == pytest.approx(1e-3, rel=1e-5)
    assert all(float(v.max()) <= 1e4 * 1e-4 * (1 + 1e-6) for v in variance.values())
    mild = importance.noise_variance(model, information, alpha=1e-4, power=0.25, forgotten=())
    assert mild["0.weight"][0].max().item() == pytest.approx(1e-4 * 10, rel=1e-5)
    head, generator, draws = classifier_layer(model), torch.Generator().manual_seed(0), []
    for _ in range(2000):
        before = head.weight.detach().clone()
        importance.add_noise(
            head, {"weight": variance["12.weight"], "bias": variance["12.bias"]}, generator
        )
        draws.append(head.weight.detach() - before)
    assert torch.allclose(
        torch.stack(draws).square().mean((0, 2)), variance["12.weight"].mean(1), rtol=0.1
    )


# -- NTK scrubbing


def dense_jacobian(model: nn.Module, x: Tensor) -> Tensor:
    """(n · C, p)."""
    plain = {name: p.detach() for name, p in model.named_parameters()}
    parts = jacrev(lambda w: functional_call(model, w, (x,)))(plain)
    return torch.cat([part.flatten(2) for part in parts.values()], 2).flatten(0, 1)


def linear_learning(model: nn.Module, samples: Samples | Mixture, ridge: float) -> Tensor:
    """What the official code computes: -Jᵀ (J Jᵀ + ridge)⁻¹ r with the kernel in full, residuals of
    the softmax.
    """
    x, y = inputs(samples)
    rows = dense_jacobian(model, x)
    residual = (torch.softmax(model(x), 1) - nn.functional.one_hot(y, 6)).detach().flatten()
    return -rows.T @ torch.linalg.solve(
        rows @ rows.T + ridge * torch.eye(len(rows)).double(), residual
    )


def small(forget: int = 12, retain: int = 40) -> UnlearningData:
    data = toy.in_float64(toy.request("mlp", "random"))
    return replace(
        data, forget=data.forget[torch.arange(forget)], retain=data.retain[torch.arange(retain)]
    )


def test_ntk_linearised_at_the_start_gives_the_retrained_linear_model():
    data, start, mu = toy.in_float64(toy.request("mlp", "random")), linear(seed=3), 0.01
    everything = Mixture((data.retain, data.forget))
    model = put(linear(), ridge_solution(everything, mu * len(everything), of(start)))
    wanted = ridge_solution(data.retain, mu * len(data.retain), of(start))
    data = replace(data, record={"initial": lambda: copy.deepcopy(start)})
    options = toy.settings(mu=mu, scale="fixed", kappa=1.0, residual="squared") | EXACT
    result, _ = toy.on_copy("ntk", data, model, linearise_at="initial", **options)
    assert (of(result) - wanted).abs().max() < 1e-9 < (of(model) - wanted).abs().max()
    assert toy.same(start, linear(seed=3))


def test_ntk_without_a_jacobian_is_ntk_with_one():
    data, model, mu = small(), smooth(), 0.1
    whole = linear_learning(model, Mixture((data.retain, data.forget)), mu * 52)
    rest = linear_learning(model, data.retain, mu * 40)
    result, _ = toy.on_copy("ntk", data, model, mu=mu, scale="fixed", kappa=2.5, **EXACT)
    assert torch.allclose(
        weights(result) - weights(model), 2.5 * (rest - whole), rtol=1e-8, atol=1e-11
    )
    # the trapezium's stretch, from its formula
    start = smooth(seed=9)
    data = replace(data, record={"initial": lambda: copy.deepcopy(start)})
    _, run = toy.on_copy("ntk", data, model, mu=mu, **EXACT)
    delta, error = rest - whole, weights(model) - weights(start) - rest
    assert run.diagnostics["kappa"] == pytest.approx(
        1 + 2 * abs(float(delta / delta.norm() @ error)) / delta.norm().item(), rel=1e-7
    )


def test_ntk_solves_are_the_projection_form_of_the_paper():
    data, model, ridge = small(), smooth(), 3.0
    every = dict(model.named_parameters())

    def solve(samples: Samples | Mixture) -> Tensor:
        (batch,) = samples.batches(Run(seed=0), len(samples))
        slope = curvature.zeros_of(every)
        loss = curvature.cross_entropy_sum(model(batch.x), batch)
        curvature.add_gradient(slope, loss, every)
        return solvers.conjugate_gradients(
            lambda q: (
                curvature.gauss_newton_product(model, every, batch, q, toy.no_curvature) + ridge * q
            ),
            -slope,
            iterations=2000,
            tolerance=1e-13,
        ).x

    found = solve(data.retain) - solve(Mixture((data.retain, data.forget)))
    (xr, yr), (xf, yf) = inputs(data.retain), inputs(data.forget)
    jr, jf = dense_jacobian(model, xr), dense_jacobian(model, xf)
    rr, rf = (
        (torch.softmax(model(x), 1) - nn.functional.one_hot(y, 6)).detach().flatten()
        for x, y in ((xr, yr), (xf, yf))
    )
    inner = torch.linalg.inv(jr @ jr.T + ridge * torch.eye(len(jr)).double())
    cross = jr @ jf.T
    schur = jf @ jf.T + ridge * torch.eye(len(jf)).double() - cross.T @ inner @ cross
    pushed = jf.T @ torch.linalg.solve(schur, rf - cross.T @ inner @ rr)
    assert torch.allclose(found, pushed - jr.T @ (inner @ (jr @ pushed)), rtol=1e-7, atol=1e-10)


# -- SFRon


def plain(**changes: Any) -> dict[str, Any]:
    return {
        "momentum": 0.0,
        "weight_decay": 0.0,
        "iterations": 12,
        "every": 4,
        "batch_size": 64,
        **changes,
    }


def test_sfron_ascent_keeps_to_its_mask():
    data = toy.request("mlp")
    nowhere, _ = toy.unlearn("sfron", data, "mlp", gamma=1e30, **plain())
    without, _ = toy.unlearn("sfron", data, "mlp", alpha=0.0, **plain())
    assert torch.equal(weights(nowhere), weights(without))
    somewhere, _ = toy.unlearn("sfron", data, "mlp", **plain())
    assert toy.loss(somewhere, data.forget) > toy.loss(without, data.forget)


def test_sfron_ascends_less_and_less_along_a_cosine(monkeypatch: pytest.MonkeyPatch):
    calls = toy.watch_fit(monkeypatch, "sfron")
    data, model = toy.request("mlp", "random"), toy.original("mlp").eval()
    toy.unlearn("sfron", data, model, **plain(alpha=3.0))
    ascent, after_step = calls[0]["phases"][0].loss, calls[0]["after_step"]
    (batch,) = data.forget.batches(Run(seed=0), len(data.forget))
    losses = nn.functional.cross_entropy(model(batch.x), batch.y, reduction="none")
    whole = (inverse_loss_weights(losses, 0.5) * losses).sum().item()
    strengths = []
    for _ in range(4):
        strengths.append(-ascent(model, batch).item() / whole)
        for _ in range(1 + 4):
            after_step(model)
    # after 0, 4, 8 and 12 of 12 retain steps
    assert strengths == pytest.approx([3.0, 3 * 0.75, 3 * 0.25, 0.0], rel=1e-4, abs=1e-6)


def test_sfron_clips_the_ascent_alone_and_slows_whole_iterations(monkeypatch: pytest.MonkeyPatch):
    calls = toy.watch_fit(monkeypatch, "sfron")
    data, model = toy.request("mlp", "random"), toy.original("mlp").eval()
    toy.unlearn("sfron", data, model, **plain(gamma=0.0, beta=0.25))
    ascent = calls[0]["phases"][0].loss
    edit_grads = calls[0]["edit_grads"]
    after_step = calls[0]["after_step"]
    (batch,) = data.forget.batches(Run(seed=0), len(data.forget))
    start, parameters = weights(model).clone(), list(model.parameters())

    def step() -> float:
        """One step by 1 of every weight under a gradient of norm 100, whose norm after the edit is
        given back.
        """
        for p in parameters:
            p.grad = torch.full_like(p, 100 / math.sqrt(len(start)))
        edit_grads(model)
        with torch.no_grad():
            for p in parameters:
                p += 1
        after_step(model)
        return torch.cat([p.grad.flatten() for p in parameters if p.grad is not None]).norm().item()

    ascent(model, batch)
    assert step() == pytest.approx(7.0, rel=1e-4)
    assert torch.allclose(weights(model), start + 1)  # the iteration ends with its retain step
    assert step() == pytest.approx(100.0, rel=1e-4)
    assert torch.allclose(weights(model), start + 0.25 * 2)
