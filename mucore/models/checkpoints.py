"""Weights in files: read without running code, brought to a network's names, or refused.

Checkpoints differ in what is around the weights (containers, prefixes of wrappers), in the names of
two families of CIFAR ResNets, and in what else was saved (a pruning mask, a layer that normalises
pixels, a moving average). What is done about it is said in `Checkpoint.notes`.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy._core.multiarray import scalar
from safetensors.torch import load_file
from torch import Tensor, nn

from mucore.errors import BadFile
from mucore.runs.preprocess import NAMED, USUAL, written
from mucore.userfiles.weights import is_safetensors

# where trainers keep a state dict in their file, the moving average first: it is what they evaluate
_AVERAGES: Final = ("state_dict_ema", "model_ema", "ema_state_dict", "ema")
_CONTAINERS: Final = ("state_dict", "model_state_dict", "model", "net")
# of wrappers: DataParallel, Lightning, torch.compile
_PREFIXES: Final = ("module.", "model.", "_orig_mod.", "backbone.", "net.")
# kuangliu's CIFAR ResNet, which most papers of this field train, and torchvision's
_DIALECTS: Final = (("shortcut.", "downsample."), ("linear.", "fc."))
# plain values that trainers save beside the weights
_PLAIN: list[Any] = [argparse.Namespace, np.dtype, *map(type, map(np.dtype, "fdl?"))]
_PLAIN += [scalar, (scalar, "numpy.core.multiarray.scalar")]
UNTOLD: Final = (
    "Nothing in {} tells on which pixels it was trained. Say preprocess: "
    f"{', '.join(NAMED)}, MEAN/STD or {USUAL} (the training data's own mean and deviation)."
)


@dataclass(frozen=True)
class Checkpoint:
    """Tensors by name, on the CPU; sentences on what was done to them; and what pixels become, as a
    recipe names it, where a `normalize` layer in the file says so ("" elsewhere).
    """

    tensors: dict[str, Tensor]
    notes: tuple[str, ...] = ()
    preprocess: str = ""


def load_checkpoint(path: Path | str, model: nn.Module) -> Checkpoint:
    """Fill `model` with the weights in a file, safetensors or torch's own format, and return what
    was read.

    Raises `BadFile` where the file is missing, not a checkpoint, wants to run code, holds other
    layers than the model, or values that no trained network has.
    """
    path, wanted = Path(path), model.state_dict()
    found = fitted(path, read(path), wanted)
    # old files have no counters
    counters = {key: t for key, t in wanted.items() if key.endswith("num_batches_tracked")}
    state = counters | found.tensors
    if strange := sorted(wanted.keys() ^ state.keys()):
        missing = len(wanted.keys() - state.keys())
        raise BadFile(
            f"{path} holds weights of another network: {missing} names are missing and "
            f"{len(strange) - missing} unknown, {', '.join(strange[:3])} among them. Choose the "
            "model that it was saved from."
        )
    for key, tensor in wanted.items():
        if fault := _fault(key, state[key], tensor):
            raise BadFile(f"{path}: {key} {fault}")
    model.load_state_dict(state)
    return found


def _fault(key: str, tensor: Tensor, wanted: Tensor) -> str:
    """What is wrong with a tensor in its place, with a way out; "" where nothing is."""
    if tensor.shape != wanted.shape:
        shapes = f"has shape {tuple(tensor.shape)}, but the model needs {tuple(wanted.shape)}"
        return f"{shapes}. Check the number of classes, the channels and the image size."
    if tensor.is_floating_point() != wanted.is_floating_point():
        return f"holds {str(tensor.dtype)[6:]} numbers. Give the weights before quantisation."
    if not bool(tensor.isfinite().all()):
        return "holds values that are not finite. Give the file of a model that did not diverge."
    if key.endswith("running_var") and bool((tensor < 0).any()):
        return "holds negative variances. Give the file of a model that was saved undamaged."
    return ""


def preprocess_of(path: Path) -> str:
    """What pixels become by a `normalize` layer in a file; "" without one, where batch norms tell
    whether pixels come as they should. Raises `BadFile` where nothing in the file tells.
    """
    found = fitted(path, read(path), {})
    if not found.preprocess and not any(key.endswith("running_var") for key in found.tensors):
        raise BadFile(UNTOLD.format(path))
    return found.preprocess


def fitted(path: Path, found: Checkpoint, wanted: Mapping[str, Tensor]) -> Checkpoint:
    """A checkpoint under the names of a network, pruned weights multiplied with their masks, and a
    `normalize` layer that the network has not as its `preprocess`.
    """
    tensors, state, notes, renamed = {**found.tensors}, {}, [*found.notes], []
    pruned = [key for key in tensors if key.endswith("_orig") and _name(key, wanted) not in wanted]
    for key in pruned:
        tensors[key[:-5]] = tensors.pop(key) * tensors.pop(f"{key[:-5]}_mask", 1)
    if pruned:
        notes.append(f"{len(pruned)} pruned weights were multiplied with their masks.")
    for key, tensor in tensors.items():
        name = _name(key, wanted)
        if name in state:
            raise BadFile(f"{path} holds {name} twice, of two networks. Save one of them alone.")
        state[name] = tensor
        renamed += [f"{key} as {name}"] if name != key else []
    if renamed:
        notes.append(f"{len(renamed)} names were read as the network's, {renamed[0]}.")
    preprocess = ""
    if "normalize.mean" in state and "normalize.mean" not in wanted:
        layer = [state.pop(f"normalize.{part}", torch.ones(1)) for part in ("mean", "std")]
        # as short as single precision needs
        mean, std = ([float(str(n)) for n in t.flatten().float().numpy()] for t in layer)
        preprocess = written(mean, std)
        notes.append(f"Its normalize layer stands as preprocess {preprocess}, before the network.")
    kinds = {str(t.dtype)[6:] for t in state.values() if t.is_floating_point()} - {"float32"}
    if kinds:
        notes.append(f"Weights saved as {', '.join(sorted(kinds))} are computed with as float32.")
    return Checkpoint(state, tuple(notes), preprocess)


def _name(key: str, wanted: Mapping[str, Tensor]) -> str:
    """The name of a network's own under which a file has `key`; without its prefixes where the
    network has none such.
    """
    names = [key]
    while prefix := next((each for each in _PREFIXES if names[-1].startswith(each)), ""):
        names.append(names[-1].removeprefix(prefix))
    ways = [way for pair in _DIALECTS for way in (pair, pair[::-1])]
    others = [name.replace(*way) for name in names for way in ways]
    return next((name for name in (*names, *others) if name in wanted), names[-1])


def read(path: Path) -> Checkpoint:
    """The tensors in a file, under its own names. Raises `BadFile`; see `load_checkpoint`."""
    if not path.is_file():
        raise BadFile(f"There is no checkpoint at {path}.")
    try:
        if path.suffix == ".safetensors" or is_safetensors(path):
            return Checkpoint(load_file(path))
        with torch.serialization.safe_globals(_PLAIN):
            content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        # both libraries raise many kinds here; whichever, the file is no plain checkpoint
        raise BadFile(
            f"{path} is not a checkpoint of plain tensors, and files are never unpickled here. If "
            "it is a whole model whose source you trust, two lines make one of it: "
            f'model = torch.load("{path}", weights_only=False); '
            'torch.save(model.state_dict(), "weights.pt").'
        ) from error
    return _unwrapped(path, content, ())


def _unwrapped(path: Path, content: Any, notes: tuple[str, ...]) -> Checkpoint:
    """The dictionary of tensors in what was saved around it."""
    if not isinstance(content, dict) or not content:
        raise BadFile(
            f"{path} holds no dictionary of tensors. Save model.state_dict() and give that file."
        )
    if all(isinstance(value, Tensor) for value in content.values()):
        return Checkpoint({str(key): value for key, value in content.items()}, notes)
    inside = [name for name in (*_AVERAGES, *_CONTAINERS) if isinstance(content.get(name), dict)]
    if len(inside) > 1 and inside[0] in _AVERAGES:
        notes += (f"Of {' and '.join(inside)} in the file the average, {inside[0]}, is read.",)
    return _unwrapped(path, content[inside[0]] if inside else None, notes)
