"""The last layers of a network: choosing them, training them alone, starting them anew."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from mucore.engine.features import classifier_layer
from mucore.engine.run import Run
from mucore.errors import BadValue

Unit = Literal["block", "layer"]
WEIGHT_LAYERS = (nn.Linear, nn.modules.conv._ConvNd)
NORMS = (nn.modules.batchnorm._NormBase, nn.LayerNorm, nn.GroupNorm)


def tail(model: nn.Module, unit: Unit, k: int) -> dict[str, nn.Module]:
    """The last `k` units of a network: modules with parameters, by name, in definition order.

    Convolutions and linear layers count as layers, in definition order, so the convolution of a
    shortcut stands after its block's others; norms between them come along and do not count. A
    block is a child of the network that holds at least one layer besides the classifier; a child
    with more than half of all layers is no block but a container, whose children count instead,
    such as the row of blocks of a transformer. The classifier comes along and does not count. More
    units than there are means all modules (Goel, Prabhu, Kumaraguru, 2022, CF-k and EU-k; blocks:
    SCRUB's notebooks).
    """
    head = classifier_layer(model)
    if unit == "block":
        units = _blocks(model)
    else:
        units = [{name: module} for name, module in _owners(model).items()]
    chosen = {}
    count = 0
    for members in reversed(units):
        chosen = members | chosen
        layers = [module for module in members.values() if isinstance(module, WEIGHT_LAYERS)]
        count += bool(layers) and (unit == "layer" or layers != [head])
        if count == k:
            return chosen
    return _owners(model)


def train_only(model: nn.Module, chosen: dict[str, nn.Module]) -> float:
    """Freeze all parameters outside `chosen`; gives the share of weights that may move, in 0..1.

    `fit` then keeps the statistics of frozen batch norms too.
    """
    model.requires_grad_(False)
    for module in chosen.values():
        for p in module.parameters(recurse=False):
            p.requires_grad_(True)
    return sum(p.numel() for p in model.parameters() if p.requires_grad) / sum(
        p.numel() for p in model.parameters()
    )


@torch.no_grad()
def copy_layers(chosen: dict[str, nn.Module], source: nn.Module) -> None:
    """Give the modules the parameters and buffers of the modules of those names in `source`."""
    for name, module in chosen.items():
        other = source.get_submodule(name)
        for own, given in (
            (module._parameters, other._parameters),
            (module._buffers, other._buffers),
        ):
            for key, tensor in own.items():
                if tensor is not None:
                    replacement = given[key]
                    assert isinstance(replacement, Tensor)
                    tensor.copy_(replacement)


@torch.no_grad()
def reset_layers(chosen: dict[str, nn.Module], generator: torch.Generator) -> None:
    """Kaiming-normal weights and zero biases for layers; scale 1, shift 0 and fresh statistics for
    norms. `generator` lives on the CPU.

    Raises `BadValue` for a module with other parameters, such as positions or layer scales: how
    they start is the network's own affair.
    """
    for name, module in chosen.items():
        if not isinstance(module, WEIGHT_LAYERS + NORMS):
            raise BadValue(
                f"{name or 'The network itself'} has parameters of its own kind "
                f"({type(module).__name__}), for which there is no general way to reset them. "
                "Start from the original's initial weights (reset_from=theta_init), or choose "
                "fewer layers."
            )
    for module in chosen.values():
        if isinstance(module, WEIGHT_LAYERS):
            drawn = nn.init.kaiming_normal_(torch.empty(module.weight.shape), generator=generator)
            module.weight.copy_(drawn)
            if module.bias is not None:
                module.bias.zero_()
        elif isinstance(module, NORMS):
            module.reset_parameters()


def note_few_convolutions(model: nn.Module, run: Run) -> None:
    """Note where convolutions, on which a method acts, hold less than half of the weights."""
    convolutions = sum(
        module.weight.numel()
        for module in model.modules()
        if isinstance(module, nn.modules.conv._ConvNd)
    )
    share = convolutions / sum(p.numel() for p in model.parameters())
    if share < 0.5:
        said = f"Only {100 * share:.1f} %" if convolutions else "None"
        run.note(
            f"{said} of the weights belong to convolutions, on which this method acts; it is "
            "meant for networks of them."
        )


def _owners(model: nn.Module) -> dict[str, nn.Module]:
    return {
        name: module
        for name, module in model.named_modules()
        if any(True for _ in module.parameters(recurse=False))
    }


def _blocks(model: nn.Module) -> list[dict[str, nn.Module]]:
    """The owners of parameters, grouped by the block of the network that holds them."""
    owners = _owners(model)
    weighted = [name for name, module in owners.items() if isinstance(module, WEIGHT_LAYERS)]
    containers = {""}
    for name, _ in model.named_modules():  # outer ones come first
        inside = sum(layer.startswith(f"{name}.") for layer in weighted)
        if name.rpartition(".")[0] in containers and 2 * inside > len(weighted):
            containers.add(name)
    groups: dict[str, dict[str, nn.Module]] = {}
    for name, module in owners.items():
        block = name
        while block.rpartition(".")[0] not in containers:
            block = block.rpartition(".")[0]
        groups.setdefault(block, {})[name] = module
    return list(groups.values())
