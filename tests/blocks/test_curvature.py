"""Products with curvature matrices, against dense algebra and against curvlinops."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Literal

import pytest
import torch
import toy
from torch import Tensor, nn
from torch.func import functional_call, jacrev

from mucore.blocks import curvature, inverse_hessian, solvers
from mucore.blocks.slow_weights import SlowWeights
from mucore.engine.batch import Batch
from mucore.engine.data import Mixture, windows
from mucore.engine.run import Run


def batch_of(name: toy.Name, count: int) -> Batch:
    data = toy.in_float64(toy.request(name))
    mixed = data.retain[torch.arange(count)]
    (batch,) = mixed.batches(Run(seed=0), count)
    return batch


def double(name: toy.Name) -> tuple[nn.Module, dict[str, nn.Parameter]]:
    model = toy.original(name).double().eval()
    return model, dict(model.named_parameters())


def direction(weights: curvature.Weights, seed: int = 0) -> Tensor:
    count = sum(p.numel() for p in weights.values())
    return torch.randn(count, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def jacobian(model: nn.Module, weights: curvature.Weights, x: Tensor) -> Tensor:
    """The dense Jacobian (n · C, p) of the logits."""
    plain = {name: p.detach() for name, p in weights.items()}
    parts = jacrev(lambda w: functional_call(model, w, (x,)))(plain)
    return torch.cat([part.flatten(2) for part in parts.values()], 2).flatten(0, 1)


# -- products


@pytest.mark.parametrize("name", ["mlp", "conv"])
@pytest.mark.parametrize("kind", ["ggn", "hessian"])
def test_products_are_those_of_curvlinops(name: toy.Name, kind: str):
    curvlinops = pytest.importorskip("curvlinops")
    (model, weights), batch = double(name), batch_of(name, 40)
    operator = curvlinops.GGNLinearOperator if kind == "ggn" else curvlinops.HessianLinearOperator
    product = curvature.gauss_newton_product if kind == "ggn" else curvature.hessian_product
    q = direction(weights)
    with warnings.catch_warnings(action="ignore"):
        loss = nn.CrossEntropyLoss(reduction="sum")
        wanted = (
            operator(
                model, loss, list(weights.values()), [(batch.x, batch.y)], check_deterministic=False
            )
            @ q
        )
    assert torch.allclose(
        product(model, weights, batch, q), wanted, rtol=1e-9, atol=1e-12 * wanted.abs().max().item()
    )


def test_large_batches_are_taken_in_pieces(monkeypatch: pytest.MonkeyPatch):
    (model, weights), batch = double("mlp"), batch_of("mlp", 50)
    q = direction(weights)
    whole = [
        product(model, weights, batch, q)
        for product in (curvature.gauss_newton_product, curvature.hessian_product)
    ]
    monkeypatch.setattr(curvature, "CHUNK", 16)
    pieces = [
        product(model, weights, batch, q)
        for product in (curvature.gauss_newton_product, curvature.hessian_product)
    ]
    assert all(
        torch.allclose(a, b, rtol=1e-9, atol=1e-9) for a, b in zip(whole, pieces, strict=True)
    )


def test_objectives():
    logits = torch.randn(5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    y = torch.tensor([0, 3, curvature.UNIFORM, 1, curvature.UNIFORM])
    soft = torch.where(
        (y == curvature.UNIFORM).unsqueeze(1), 0.25, nn.functional.one_hot(y.clamp(min=0), 4)
    ).double()
    batch = Batch(logits, y, y, y)
    assert curvature.cross_entropy_sum(logits, batch).item() == pytest.approx(
        nn.functional.cross_entropy(logits, soft).item() * 5
    )
    labelled = Batch(logits[:1], y[:1], y[:1], y[:1])
    distance = logits[0] - torch.tensor([1.0, 0, 0, 0])
    assert curvature.squared_sum(logits[:1], labelled).item() == pytest.approx(
        0.5 * float(distance @ distance)
    )


# -- weights


def test_scopes_are_tails_of_the_network():
    model = toy.original("mlp")
    names = list(dict(model.named_parameters()))
    assert list(curvature.weights_in(model, "all")) == names
    assert list(curvature.weights_in(model, "head")) == ["7.weight", "7.bias"]
    assert list(curvature.weights_in(model, "last_six_tensors")) == names[-6:]
    block = list(curvature.weights_in(model, "last_block"))
    assert block == names[-len(block) :] and 2 < len(block) < len(names)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_slow_weights_go_a_share_of_the_way(share: float):
    model = nn.Linear(3, 2)
    start = model.weight.detach().clone()
    slow = SlowWeights(model, share)
    for move in (1.0, 2.0):
        before = model.weight.detach().clone()
        with torch.no_grad():
            model.weight += move
        slow.step(model)
        assert torch.allclose(model.weight, before + share * move)
    assert torch.equal(model.weight, start) == (share == 0)


def test_a_gradient_is_added_where_it_belongs_and_leaves_others_alone():
    (model, weights), batch = double("conv"), batch_of("conv", 9)
    head = curvature.weights_in(model, "head")
    kept = {name: torch.full_like(p, 3.0) for name, p in weights.items()}
    for name, p in weights.items():
        p.grad = kept[name]
    total, logits = direction(head), model(batch.x)
    before, cotangent = total.clone(), torch.ones_like(logits)
    wanted = jacobian(model, head, batch.x).T @ cotangent.flatten()
    curvature.add_gradient(total, logits, head, cotangent)
    torch.testing.assert_close(total, before + wanted, rtol=1e-10, atol=1e-12)
    assert all(p.grad is kept[name] and (p.grad == 3).all() for name, p in weights.items())


@pytest.mark.parametrize("kind", ["delete", "random_label", "soft_uniform"])
def test_the_gradient_of_a_replacement_is_the_difference_of_two(kind: curvature.Counterpart):
    (model, weights), data = double("conv"), toy.in_float64(toy.request("conv"))
    forget = data.forget[torch.arange(50)]
    new = curvature.counterpart_of(kind, replace(data, forget=forget), Run(seed=0))
    found = curvature.replacement_gradient(
        model,
        weights,
        forget,
        new,
        Run(seed=0),
        batch_size=16,
        objective=curvature.cross_entropy_sum,
    )
    wanted = torch.zeros_like(found)
    for samples, sign in ((new, 1), (forget, -1)):
        for batch in samples.batches(Run(seed=0), 50):
            loss = curvature.cross_entropy_sum(model(batch.x), batch)
            slopes = torch.autograd.grad(loss, list(weights.values()))
            wanted += sign * curvature.to_vector(slopes)
    torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-11)


# -- sets


def test_a_pick_is_a_part_of_both_sets_drawn_once():
    data = toy.request("mlp")
    mixture = Mixture((data.retain, data.forget))
    chosen = curvature.pick(mixture, 500, Run(seed=0))
    again, other = (curvature.pick(mixture, 500, Run(seed=seed)) for seed in (0, 1))
    assert len(chosen) == 500 and all(len(part) > 0 for part in chosen.sets)
    assert all(torch.equal(a.ids, b.ids) for a, b in zip(chosen.sets, again.sets, strict=True))
    assert not torch.equal(chosen.sets[0].ids, other.sets[0].ids)
    for part, whole in zip(chosen.sets, mixture.sets, strict=True):
        assert len(part.ids.unique()) == len(part)
        assert set(part.ids.tolist()) <= set(whole.ids.tolist())
    assert curvature.pick(mixture, len(mixture), Run(seed=0)) is mixture


def test_windows_run_through_whole_passes():
    samples = toy.request("mlp", 30).forget
    get = windows(samples, Run(seed=0), 20, 70)
    parts = [get(number).ids for number in range(4)]
    assert [len(part) for part in parts] == [20, 20, 20, 10]
    stream = torch.cat(parts)
    assert set(stream[:30].tolist()) == set(stream[30:60].tolist()) == set(samples.ids.tolist())
    assert not torch.equal(stream[:30], stream[30:60])
    assert torch.equal(get(1).ids, parts[1])


# -- the inverse Hessian of a set


def test_the_heaviest_part_is_what_the_trace_rests_on():
    model, _ = double("mlp")
    data, run = toy.in_float64(toy.request("mlp")), Run(seed=0)
    both = Mixture((data.retain, data.forget))
    (batch,) = both.batches(run, len(both))
    logits = model(batch.x).detach()
    matrices = torch.stack(
        [
            curvature.softmax_curvature(logits, unit.expand_as(logits), batch.y)
            for unit in torch.eye(logits.shape[1], dtype=logits.dtype)
        ],
        2,
    )
    traces = torch.diagonal(matrices, dim1=1, dim2=2).sum(1)
    torch.testing.assert_close(curvature.softmax_trace(logits, batch.y), traces)
    part = curvature.heaviest_part(model, both, run, 32)
    for share in (0.0, 0.05, 0.3, 0.9, 1.0):
        kept = part(share)
        (chosen,) = kept.batches(run, len(kept))
        mine = torch.isin(batch.ids, chosen.ids)
        assert traces[~mine].sum() <= (share + 1e-12) * traces.sum()
        lightest = traces[mine].min()
        assert (traces[~mine] <= lightest).all()
        assert len(kept) == 1 or traces[~mine].sum() + lightest > share * traces.sum() - 1e-9


@pytest.mark.parametrize("solver", ["lissa", "cg_ggn", "cg_hessian"])
def test_a_solver_says_which_product_it_computes(
    solver: Literal["lissa", "cg_ggn", "cg_hessian"], monkeypatch: pytest.MonkeyPatch
):
    told: list[tuple[str, float]] = []
    run, (model, weights) = Run(seed=0), double("mlp")
    monkeypatch.setattr(solvers, "TOLERANCE", 1e-14)
    monkeypatch.setattr(run, "progress", lambda step, fraction: told.append((step, fraction)))
    data = toy.in_float64(toy.request("mlp"))
    inverse_hessian.inverse_times(
        model,
        weights,
        Mixture((data.retain,)),
        direction(weights),
        run,
        objective=curvature.cross_entropy_sum,
        solver=solver,
        damping=1.0,
        ridge=0.0,
        scale=50.0,
        iterations=3,
        patience=9,
        repetitions=1,
        samples=40,
        batch_size=20,
    )
    # conjugate gradients measure their residual at the end, as LiSSA does on all of the data; with
    # partial products first, whole ones may follow, as many again and the residual's
    computed, most = {"lissa": (3, 3), "cg_hessian": (4, 4), "cg_ggn": (4, 7)}[solver]
    assert told == [
        (f"matrix product {number} of at most {most}", (number - 1) / most)
        for number in range(1, computed + 1)
    ]


def test_products_with_the_jacobian_of_a_set_are_those_with_its_rows():
    model, weights = double("mlp")
    data, run = toy.in_float64(toy.request("mlp")), Run(seed=0)
    samples = Mixture((data.retain[torch.arange(7)], data.forget[torch.arange(4)]))
    rows = curvature.jacobian_rows(model, weights, samples, run, 3)
    (batch,) = samples.batches(run, 11)
    torch.testing.assert_close(rows, jacobian(model, weights, batch.x), rtol=1e-9, atol=1e-12)
    q = direction(weights)
    u = torch.randn(len(rows), dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(curvature.jacobian_on(model, weights, samples, run, 3, q), rows @ q)
    torch.testing.assert_close(
        curvature.transposed_on(model, weights, samples, run, 3, u), rows.T @ u
    )
