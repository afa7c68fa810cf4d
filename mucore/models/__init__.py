"""Networks by name: `build("resnet9-small", in_channels=1, classes=10, image_size=28, seed=0)`.

A seed decides the initial weights and nothing else does: the draws happen on the CPU and leave the global generators as they were. Every
network ends in a linear layer whose input is its penultimate features (engine/features.py).
"""

from __future__ import annotations

import importlib
from pathlib import Path

import torch
from torch import nn

from mucore import catalog
from mucore.errors import BadFile, BadValue
from mucore.random import stream_seed

_MODULES = {"mlp": "mlp", "resnet9-small": "resnet9", "resnet18": "resnet18"}


def build(name: str, *, in_channels: int, classes: int, image_size: int, seed: int) -> nn.Module:
    """A network on the CPU with initial weights drawn from `seed`.

    It takes images (n, in_channels, image_size, image_size) and gives logits (n, classes). Raises `UnknownName` for a name without a
    card, `BadValue` for images too small for the network or fewer than two classes.
    """
    card = catalog.model(name)
    if image_size < card.min_image_size:
        raise BadValue(
            f"{card.id} needs images of at least {card.min_image_size} pixels a side, but these have {image_size}. "
            "Choose mlp, or larger images."
        )
    if classes < 2:
        raise BadValue(f"{card.id} needs at least 2 classes to tell apart, but the data set has {classes}.")
    module = importlib.import_module(f"mucore.models.{_MODULES[card.id]}")
    with torch.random.fork_rng(devices=[]):
        torch.random.default_generator.manual_seed(stream_seed(seed, "init"))
        return module.build(in_channels=in_channels, classes=classes, image_size=image_size)


def load_checkpoint(path: Path | str, model: nn.Module) -> nn.Module:
    """Fill `model` with the weights in a file and return it: safetensors, or torch's own format read with `weights_only`.

    A dictionary under the key `state_dict` or `model` is unwrapped, and the prefix `module.` of data-parallel training is dropped. Raises
    `BadFile` where the file is missing, not a checkpoint, wants to run code, or holds other layers than the model.
    """
    path = Path(path)
    state = _read(path)
    wanted = model.state_dict()
    missing, surplus = sorted(set(wanted) - set(state)), sorted(set(state) - set(wanted))
    if missing or surplus:
        raise BadFile(
            f"{path} holds weights of another network: {_some('missing', missing)}{_some('unknown', surplus)}"
            f"it has {len(state)} entries, the model {len(wanted)}. Choose the model that it was saved from."
        )
    for key, tensor in wanted.items():
        if tensor.shape != state[key].shape:
            raise BadFile(
                f"{path}: {key} has shape {tuple(state[key].shape)}, but the model needs {tuple(tensor.shape)}. "
                "Check the number of classes, the channels and the image size."
            )
    model.load_state_dict(state)
    return model


def _read(path: Path) -> dict[str, torch.Tensor]:
    if not path.is_file():
        raise BadFile(f"There is no checkpoint at {path}.")
    if path.suffix == ".safetensors":
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        try:
            return load_file(path)
        except (SafetensorError, OSError) as error:
            raise BadFile(f"{path} is not a safetensors file ({error}).") from error
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises many kinds here; whichever, the file is no plain checkpoint
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadFile(
            f"{path} is not a checkpoint of plain tensors, and files are never unpickled here ({reason[:200]}). "
            "Save model.state_dict() with torch.save or safetensors and give that file."
        ) from error
    for wrapper in ("state_dict", "model"):
        if isinstance(content, dict) and isinstance(content.get(wrapper), dict):
            content = content[wrapper]
    if not isinstance(content, dict) or not content or not all(isinstance(value, torch.Tensor) for value in content.values()):
        raise BadFile(f"{path} holds no dictionary of tensors. Save model.state_dict() and give that file.")
    return {str(key).removeprefix("module."): value for key, value in content.items()}


def _some(what: str, names: list[str]) -> str:
    if not names:
        return ""
    return f"{what} {', '.join(names[:3])}{' and more' if len(names) > 3 else ''}; "
