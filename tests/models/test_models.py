"""Every network builds, runs on its smallest images, and is decided by its seed alone; checkpoints
load or say why not.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from _pytest.mark import ParameterSet
from torch import nn

from mucore import catalog, models
from mucore.blocks import curvature
from mucore.engine.batch import Batch
from mucore.engine.features import classifier_layer, penultimate
from mucore.errors import BadValue, UnknownName
from mucore.models import timm_models

# Of the penultimate features.
WIDTH = {
    "resnet9-small": 128,
    "resnet18": 512,
    "resnet18-0.4": 204,
    "resnet50": 2048,
    "allcnn": 192,
    "vgg11-bn": 512,
    "vgg16-bn": 512,
    "mobilenet-v2": 1280,
    "mobilevit-s": 640,
    "vit-tiny": 192,
    "vit-b-16": 768,
    "swin-t": 768,
    "convnext-t": 768,
    "mlp": 128,
    "mlp-2d": 64,
}
NAMES = [card.id for card in catalog.models()]
LARGE = ("resnet50", "vgg16-bn", "vit-b-16", "swin-t", "convnext-t")
SMALL = [name for name in NAMES if name not in LARGE]
SLOW = {"vit-b-16"}  # its weights alone take seconds to draw
LONG = SLOW | {
    "resnet50",
    "vgg16-bn",
    "swin-t",
    "convnext-t",
    "mobilevit-s",
}  # smaller ones of each kind stay


def case(name: str, *rest: int, slow: bool = False) -> ParameterSet:
    return pytest.param(name, *rest, marks=[pytest.mark.slow] if slow or name in LONG else [])


every_network = pytest.mark.parametrize("name", [case(name) for name in NAMES])


def build(
    name: str, *, in_channels: int = 1, classes: int = 4, image_size: int = 8, seed: int = 0
) -> nn.Module:
    return models.build(
        name, in_channels=in_channels, classes=classes, image_size=image_size, seed=seed
    )


def count(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def images(count: int, channels: int, size: int) -> torch.Tensor:
    return torch.randn(count, channels, size, size, generator=torch.Generator().manual_seed(0))


@every_network
def test_cards_count_the_multiply_adds_of_a_pixel(name: str) -> None:
    total = 0

    def add(module: nn.Module, inputs: object, output: torch.Tensor) -> None:
        nonlocal total
        assert isinstance(module, nn.Conv2d | nn.Linear)
        total += output.numel() * module.weight[0].numel()

    network = build(name, in_channels=3, classes=10, image_size=32).eval()
    for module in network.modules():
        if isinstance(module, nn.Conv2d | nn.Linear):
            module.register_forward_hook(add)
    with torch.no_grad():
        network(images(1, 3, 32))
    assert total / 32**2 == pytest.approx(catalog.model(name).macs, rel=0.02)


def cases() -> list[ParameterSet]:
    """Every network on its smallest images and on 32 pixels; those that train in a moment on
    an odd number.
    """
    found = [case(name, 1, catalog.model(name).min_image_size) for name in NAMES]
    found += [case(name, 3, 32) for name in NAMES if name not in LARGE]
    return found + [case(name, 3, 15, slow=True) for name in SMALL]


@pytest.mark.parametrize(("name", "in_channels", "size"), cases())
def test_forward_backward_and_features(name: str, in_channels: int, size: int) -> None:
    model = build(name, in_channels=in_channels, image_size=size).train()
    x = images(3, in_channels, size)
    before = torch.random.get_rng_state()
    with penultimate(model) as seen:
        logits = model(x)
    assert torch.equal(torch.random.get_rng_state(), before)  # nothing is drawn while training
    assert logits.shape == (3, 4) and logits.isfinite().all() and seen[0].shape == (3, WIDTH[name])
    torch.testing.assert_close(classifier_layer(model)(seen[0]), logits)
    logits.square().sum().backward()
    assert all(
        parameter.grad is not None and parameter.grad.isfinite().all()
        for parameter in model.parameters()
    )
    assert classifier_layer(model).out_features == 4


@pytest.mark.parametrize(
    ("name", "size"), [("vit-tiny", 224), case("swin-t", 224), case("convnext-t", 224)]
)
def test_at_the_published_size_the_published_network_is_built(name: str, size: int) -> None:
    """The tensors of timm's own, but for the head: then published weights fit."""
    published = timm_models.timm.create_model(
        timm_models.TABLE[name].name if name in timm_models.TABLE else "vgg11_bn", num_classes=4
    ).state_dict()
    own = build(name, in_channels=3, image_size=size).state_dict()
    for key, tensor in own.items():
        if not key.startswith(("head", "classifier")):
            assert published[key].shape == tensor.shape, key


@every_network
def test_layers_run_in_order_from_the_stem_to_the_penultimate_features(name: str) -> None:
    model = build(name, image_size=8).eval()
    chosen, seen = models.layers(model), {}
    least = {"mlp": 4, "mlp-2d": 3, "resnet9-small": 7}.get(name, 9)
    assert least <= len(chosen) <= 20

    def keep(layer: str) -> Callable[[nn.Module, tuple[torch.Tensor, ...], torch.Tensor], None]:
        def hook(module: nn.Module, inputs: tuple[torch.Tensor, ...], output: torch.Tensor) -> None:
            assert layer not in seen
            seen[layer] = output.clone()  # what comes next may work in place

        return hook

    for layer, module in chosen.items():
        module.register_forward_hook(keep(layer))
    with torch.no_grad(), penultimate(model) as features:
        model(images(2, 1, 8))
    assert list(seen) == list(chosen)
    assert all(len(output) == 2 for output in seen.values())
    assert torch.equal(seen[list(chosen)[-1]].flatten(1), features[0])
    assert classifier_layer(model) not in chosen.values()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["resnet9-small", "mobilevit-s", "vit-tiny"])
def test_forward_and_backward_derivatives_agree(name: str) -> None:
    """Curvature differentiates the backward pass forward, which fused attention and torch's own
    SiLU do not allow.
    """
    model, x = build(name, image_size=8).double().eval(), images(2, 1, 8).double()
    weights = dict(model.named_parameters())
    batch = Batch(x, torch.tensor([0, 3]), torch.arange(2), torch.zeros(2, dtype=torch.int64))
    generator = torch.Generator().manual_seed(1)
    vector = torch.cat(
        [torch.randn(p.numel(), generator=generator, dtype=p.dtype) for p in weights.values()]
    )
    product = curvature.hessian_product(model, weights, batch, vector)
    slopes = torch.autograd.grad(
        curvature.cross_entropy_sum(model(x), batch), list(weights.values()), create_graph=True
    )
    twice = torch.autograd.grad(curvature.to_vector(slopes) @ vector, list(weights.values()))
    torch.testing.assert_close(
        product, curvature.to_vector(twice), rtol=1e-6, atol=1e-9 * product.abs().max().item()
    )
    assert vector @ curvature.gauss_newton_product(model, weights, batch, vector) >= 0


@every_network
def test_weights_stay_contiguous_and_images_independent(name: str) -> None:
    model, x = build(name, image_size=28).eval(), images(4, 1, 28)
    assert all(parameter.is_contiguous() for parameter in model.parameters())
    with torch.no_grad():
        torch.testing.assert_close(model(x)[2:3], model(x[2:3]), rtol=1e-4, atol=1e-5)


def test_parameter_counts() -> None:
    # the CIFAR ResNet-18 of the literature
    assert count(build("resnet18", in_channels=3, classes=10, image_size=32)) == 11_173_962
    # torchvision's documentation
    assert count(build("resnet18", in_channels=3, classes=1000, image_size=224)) == 11_689_512
    # 2 · 64 + 64, 64 · 64 + 64, 64 · 2 + 2
    assert count(build("mlp-2d", in_channels=2, classes=2, image_size=1)) == 4_482
    # The network of Golatkar et al. on five classes
    assert count(build("resnet18-0.4", in_channels=3, classes=5, image_size=32)) == 1_787_741
    # torchvision's documentation
    assert count(build("resnet50", in_channels=3, classes=1000, image_size=224)) == 25_557_032
    # the paper's table 1: ~1.4M
    assert count(build("allcnn", in_channels=3, classes=10, image_size=32)) == pytest.approx(
        1.4e6, rel=0.03
    )
    # of VGG-11: inputs times outputs
    convolutions = 64 * 3 + 128 * 64 + 256 * 128 + 256**2 + 512 * 256 + 3 * 512**2
    outputs = 64 + 128 + 2 * 256 + 4 * 512  # a bias, a scale and a shift each
    assert (
        count(build("vgg11-bn", in_channels=3, classes=10, image_size=32))
        == 9 * convolutions + 3 * outputs + 512 * 10 + 10
    )
    assert (
        count(build("mlp", classes=10, image_size=28))
        == 784 * 512 + 512 + 512 * 256 + 256 + 256 * 128 + 128 + 128 * 10 + 10
    )
    assert 0.35e6 < count(build("resnet9-small", classes=10, image_size=28)) < 0.45e6


@pytest.mark.parametrize("name", [name for name in NAMES if name not in LONG])
def test_the_seed_decides_the_weights_and_global_generators_are_untouched(name: str) -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        torch_before, numpy_before = torch.random.get_rng_state(), np.random.get_state()[1].copy()  # ty: ignore[invalid-argument-type]
        one = build(name).state_dict()
        assert torch.equal(torch.random.get_rng_state(), torch_before)
        np.testing.assert_array_equal(np.random.get_state()[1], numpy_before)  # ty: ignore[invalid-argument-type]
        torch.manual_seed(5)
        two, other = build(name).state_dict(), build(name, seed=1).state_dict()
    assert all(torch.equal(one[key], two[key]) for key in one)
    assert any(not torch.equal(one[key], other[key]) for key in one)


def test_refusals() -> None:
    with pytest.raises(
        BadValue,
        match="resnet9-small needs images of at least 8 pixels a side, "
        "but these have 7. Choose mlp",
    ):
        build("resnet9-small", image_size=7)
    with pytest.raises(
        BadValue, match="mlp needs at least 2 classes to tell apart, but the data set has 1"
    ):
        build("mlp", classes=1)
    with pytest.raises(UnknownName, match="Did you mean resnet18"):
        build("resnet-18")


@pytest.mark.slow
def test_cards_say_how_many_parameters_there_are() -> None:
    for name in NAMES:
        if name not in ("mlp", "mlp-2d", "resnet9-small"):
            written = float(catalog.model(name).parameters_note.split(" M")[0])
            network = build(name, in_channels=3, classes=10, image_size=32)
            assert count(network) / 1e6 == pytest.approx(written, abs=0.05)
