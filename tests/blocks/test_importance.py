"""Fisher diagonals and saliency against independent computations."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import toy
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap

from mucore.blocks import importance, sample_squares
from mucore.engine.losses import cross_entropy
from mucore.engine.run import Run
from mucore.engine.state import is_finite


class Twice(nn.Module):
    """Uses one layer twice, which no closed form for a single use covers."""

    def __init__(self) -> None:
        super().__init__()
        self.flat, self.inner, self.head = nn.Flatten(), nn.Linear(16, 16), nn.Linear(16, 6)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(torch.tanh(self.inner(torch.tanh(self.inner(self.flat(x))))))


class Tokens(nn.Module):
    """A linear layer on four tokens a sample."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.head = nn.Linear(4, 8), nn.Linear(8, 6)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(torch.tanh(self.embed(x[:, 0])).mean(1))


class Norms(nn.Module):
    """A layer norm over one row a sample, and one over tokens to which positions were added, as in
    a ViT.
    """

    def __init__(self) -> None:
        super().__init__()
        self.positions = nn.Parameter(torch.randn(1, 5, 8))
        self.first = nn.Parameter(torch.randn(1, 1, 8))
        self.embed, self.norm, self.last, self.head = (
            nn.Linear(4, 8),
            nn.LayerNorm(8),
            nn.LayerNorm(8, bias=False),
            nn.Linear(8, 6),
        )

    def forward(self, x: Tensor) -> Tensor:
        tokens = (
            torch.cat([self.first.expand(len(x), -1, -1), self.embed(x[:, 0])], 1) + self.positions
        )
        return self.head(self.last(self.norm(tokens).tanh().mean(1)))


class Windows(nn.Module):
    """A linear layer that sees two windows of each sample, one behind the other, where others see a
    sample.
    """

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.head = nn.Linear(4, 8), nn.Linear(8, 6)

    def forward(self, x: Tensor) -> Tensor:
        windows = self.embed(x[:, 0].reshape(2 * len(x), 2, 4))
        return self.head(torch.tanh(windows).reshape(len(x), 4, 8).mean(1))


class Activated(nn.BatchNorm1d):
    """A norm with its activation, as timm has them: what comes out of it is not what the norm
    computed.
    """

    def forward(self, input: Tensor) -> Tensor:
        return torch.relu(super().forward(input))


def activated() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(16, 8), Activated(8), nn.Linear(8, 6))


class Scaled(nn.Module):
    """A parameter outside of all layers, as a ConvNeXt's blocks have."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.scale = nn.Linear(16, 6), nn.Parameter(torch.rand(6))

    def forward(self, x: Tensor) -> Tensor:
        return self.scale * self.layer(x.flatten(1))


def grouped() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        nn.ReLU(inplace=True),
        nn.Conv2d(4, 8, 3, stride=2, dilation=2, padding=2, groups=2),
        nn.ReLU(),
        nn.Conv2d(8, 4, (1, 3), padding=(0, 1), bias=False),
        nn.Flatten(),
        nn.Linear(16, 6),
    )


def one_place() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 4, 4), nn.Tanh(), nn.Conv2d(4, 6, 1, groups=2), nn.Flatten(), nn.Linear(6, 6)
    )


def by_vmap(model: nn.Module, x: Tensor, y: Tensor) -> dict[str, Tensor]:
    """The oracle: `torch.func`, which knows nothing of layers."""
    others = {name: value for name, value in model.named_buffers()}

    def loss(parameters: dict[str, Tensor], image: Tensor, label: Tensor) -> Tensor:
        return nn.functional.cross_entropy(
            functional_call(model, {**parameters, **others}, (image[None],)), label[None]
        )

    parameters = {name: p.detach() for name, p in model.named_parameters()}
    gradients = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, x, y)
    return {name: values.square().sum(0) for name, values in gradients.items()}


def images(name: toy.Name, count: int) -> tuple[Tensor, Tensor]:
    data = toy.request(name, "random")
    (batch,) = data.forget[torch.arange(count)].batches(Run(seed=0), count)
    return batch.x.double(), batch.y


NETWORKS: dict[str, tuple[toy.Name, Callable[[], nn.Module]]] = {
    "perceptron": ("mlp", lambda: toy.original("mlp")),
    "convolutions": ("conv", lambda: toy.original("conv")),
    "groups": ("mlp", grouped),
    "one place": ("mlp", one_place),
    "tokens": ("mlp", Tokens),
    "twice": ("mlp", Twice),
    "norms": ("mlp", Norms),
    "windows": ("mlp", Windows),
    "activated": ("mlp", activated),
    "scaled": ("mlp", Scaled),
}


def network(name: str) -> tuple[toy.Name, nn.Module]:
    data, make = NETWORKS[name]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return data, make().double().eval()


@pytest.mark.parametrize("name", list(NETWORKS))
def test_summed_squares_equal_those_of_vmap(name: str):
    data, model = network(name)
    x, y = images(data, 19)
    squares, oracle = sample_squares.summed_squares(model, x, y), by_vmap(model, x, y)
    assert squares.keys() == oracle.keys()
    assert all(
        torch.allclose(squares[name], oracle[name], rtol=1e-9, atol=1e-300) for name in oracle
    )


@pytest.mark.parametrize(
    "name", ["perceptron", "convolutions", "groups", "one place", "tokens", "norms"]
)
def test_layer_hooks_equal_one_backward_pass_a_sample_and_leave_no_trace(name: str):
    data, model = network(name)
    x, y = images(data, 11)
    squares = sample_squares.squares_by_layer(model, x, y)
    oracle = sample_squares.squares_one_by_one(model, x, y)
    assert squares is not None
    assert all(
        torch.allclose(squares[name], oracle[name], rtol=1e-9, atol=1e-300) for name in oracle
    )
    assert not any(module._forward_hooks for module in model.modules())
    assert all(p.grad is None for p in model.parameters())
    assert not x.requires_grad


@pytest.mark.parametrize("name", ["convolutions", "groups", "one place", "tokens"])
def test_blocks_single_samples_and_pairs_of_places_are_the_same(
    name: str, monkeypatch: pytest.MonkeyPatch
):
    """What a device's memory and a layer's number of places choose between; one is the oracle of
    the others.
    """
    data, model = network(name)
    x, y = images(data, 7)
    monkeypatch.setattr(sample_squares, "CHUNK", 3)
    found = []
    for pairs, held in ((0, 0), (0, 2**26), (0, 3000), (10**6, 0)):
        monkeypatch.setattr(sample_squares, "PAIRS_WORTH", pairs)
        monkeypatch.setattr(sample_squares, "HELD", (held, held))
        found.append(sample_squares.summed_squares(model, x, y))
    for other in found[1:]:
        for key, wanted in found[0].items():
            torch.testing.assert_close(other[key], wanted, rtol=1e-9, atol=1e-20)


@pytest.mark.parametrize("name", list(NETWORKS))
def test_several_objectives_are_summed_as_if_each_had_its_own_passes(name: str):
    data, model = network(name)
    x, y = images(data, 9)

    def several(logits: Tensor, y: Tensor) -> Tensor:
        return torch.stack([cross_entropy(logits, (y + k) % 4, reduction="sum") for k in range(4)])

    found = sample_squares.summed_squares(model, x, y, several)
    parts = [by_vmap(model, x, (y + k) % 4) for k in range(4)]
    for key in found:
        wanted = torch.stack([part[key] for part in parts]).sum(0)
        torch.testing.assert_close(found[key], wanted, rtol=1e-9, atol=1e-20)


@pytest.mark.parametrize("name", ["twice", "windows", "activated", "scaled"])
def test_networks_without_a_closed_form_are_recognised(name: str):
    data, model = network(name)
    assert sample_squares.squares_by_layer(model, *images(data, 3)) is None


def test_only_trainable_parameters_are_measured():
    model = toy.original("mlp").eval()
    frozen = [name for name, _ in model.named_parameters()][0]
    model.get_parameter(frozen).requires_grad_(False)
    x, y = images("mlp", 5)
    wanted = [name for name, _ in model.named_parameters()][1:]
    assert list(sample_squares.summed_squares(model, x.float(), y)) == wanted
    assert list(sample_squares.squares_one_by_one(model, x.float(), y)) == wanted


def test_fisher_of_samples_is_a_mean_that_does_not_depend_on_batches():
    data, model = toy.request("conv", "random"), toy.original("conv")
    small = importance.fisher_of_samples(model, data.forget, Run(seed=0), batch_size=7)
    large = importance.fisher_of_samples(model, data.forget, Run(seed=0), batch_size=64)
    assert all(torch.allclose(small[name], large[name], rtol=1e-4, atol=1e-12) for name in small)
    single = importance.fisher_of_batches(model, data.forget, Run(seed=0), batch_size=1)
    assert all(torch.allclose(small[name], single[name], rtol=1e-4, atol=1e-12) for name in small)


def test_saliency_sums_before_taking_the_absolute_value():
    data, model = toy.request("mlp"), toy.original("mlp").eval()
    run = Run(seed=0)
    found = importance.saliency(model, data.forget, run, batch_size=100)
    total = {name: torch.zeros_like(p) for name, p in model.named_parameters()}
    for batch in data.forget.batches(Run(seed=0), 100):
        # the sign of the loss does not matter
        (-nn.functional.cross_entropy(model(batch.x), batch.y)).backward()
    for name, p in model.named_parameters():
        assert p.grad is not None
        total[name] += p.grad
    assert all(
        torch.allclose(found[name], total[name].abs(), rtol=1e-4, atol=1e-9) for name in found
    )
    assert run.cost.reads == {"forget/backward": len(data.forget)}


def test_not_a_number_is_noticed():
    model = toy.original("mlp")
    assert is_finite(
        importance.saliency(model, toy.request("mlp", 3).forget, Run(seed=0), batch_size=8)
    )
    next(iter(model.parameters())).data[0, 0] = torch.nan
    assert not is_finite(
        importance.saliency(model, toy.request("mlp", 3).forget, Run(seed=0), batch_size=8)
    )
