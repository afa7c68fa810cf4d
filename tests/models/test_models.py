"""Every network builds, runs on its smallest images, and is decided by its seed alone; checkpoints load or say why not."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from mucore import catalog, models
from mucore.engine.features import classifier_layer, penultimate
from mucore.errors import BadFile, BadValue, UnknownName

WIDTH = {"mlp": 128, "resnet9-small": 128, "resnet18": 512}
NAMES = [card.id for card in catalog.models()]


def build(name: str, *, in_channels: int = 1, classes: int = 4, image_size: int = 8, seed: int = 0) -> nn.Module:
    return models.build(name, in_channels=in_channels, classes=classes, image_size=image_size, seed=seed)


def count(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("in_channels", [1, 3])
@pytest.mark.parametrize("more_pixels", [0, 7, 8, 24, 64])
def test_forward_backward_and_features(name: str, in_channels: int, more_pixels: int) -> None:
    size = catalog.model(name).min_image_size + more_pixels
    model = build(name, in_channels=in_channels, image_size=size).train()
    with penultimate(model) as seen:
        logits = model(torch.randn(3, in_channels, size, size, generator=torch.Generator().manual_seed(0)))
    assert logits.shape == (3, 4) and logits.isfinite().all() and seen[0].shape == (3, WIDTH[name])
    logits.square().sum().backward()
    assert all(parameter.grad is not None and parameter.grad.isfinite().all() for parameter in model.parameters())
    assert classifier_layer(model).out_features == 4


@pytest.mark.parametrize("name", NAMES)
def test_weights_stay_contiguous_and_images_independent(name: str) -> None:
    model = build(name, image_size=28).eval()
    x = torch.randn(4, 1, 28, 28, generator=torch.Generator().manual_seed(0))
    assert all(parameter.is_contiguous() for parameter in model.parameters())
    with torch.no_grad():
        torch.testing.assert_close(model(x)[2:3], model(x[2:3]), rtol=1e-4, atol=1e-5)


def test_parameter_counts() -> None:
    assert count(build("resnet18", in_channels=3, classes=10, image_size=32)) == 11_173_962  # the CIFAR ResNet-18 of the literature
    assert count(build("resnet18", in_channels=3, classes=1000, image_size=224)) == 11_689_512  # torchvision's documentation
    assert count(build("mlp", classes=10, image_size=28)) == 784 * 512 + 512 + 512 * 256 + 256 + 256 * 128 + 128 + 128 * 10 + 10
    assert 0.35e6 < count(build("resnet9-small", classes=10, image_size=28)) < 0.45e6


@pytest.mark.parametrize("name", NAMES)
def test_the_seed_decides_the_weights(name: str) -> None:
    one, two, other = build(name).state_dict(), build(name).state_dict(), build(name, seed=1).state_dict()
    assert all(torch.equal(one[key], two[key]) for key in one)
    assert any(not torch.equal(one[key], other[key]) for key in one)


@pytest.mark.parametrize("name", NAMES)
def test_global_generators_are_untouched(name: str) -> None:
    torch_before, numpy_before = torch.random.get_rng_state(), np.random.get_state()[1].copy()  # ty: ignore[invalid-argument-type]
    build(name)
    assert torch.equal(torch.random.get_rng_state(), torch_before)
    np.testing.assert_array_equal(np.random.get_state()[1], numpy_before)  # ty: ignore[invalid-argument-type]


def test_a_second_process_draws_the_same_weights() -> None:
    code = (
        "import torch; from mucore import models; torch.manual_seed(99)\n"
        "model = models.build('resnet9-small', in_channels=1, classes=4, image_size=8, seed=0)\n"
        "print(sum(p.double().abs().sum().item() for p in model.parameters()).hex())"
    )
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert there == float(sum(p.double().abs().sum().item() for p in build("resnet9-small").parameters())).hex()


def test_refusals() -> None:
    with pytest.raises(BadValue, match="resnet9-small needs images of at least 8 pixels a side, but these have 7. Choose mlp"):
        build("resnet9-small", image_size=7)
    with pytest.raises(BadValue, match="mlp needs at least 2 classes to tell apart, but the data set has 1"):
        build("mlp", classes=1)
    with pytest.raises(UnknownName, match="Did you mean resnet18"):
        build("resnet-18")


# -- checkpoints


@pytest.mark.parametrize("form", ["safetensors", "plain", "wrapped", "parallel"])
def test_checkpoints_load(tmp_path: Path, form: str) -> None:
    source, path = build("mlp", seed=5), tmp_path / "weights.pt"
    state = source.state_dict()
    if form == "safetensors":
        path = tmp_path / "weights.safetensors"
        save_file(state, path)
    else:
        content = {
            "plain": state,
            "wrapped": {"state_dict": state, "epoch": 3},
            "parallel": {f"module.{key}": value for key, value in state.items()},
        }
        torch.save(content[form], path)
    loaded = models.load_checkpoint(path, build("mlp"))
    assert all(torch.equal(value, state[key]) for key, value in loaded.state_dict().items())


def test_checkpoints_that_cannot_be_used(tmp_path: Path) -> None:
    model, path = build("mlp"), tmp_path / "weights.pt"
    with pytest.raises(BadFile, match="There is no checkpoint at"):
        models.load_checkpoint(path, model)
    path.write_bytes(b"nonsense")
    with pytest.raises(BadFile, match="is not a checkpoint of plain tensors, and files are never unpickled here"):
        models.load_checkpoint(path, model)
    torch.save([1, 2], path)
    with pytest.raises(BadFile, match="holds no dictionary of tensors"):
        models.load_checkpoint(path, model)
    torch.save(build("resnet9-small").state_dict(), path)
    with pytest.raises(
        BadFile, match="holds weights of another network: missing hidden1.bias, hidden1.weight, hidden2.bias and more; unknown"
    ):
        models.load_checkpoint(path, model)
    torch.save(build("mlp", classes=7).state_dict(), path)
    with pytest.raises(BadFile, match=r"head.weight has shape \(7, 128\), but the model needs \(4, 128\). Check the number of classes"):
        models.load_checkpoint(path, model)
    damaged = tmp_path / "weights.safetensors"
    damaged.write_bytes(b"nonsense")
    with pytest.raises(BadFile, match="is not a safetensors file"):
        models.load_checkpoint(damaged, model)


def test_a_hostile_checkpoint_is_not_executed(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[Path]]:
            return (Path.touch, (tmp_path / "executed",))

    for name, write in (
        ("pickle.pt", lambda path: path.write_bytes(pickle.dumps(Trap()))),
        ("torch.pt", lambda path: torch.save(Trap(), path)),
    ):
        write(tmp_path / name)
        with pytest.raises(BadFile, match="never unpickled"):
            models.load_checkpoint(tmp_path / name, build("mlp"))
    assert not (tmp_path / "executed").exists()
