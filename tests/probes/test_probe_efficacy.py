"""Squared gradient norms against one backward pass a sample, and the bound against the efficacy, on
small networks of every kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
import toy
from torch import Tensor, nn

from mucore.blocks import gradient_norms
from mucore.engine.data import Samples
from mucore.engine.losses import cross_entropy
from mucore.engine.run import Run
from mucore.metrics import efficacy
from mucore.probes.efficacy import squared_gradient_norms, squared_norm_of_mean_gradient


class Twice(nn.Module):
    """Uses one layer twice, which no closed form covers."""

    def __init__(self) -> None:
        super().__init__()
        self.flat, self.inner, self.head = nn.Flatten(), nn.Linear(16, 16), nn.Linear(16, 6)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(torch.tanh(self.inner(torch.tanh(self.inner(self.flat(x))))))


class Tokens(nn.Module):
    """Linear layers on four tokens a sample, a layer norm, and positions added to every sample
    alike.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.positions = nn.Parameter(torch.randn(1, 4, width))
        self.embed, self.norm, self.head = (
            nn.Linear(4, width),
            nn.LayerNorm(width),
            nn.Linear(width, 6),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.head(torch.tanh(self.norm(self.embed(x[:, 0]) + self.positions)).mean(1))


def convolutions() -> nn.Module:
    """Few filters on many places and many filters on few, with stride, dilation and groups, and
    batch norm that has seen data.
    """
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        nn.BatchNorm2d(4),
        nn.ReLU(inplace=True),
        nn.Conv2d(4, 24, 3, stride=2, dilation=2, padding=2, groups=2, bias=False),
        nn.BatchNorm2d(24),
        nn.ReLU(),
        nn.Conv2d(24, 20, (1, 3), padding=(0, 1)),
        nn.Flatten(),
        nn.Linear(80, 6),
    )


NETWORKS: dict[str, tuple[toy.Name, Callable[[], nn.Module]]] = {
    "perceptron": ("mlp", lambda: toy.original("mlp")),
    "convolutions with batch norm": ("conv", lambda: toy.original("conv")),
    "groups and strides": ("mlp", convolutions),
    "few tokens": ("mlp", lambda: Tokens(8)),
    "wide tokens": ("mlp", lambda: Tokens(64)),
    "attributes": ("attributes", lambda: toy.original("attributes")),
    "layer used twice": ("mlp", Twice),
}


def network(name: str, seed: int = 0) -> tuple[nn.Module, Samples]:
    """A network in double precision with 23 samples of its problem."""
    problem, make = NETWORKS[name]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = make().double()
        for module in model.modules():
            if isinstance(module, nn.BatchNorm2d) and not module.num_batches_tracked:
                module.running_mean = torch.randn(module.num_features, dtype=torch.float64)
                module.running_var = torch.rand(module.num_features, dtype=torch.float64) + 0.5
    data = toy.in_float64(toy.request(problem, "random")).forget
    return model.eval(), data[torch.arange(23)]


def by_loop(model: nn.Module, data: Samples) -> tuple[np.ndarray, float]:
    """Squared norms of each sample's gradient and of their mean, one backward pass a sample."""
    weights = [p for p in model.parameters() if p.requires_grad]
    (batch,) = data.batches(Run(seed=0), len(data))
    gradients = []
    for x, y in zip(batch.x.split(1), batch.y.split(1), strict=True):
        slopes = torch.autograd.grad(cross_entropy(model(x), y), weights)
        gradients.append(torch.cat([slope.flatten() for slope in slopes]))
    table = torch.stack(gradients).double()
    return table.square().sum(1).numpy(), float(table.mean(0).square().sum())


@pytest.mark.parametrize("name", list(NETWORKS))
def test_norms_are_those_of_a_loop_over_samples(name: str):
    model, data = network(name)
    expected, of_mean = by_loop(model, data)
    np.testing.assert_allclose(
        squared_gradient_norms(model, data, Run(seed=0), batch_size=9), expected, rtol=1e-8
    )
    assert squared_norm_of_mean_gradient(model, data, Run(seed=0), batch_size=9) == pytest.approx(
        of_mean, rel=1e-8
    )


@pytest.mark.parametrize("name", [name for name in NETWORKS if name != "layer used twice"])
def test_one_pass_serves_all_samples(name: str, monkeypatch: pytest.MonkeyPatch):
    def refuse(*args: object) -> Tensor:
        raise AssertionError("went sample by sample")

    monkeypatch.setattr(gradient_norms, "_one_by_one", refuse)
    model, data = network(name)
    assert squared_gradient_norms(model, data, Run(seed=0), batch_size=23).shape == (23,)
    assert not any(module._forward_hooks for module in model.modules())
    assert all(p.grad is None for p in model.parameters())


def test_both_ways_to_a_product_and_both_devices_ways_agree(monkeypatch: pytest.MonkeyPatch):
    """Four filters on nine places, thirty on two: the smaller table wins. A GPU takes a chunk as
    one product; the same lines run here.
    """
    generator = torch.Generator().manual_seed(0)
    for filters, places, weights in ((4, 9, 6), (30, 2, 20)):
        rows, columns = (
            torch.randn(5, 2, *shape, generator=generator, dtype=torch.float64)
            for shape in ((filters, places), (places, weights))
        )
        expected = torch.matmul(rows, columns).square().sum((1, 2, 3))
        assert torch.allclose(gradient_norms._product(rows, columns), expected)
        with monkeypatch.context() as patch:
            patch.setattr(gradient_norms, "IN_CACHE", ())
            assert torch.allclose(gradient_norms._product(rows, columns), expected)


@pytest.mark.parametrize("name", list(NETWORKS))
def test_bound_and_efficacy_of_one_sample_are_equal(name: str):
    model, data = network(name)
    single = data[torch.tensor([4])]
    value = efficacy.log10_efficacy(
        squared_norms=squared_gradient_norms(model, single, Run(seed=0), batch_size=8)
    )
    bound = efficacy.log10_efficacy(
        squared_norms=np.array(
            [squared_norm_of_mean_gradient(model, single, Run(seed=0), batch_size=8)]
        )
    )
    assert bound == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize(("scale", "precision"), [(1.0, 1e-5), (40.0, 1e-4), (300.0, 1e-3)])
def test_gradients_too_small_for_float32_are_not_lost(scale: float, precision: float):
    """A linear layer: ‖p − e_y‖² (‖x‖² + 1), with p in double precision. Scale 300 makes residuals
    of e^-100, whose squares are e^-200.
    """
    data = toy.request("mlp", "random").forget[torch.arange(40)]
    (batch,) = data.batches(Run(seed=0), 40)
    x = batch.x.flatten(1)
    layer = nn.Linear(16, 6)
    with torch.no_grad():
        layer.weight.copy_(scale * torch.linspace(-1, 1, 96).view(6, 16).sin() / 10)
        layer.bias.zero_()
    logits = (x @ layer.weight.detach().T).double()
    labels = logits.argmax(1)
    p = torch.softmax(logits, 1).scatter(1, labels[:, None], 0.0)
    expected = (p.square().sum(1) + p.sum(1).square()) * (x.double().square().sum(1) + 1)
    model, data = nn.Sequential(nn.Flatten(), layer).eval(), data.with_labels(labels)
    found = squared_gradient_norms(model, data, Run(seed=0), batch_size=16)
    assert (found > 0).all()
    # Logits of size z carry a relative error of z · 6e-8 into every exponential.
    np.testing.assert_allclose(found, expected, rtol=precision)
    if scale == 300:
        assert found.min() < 1e-45
    mean = squared_norm_of_mean_gradient(model, data, Run(seed=0), batch_size=16)
    assert 0 < mean <= found.mean() * (1 + 1e-4)


def test_the_gradient_of_the_mean_is_scaled_back_in_double_precision():
    """A linear layer at a margin of 110: the residual is e^-110, and a gradient of that length is
    no number of single precision.
    """
    data = toy.request("mlp", "random").forget[torch.arange(1)]
    (batch,) = data.batches(Run(seed=0), 1)
    layer = nn.Linear(16, 2)
    with torch.no_grad():
        layer.weight.zero_()
        layer.bias.copy_(torch.tensor([110.0, 0.0]))
    model = nn.Sequential(nn.Flatten(), layer).eval()
    data = data.with_labels(torch.zeros(1, dtype=torch.int64))
    expected = 2 * math.exp(-220) * (float(batch.x.double().square().sum()) + 1)
    (each,) = squared_gradient_norms(model, data, Run(seed=0), batch_size=1)
    mean = squared_norm_of_mean_gradient(model, data, Run(seed=0), batch_size=1)
    assert each / expected == pytest.approx(1, rel=1e-5)
    assert mean / expected == pytest.approx(1, rel=1e-5)


def test_frozen_weights_do_not_count_and_reads_do():
    model, data = network("perceptron")
    model[1].requires_grad_(False)  # ty: ignore[not-subscriptable]
    expected, of_mean = by_loop(model, data)
    run = Run(seed=0)
    np.testing.assert_allclose(
        squared_gradient_norms(model, data, run, batch_size=10), expected, rtol=1e-8
    )
    assert run.cost.reads == {"forget/backward": 23}
    assert squared_norm_of_mean_gradient(model, data, Run(seed=0), batch_size=10) == pytest.approx(
        of_mean, rel=1e-8
    )


def test_a_diverged_model_has_no_efficacy():
    model, data = network("perceptron")
    next(iter(model.parameters())).data[0, 0] = math.nan
    with pytest.raises(Exception, match="diverged"):
        efficacy.log10_efficacy(
            squared_norms=squared_gradient_norms(model, data, Run(seed=0), batch_size=8)
        )
    with pytest.raises(Exception, match="diverged"):
        efficacy.log10_efficacy(
            squared_norms=np.array(
                [squared_norm_of_mean_gradient(model, data, Run(seed=0), batch_size=8)]
            )
        )
