"""Checkpoints as people have them, by the layouts of public code, each with what becomes of it."""

from __future__ import annotations

import argparse
import copy
import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from facts import tells
from safetensors.torch import save_file
from torch import nn

from mucore.errors import BadFile
from mucore.models import Checkpoint, build, load_checkpoint


def network(seed: int) -> nn.Module:
    """torchvision's names of a residual network; no two tensors are alike."""
    torch.manual_seed(seed)
    parts = {"conv1": nn.Conv2d(3, 4, 1), "bn1": nn.BatchNorm2d(4), "fc": nn.Linear(4, 2)}
    made = nn.ModuleDict({**parts, "downsample": nn.Sequential(nn.Conv2d(4, 4, 1))})
    made.state_dict()["bn1.running_var"].uniform_(0.1, 1)
    return made


STATE = network(1).state_dict()
AVERAGE = {name: t + 1 if t.is_floating_point() else t for name, t in STATE.items()}
WEIGHT = STATE["conv1.weight"]
LAYER = {"normalize.mean": torch.tensor([0.4914, 0.48, 0.4]), "normalize.std": torch.ones(1, 3, 1)}


def prefixed(prefix: str, **more: Any) -> dict[str, Any]:
    return {prefix + name: t for name, t in {**STATE, **more}.items()}


def of_type(kind: torch.dtype) -> dict[str, Any]:
    return {name: t.to(kind) if t.is_floating_point() else t for name, t in STATE.items()}


SHORTCUT = {
    name.replace("downsample", "shortcut").replace("fc.", "linear."): t for name, t in STATE.items()
}
PRUNED = {name: t for name, t in STATE.items() if name != "conv1.weight"}
PRUNED |= {"conv1.weight_orig": WEIGHT, "conv1.weight_mask": (WEIGHT > 0).float()}
# content, how many notes, and what these must tell
LOADED: dict[str, tuple[Any, int, list[str]]] = {
    "plain": (STATE, 0, []),
    "data parallel": (prefixed("module."), 1, ["module.conv1.weight"]),
    "nested": (prefixed("module._orig_mod.backbone."), 1, []),
    "Lightning": ({"state_dict": prefixed("model."), "epoch": 3}, 1, []),
    "kuangliu": ({"net": prefixed("module."), "acc": 93.2, "epoch": 3}, 1, []),
    "kuangliu's names": (SHORTCUT, 1, ["linear.weight"]),
    "timm": ({"state_dict": AVERAGE, "state_dict_ema": STATE}, 1, ["state_dict_ema", "average"]),
    "torchvision": ({"model": AVERAGE, "model_ema": STATE, "args": None}, 1, ["model_ema"]),
    "arguments": ({"state_dict": STATE, "args": argparse.Namespace(lr=0.1)}, 0, []),
    "a numpy number": ({"state_dict": STATE, "best": np.float64(93.1)}, 0, []),
    "double": (of_type(torch.float64), 1, ["float64", "float32"]),
    "parameters": ({n: nn.Parameter(t) for n, t in STATE.items() if t.dim()}, 0, []),
    "normalize": ({"state_dict": prefixed("module.", **LAYER)}, 2, ["0.4914,0.48,0.4/1"]),
}
STATISTICS = {name: t for name, t in STATE.items() if "running" not in name}
REFUSED: dict[str, tuple[Any, list[str]]] = {
    "a module": (nn.Linear(2, 2), ["never unpickled", "weights_only=False", "model.state_dict()"]),
    "an optimizer": ({"optimizer": {"state": {}}}, ["no dictionary of tensors"]),
    "no statistics": (STATISTICS, ["2 names are missing", "0 unknown", "bn1.running_mean"]),
    "more": ({**STATE, "aux.weight": WEIGHT}, ["0 names are missing", "1 unknown", "aux.weight"]),
    "two networks": (STATE | prefixed("net."), ["conv1.weight", "twice"]),
    "other classes": ({**STATE, "fc.weight": torch.ones(7, 4)}, ["fc.weight", "(7, 4)", "(2, 4)"]),
    "integers": (of_type(torch.int8), ["int8"]),
    "not finite": ({**STATE, "conv1.weight": WEIGHT * torch.nan}, ["conv1.weight", "not finite"]),
    "variances": ({**STATE, "bn1.running_var": -torch.ones(4)}, ["bn1.running_var", "negative"]),
}


def read(path: Path) -> tuple[nn.Module, Checkpoint]:
    model = network(2)
    return model, load_checkpoint(path, model)


@pytest.mark.parametrize("name", LOADED)
def test_a_layout_of_the_field_loads_and_what_was_done_is_said(tmp_path: Path, name: str) -> None:
    content, notes, words = LOADED[name]
    torch.save(content, tmp_path / "x.pt")
    model, found = read(tmp_path / "x.pt")
    assert all(torch.equal(t, STATE[key]) for key, t in model.state_dict().items())
    assert len(found.notes) == notes
    assert not words or tells(" ".join(found.notes), *words)
    assert found.preprocess == (words[0] if name == "normalize" else "")


def test_masks_halves_and_safetensors(tmp_path: Path) -> None:
    torch.save(PRUNED, tmp_path / "pruned.pt")
    model, found = read(tmp_path / "pruned.pt")
    assert torch.equal(model.state_dict()["conv1.weight"], WEIGHT * (WEIGHT > 0))
    assert tells(found.notes[0], "1 pruned", "masks")
    torch.save(of_type(torch.bfloat16), tmp_path / "half.pt")
    half = read(tmp_path / "half.pt")[0].state_dict()["conv1.weight"]
    assert half.dtype == torch.float32 and torch.equal(half, WEIGHT.bfloat16().float())
    save_file(STATE, tmp_path / "no suffix")
    assert torch.equal(read(tmp_path / "no suffix")[0].state_dict()["conv1.weight"], WEIGHT)


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_trained_network_has_is_refused_by_name(tmp_path: Path, name: str) -> None:
    content, words = REFUSED[name]
    torch.save(content, tmp_path / "x.pt")
    with pytest.raises(BadFile) as refusal:
        read(tmp_path / "x.pt")
    assert tells(str(refusal.value), "x.pt", *words)
    assert "WeightsUnpickler" not in str(refusal.value)
    # pages say the name of an upload instead of its path, wherever it stands
    assert "x.pt" not in str(refusal.value).replace(str(tmp_path / "x.pt"), "")


def test_no_file_runs_code_and_nonsense_is_refused(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[Path]]:
            return (Path.touch, (tmp_path / "executed",))

    torch.save(Trap(), tmp_path / "torch.pt")
    (tmp_path / "pickle.pt").write_bytes(pickle.dumps(Trap()))
    (tmp_path / "x.safetensors").write_bytes(b"nonsense")
    for name in ("torch.pt", "pickle.pt", "x.safetensors", "nowhere.pt"):
        with pytest.raises(BadFile, match="never unpickled|There is no checkpoint at"):
            read(tmp_path / name)
    assert not (tmp_path / "executed").exists()


def easydub() -> nn.Sequential:
    """The names of EasyDUB's ResNet-9: numbers, and `module` inside residual parts."""
    part = nn.Sequential(nn.Conv2d(3, 3, 3, bias=False), nn.BatchNorm2d(3), nn.ReLU())
    residual = nn.ModuleDict({"module": nn.Sequential(copy.deepcopy(part), copy.deepcopy(part))})
    return nn.Sequential(part, residual, nn.Flatten(), nn.Linear(3, 2, bias=False))


def named(name: str, image_size: int, classes: int) -> nn.Module:
    return build(name, in_channels=3, classes=classes, image_size=image_size, seed=3)


# Published collections of unlearned networks: how a network of theirs is built here, and how its
# state dict stands in their files. Nobody had the files themselves.
COLLECTIONS: dict[str, tuple[Callable[[], nn.Module], Callable[[dict[str, Any]], Any]]] = {
    # torchvision's ResNet-18 with the CIFAR stem; Yurim0507's are fine-tuned from these
    "jaeunglee, Yurim0507": (partial(named, "resnet18", 32, 10), lambda state: state),
    # Unlearn-Sparse's ImageNet code, whose networks normalise pixels themselves, on several GPUs
    "UUEF": (
        partial(named, "resnet50", 224, 1000),
        lambda state: {
            "state_dict": {f"module.{name}": t for name, t in {**state, **LAYER}.items()},
            "evaluation_result": {"accuracy": {"retain": 76.1}, "MIA": np.float64(0.4)},
        },
    ),
    "EasyDUB": (easydub, lambda state: {f"module.{name}": t for name, t in state.items()}),
}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n == "UUEF")) for n in COLLECTIONS]
)
def test_files_in_the_layout_of_a_collection_load(tmp_path: Path, name: str) -> None:
    make, layout = COLLECTIONS[name]
    trained, model = make(), make()
    for t in trained.state_dict().values():
        t.add_(1)
    torch.save(layout(trained.state_dict()), tmp_path / "x.pth.tar")
    found = load_checkpoint(tmp_path / "x.pth.tar", model)
    wanted = trained.state_dict()
    assert all(torch.equal(t, wanted[key]) for key, t in model.state_dict().items())
    assert found.preprocess == ("0.4914,0.48,0.4/1" if name == "UUEF" else "")
