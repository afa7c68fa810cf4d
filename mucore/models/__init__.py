"""Networks by name: `build("resnet9-small", in_channels=1, classes=10, image_size=28, seed=0)`; and
the layers of one that are compared.

A seed decides the initial weights and nothing else does: the draws happen on the CPU and leave the
global generators as they were. Every network ends in a linear layer whose input is its penultimate
features (engine/features.py).
"""

from __future__ import annotations

import importlib
import re

import torch
from torch import nn

from mucore import catalog
from mucore.errors import BadValue
from mucore.models.checkpoints import Checkpoint, load_checkpoint
from mucore.rng import stream_seed

# The file of a network; what is not here stands in the table of timm_models.py.
_FILES = {
    "mlp": "mlp",
    "mlp-2d": "mlp",
    "resnet9-small": "resnet9",
    "resnet18": "resnet",
    "resnet18-0.4": "resnet",
    "resnet50": "resnet",
    "allcnn": "plain",
    "vgg11-bn": "plain",
    "vgg16-bn": "plain",
}
# Names of the stem and of the blocks in all of them; of nested ones the innermost counts.
_LAYER = re.compile(
    r"stem|conv1|conv_stem|patch_embed|hidden\d+|residual\d+|features\.\d+|layer\d+(\.\d+)?|blocks\.\d+(\.\d+)?"
    r"|(stages|layers)\.\d+(\.blocks)?\.\d+|conv_head|final_conv"
)


def build(name: str, *, in_channels: int, classes: int, image_size: int, seed: int) -> nn.Module:
    """A network on the CPU with initial weights drawn from `seed`.

    It takes images (n, in_channels, image_size, image_size) and gives logits (n, classes). Raises
    `UnknownName` for a name without a card, `BadValue` for images too small for the network or
    fewer than two classes.
    """
    card = catalog.model(name)
    if image_size < card.min_image_size:
        raise BadValue(
            f"{card.id} needs images of at least {card.min_image_size} pixels a side, but these "
            f"have {image_size}. Choose mlp, or larger images."
        )
    if classes < 2:
        raise BadValue(
            f"{card.id} needs at least 2 classes to tell apart, but the data set has {classes}."
        )
    file = importlib.import_module(f"mucore.models.{_FILES.get(card.id, 'timm_models')}")
    with torch.random.fork_rng(devices=[]):
        torch.random.default_generator.manual_seed(stream_seed(seed, "init"))
        return file.build(card.id, in_channels=in_channels, classes=classes, image_size=image_size)


def channels_last(model: nn.Module) -> nn.Module:
    """`model` itself, the weights of its convolutions laid out with the channels innermost.

    Shapes, names and values stay. Convolutions then compute, and hand on, activations of the same
    layout, which on CPUs and on GPUs with tensor cores is the one that their kernels want. Copies,
    moves to a device and `load_state_dict` keep it; `view` of a weight does not work on it, while
    `flatten` and `reshape` give the values in the usual order.
    """
    return model.to(memory_format=torch.channels_last)  # ty: ignore[no-matching-overload]


def layers(model: nn.Module) -> dict[str, nn.Module]:
    """The layers of a network of `build` whose outputs are compared between models (CKA), by name,
    in the order in which they run.

    They are the stem, every block, and last the layer whose output, (n, d) once flattened, is the
    penultimate features: 4 names in the perceptron, 3 in that of points, 7 in resnet9-small, 9 to
    20 in the others. Each runs once a forward pass and gives one tensor with the samples first;
    where the channels stand depends on the network. Raises `BadValue` for a network whose
    layers have other names.
    """
    modules = dict(model.named_modules())
    weighted = [
        name for name, module in modules.items() if isinstance(module, nn.Linear | nn.Conv2d)
    ]
    matching = [
        name
        for name in modules
        if _LAYER.fullmatch(name) and any(f"{each}.".startswith(f"{name}.") for each in weighted)
    ]
    chosen = [
        name for name in matching if not any(other.startswith(f"{name}.") for other in matching)
    ]
    if len(chosen) < 2:
        raise BadValue(
            "Layers are known of the networks in `python -m mucore models` only, and this is "
            "another one."
        )
    leaves = [name for name, module in modules.items() if not any(True for _ in module.children())]
    last = leaves[leaves.index(head_name(model)) - 1]
    return {name: modules[name] for name in (*chosen, last)}


def head_name(model: nn.Module) -> str:
    """The name of the last linear layer of a network of `build`, which is its classifier."""
    return [name for name, module in model.named_modules() if isinstance(module, nn.Linear)][-1]
