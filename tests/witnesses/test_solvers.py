"""Linear systems of second-order influence and NTK scrubbing, with solutions, residuals and updates
worked out by hand.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest
import torch
import toy
from torch import Tensor, nn

from mucore.blocks import linearised, solvers
from mucore.engine.data import Samples, TensorImages, UnlearningData


def samples(role: str, value: int, label: int) -> Samples:
    """One image of one pixel that a network sees as `value`."""
    images = TensorImages(torch.tensor([[[[value]]]], dtype=torch.uint8), [0.0], [1 / 255], "cpu")
    images.mean, images.std = images.mean.double(), images.std.double()
    return Samples(images, torch.tensor([0]), torch.tensor([label]), torch.tensor([value]), role)


def request(retain: Samples, forget: Samples, start: nn.Module) -> UnlearningData:
    data = toy.request("mlp")
    recipe = data.recipe.model_copy(update={"weight_decay": 0.0})
    return replace(
        data,
        retain=retain,
        forget=forget,
        classes=2,
        recipe=recipe,
        record={"initial": lambda: start},
    )


# -- LiSSA

EIGENVALUES = torch.tensor([60.0, 260.0], dtype=torch.float64)
RIGHT = torch.tensor([1.0, 1e-3], dtype=torch.float64)


def series(**changes: Any) -> tuple[Tensor, int]:
    options: dict[str, Any] = {"damping": 0.0, "scale": 100.0, "iterations": 1000, "patience": 20}
    return solvers.lissa(itertools.repeat(lambda u: EIGENVALUES * u), RIGHT, **options | changes)


def test_a_series_gives_its_best_iterate_not_its_last():
    # u_0 = v and u <- v + (1 - a/100) u, so v - a u_k / 100 = v (1 - a/100)^(k + 1): what the k-th
    # iterate u_k / 100 leaves unsolved. Its parts are 0.4^(k + 1) and 0.001 * (-1.6)^(k + 1), with
    # sums of absolute values
    #   k    0       1       2       3       4       5       6
    #        0.4016  0.1626  0.0681  0.0322  0.0207  0.0209  0.0285 ... and 126 at k = 24, where
    #        patience ends.
    # The best is k = 4, with a residual of |(0.01024, 0.01048576)| / |(1, 0.001)| = 0.014656.
    x, steps = series()
    left = RIGHT - EIGENVALUES * x
    assert left.tolist() == pytest.approx([0.01024, -0.01048576]) and steps == 25
    found = solvers.solution(
        lambda q: EIGENVALUES * q, x, RIGHT, iterations=steps, tolerance=solvers.TOLERANCE
    )
    assert found.residual == pytest.approx(0.0146562, rel=1e-4)
    assert not found.converged  # it fell, but not far enough before it grew


def test_the_residual_is_that_of_the_solution_not_the_last_change():
    # Without the second eigenvalue's part the k-th iterate leaves 0.4^(k + 1). Cut after three
    # steps, the best is k = 2: 0.064.
    x, steps = solvers.lissa(
        itertools.repeat(lambda u: 60.0 * u),
        torch.ones(1, dtype=torch.float64),
        damping=0.0,
        scale=100.0,
        iterations=3,
        patience=20,
    )
    found = solvers.solution(
        lambda q: 60.0 * q, x, torch.ones(1, dtype=torch.float64), iterations=steps, tolerance=0.065
    )
    assert found.residual == pytest.approx(0.064) and found.converged
    assert not solvers.solution(
        lambda q: 60.0 * q, x, torch.ones(1, dtype=torch.float64), iterations=3, tolerance=0.063
    ).converged


def test_damping_is_added_to_the_matrix():
    # (60 + 40) x = 1: with scale 100 the first step is the solution, x = 0.01.
    x, _ = solvers.lissa(
        itertools.repeat(lambda u: 60.0 * u),
        torch.ones(1, dtype=torch.float64),
        damping=40.0,
        scale=100.0,
        iterations=30,
        patience=5,
    )
    assert x.item() == pytest.approx(0.01)


# -- conjugate gradients


def test_one_step_of_conjugate_gradients():
    # A = ((4, 1), (1, 3)), b = (1, 2): A b = (6, 7), so the step is b'b / b'Ab = 5 / 20 and x =
    # (1/4, 1/2), which leaves b - A x = (1, 2) - (3/2, 7/4) = (-1/2, 1/4), a quarter of |b|. The
    # second step solves it: x = (1/11, 7/11).
    a = torch.tensor([[4.0, 1.0], [1.0, 3.0]], dtype=torch.float64)
    b = torch.tensor([1.0, 2.0], dtype=torch.float64)
    one, two = (
        solvers.conjugate_gradients(lambda q: a @ q, b, iterations=steps, tolerance=1e-12)
        for steps in (1, 2)
    )
    assert one.x.tolist() == pytest.approx([0.25, 0.5])
    assert one.residual == pytest.approx(0.25)
    assert not one.converged
    assert two.x.tolist() == pytest.approx([1 / 11, 7 / 11]) and two.converged


def test_negative_curvature_ends_with_the_residual_that_it_left():
    # A = diag(1, -1), b = (1, 1/2): the step is b'b / b'Ab = 1.25 / 0.75 = 5/3, x = (5/3, 5/6), and
    # b - A x = (-2/3, 4/3). The next direction is r + (r'r / b'b) b = (-2/3, 4/3) + 16/9 (1, 1/2) =
    # (10/9, 20/9), of curvature (100 - 400) / 81 < 0. So it ends there, at |r| / |b| = sqrt(20/9) /
    # sqrt(5/4) = 4/3.
    a = torch.tensor([1.0, -1.0], dtype=torch.float64)
    b = torch.tensor([1.0, 0.5], dtype=torch.float64)
    found = solvers.conjugate_gradients(
        lambda q: a * q, b, iterations=50, tolerance=solvers.TOLERANCE
    )
    assert found.x.tolist() == pytest.approx([5 / 3, 5 / 6]) and found.iterations == 1
    assert found.residual == pytest.approx(4 / 3) and not found.converged


def test_a_sketch_tells_a_matrix_of_its_rank():
    # K = 9 e e' with e = (0.6, 0.8), ridge 1. From one product the largest eigenvalue is known, 9,
    # and it is the least that is known as well: along e the approximate inverse is (9 + 1) / (9 +
    # 1) = 1, across it 1. With a second one, of eigenvalue 4 across e, (4 + 1) / (9 + 1) = 1/2
    # along e and 1 across it: a multiple (5) of the true inverses 1/10 and 1/5.
    e = torch.tensor([0.6, 0.8], dtype=torch.float64)
    f = torch.tensor([-0.8, 0.6], dtype=torch.float64)
    test = torch.tensor([[1.0, 2.0], [0.5, -1.0]], dtype=torch.float64)
    both = 9 * torch.outer(e, e) + 4 * torch.outer(f, f)
    near = solvers.nystrom(both @ test, test, 1.0)
    assert near(e).tolist() == pytest.approx((e / 2).tolist())
    assert near(f).tolist() == pytest.approx(f.tolist())
    alone = solvers.nystrom(9 * torch.outer(e, e) @ test[:, :1], test[:, :1], 1.0)
    assert alone(e).tolist() == pytest.approx(e.tolist())
    assert alone(f).tolist() == pytest.approx(f.tolist())


# -- second order


class Slope(nn.Module):
    """Logits (w x, 0)."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(1, dtype=torch.float64))

    def forward(self, x: Tensor) -> Tensor:
        first = self.w * x.flatten(1)
        return torch.cat([first, torch.zeros_like(first)], 1)


@pytest.mark.parametrize("solver", ["cg_ggn", "cg_hessian", "lissa"])
def test_the_newton_step_of_one_weight(solver: str):
    # At w = 0 both probabilities are 1/2. The forget sample x = 1 of class 0 has the gradient (p -
    # 1) x = -1/2, so v = +1/2. The retain sample x = 2 has the curvature p (1 - p) x^2 = 1, for the
    # Hessian and for the Gauss-Newton matrix. Newton: w = 0 - (1/2) / 1.
    model = Slope()
    data = request(samples("retain", 2, 0), samples("forget", 1, 0), model)
    options = toy.settings(damping=1e-12, zeta=1.0, scale=1.25, iterations=200, patience=20)
    result, run = toy.unlearn("second_order", data, model, solver=solver, **options)
    assert result.get_parameter("w").item() == pytest.approx(-0.5, rel=1e-6)
    assert run.status == "ok" and run.diagnostics["solver_residual"] < 1e-6


def test_a_series_cut_short_is_unsolved_and_one_that_grows_diverges():
    # Curvature 1, scale 2: u_0 = v leaves 1/2 of v, and each step halves it. After one step the
    # best iterate is u_0 / 2, a residual of 1/2, and the weight has moved half of the way: -0.25.
    # With a scale of 0.4 the first iterate leaves 1 - 1 / 0.4 = -1.5 and the next more: nothing was
    # better than no step, so none is taken.
    data = request(samples("retain", 2, 0), samples("forget", 1, 0), Slope())
    options: dict[str, Any] = {"solver": "lissa", "damping": 1e-12, "zeta": 1.0}
    result, run = toy.unlearn("second_order", data, Slope(), scale=2.0, iterations=1, **options)
    assert run.status == "unsolved" and run.diagnostics["solver_residual"] == pytest.approx(0.5)
    assert "0.5" in (run.stop_reason or "") and str(solvers.TOLERANCE) in (run.stop_reason or "")
    assert result.get_parameter("w").item() == pytest.approx(-0.25)
    result, run = toy.unlearn("second_order", data, Slope(), scale=0.4, **options)
    assert run.status == "diverged"
    assert run.diagnostics["solver_residual"] == pytest.approx(1.5)
    assert result.get_parameter("w").item() == 0


# -- NTK scrubbing


@pytest.mark.parametrize(
    "limit", [linearised.JACOBIAN_BYTES, 0], ids=["Cholesky", "conjugate gradients"]
)
def test_the_shift_of_a_linear_network_with_two_weights(
    limit: int, monkeypatch: pytest.MonkeyPatch
):
    # Logits w x, w = (0, 0), residuals logits minus one-hot. Retain: x = 1 of class 0, r = (-1, 0);
    # forget: x = 2 of class 1, r = (0, -1). With a ridge of 1/2 a sample each class is a ridge
    # regression of its own: w(A) = -sum(x r) / (sum(x^2) + |A| / 2).
    #   w(D) = (1, 2) / (1 + 4 + 1) = (1/6, 1/3), w(retain) = (1, 0) / (1 + 1/2) = (2/3, 0), shift =
    #   (1/2, -1/3).
    # The trapezium, for weights that went from (0, 0) to (0, 0): error = 0 - w(retain) = (-2/3, 0),
    # |shift . error| = 1/3, |shift|^2 = 13/36, kappa = 1 + 2 * (1/3) / (13/36) = 37/13.
    monkeypatch.setattr(linearised, "JACOBIAN_BYTES", limit)
    model = nn.Sequential(nn.Flatten(), nn.Linear(1, 2, bias=False)).double()
    nn.init.zeros_(model.get_parameter("1.weight"))
    start = nn.Sequential(nn.Flatten(), nn.Linear(1, 2, bias=False)).double()
    start.load_state_dict(model.state_dict())
    data = request(samples("retain", 1, 0), samples("forget", 2, 1), start)
    options: dict[str, Any] = {"mu": 0.5, "residual": "squared", "tolerance": 1e-12}
    result, run = toy.unlearn("ntk", data, model, scale="trapezium", **options)
    assert run.diagnostics["kappa"] == pytest.approx(37 / 13)
    assert result.get_parameter("1.weight").flatten().tolist() == pytest.approx([37 / 26, -37 / 39])
    assert run.status == "ok"
    assert max(run.diagnostics["residual_all"], run.diagnostics["residual_retain"]) < 1e-12


def test_the_shift_without_enough_steps_is_unsolved(monkeypatch: pytest.MonkeyPatch):
    # Four equations with the kernel ((1, 2), (2, 4)) for each class, and one step for them: with
    # ridge 1 and r = (-1, 0 | 0, -1) the first direction is r itself (a sketch of one column
    # changes it, but cannot tell two equal eigenvalues apart), so something is left.
    monkeypatch.setattr(linearised, "KERNEL_ROWS", 0)
    monkeypatch.setattr(linearised, "SKETCH", 1)
    model = nn.Sequential(nn.Flatten(), nn.Linear(1, 2, bias=False)).double()
    nn.init.zeros_(model.get_parameter("1.weight"))
    data = request(samples("retain", 1, 0), samples("forget", 2, 1), model)
    _, run = toy.unlearn(
        "ntk", data, model, mu=0.5, residual="squared", scale="fixed", iterations=1, tolerance=1e-6
    )
    assert run.status == "unsolved" and "1e-06" in (run.stop_reason or "")
    assert run.diagnostics["residual_all"] > 1e-6
