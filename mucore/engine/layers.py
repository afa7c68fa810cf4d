"""The last layers of a network: choosing them, training them alone, starting them anew."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from mucore.engine.features import classifier_layer

Unit = Literal["block", "layer"]
WEIGHT_LAYERS = (nn.Linear, nn.modules.conv._ConvNd)


def tail(model: nn.Module, unit: Unit, k: int) -> dict[str, nn.Module]:
    """The last `k` units of a network: its modules with parameters of their own, by name, in definition order.

    Convolutions and linear layers count as layers, in definition order, so the convolution of a shortcut stands after its block's others;
    norms between them come along and do not count. A block is a child of the network (of its only child with parameters, where it is a
    wrapper) that holds at least one layer besides the classifier; the classifier comes along and does not count. More units than there
    are means all modules (Goel, Prabhu, Kumaraguru, 2022, CF-k and EU-k; blocks: SCRUB's notebooks).
    """
    head, chosen, count = classifier_layer(model), {}, 0
    for members in reversed([{name: module} for name, module in _owners(model).items()] if unit == "layer" else _blocks(model)):
        chosen = members | chosen
        layers = [module for module in members.values() if isinstance(module, WEIGHT_LAYERS)]
        count += bool(layers) and (unit == "layer" or layers != [head])
        if count == k:
            return chosen
    return _owners(model)


def train_only(model: nn.Module, chosen: dict[str, nn.Module]) -> float:
    """Freeze every parameter outside `chosen`; gives the share of the weights that may move, in 0..1.

    `fit` then keeps the statistics of frozen batch norms too.
    """
    model.requires_grad_(False)
    for module in chosen.values():
        for p in module.parameters(recurse=False):
            p.requires_grad_(True)
    return sum(p.numel() for p in model.parameters() if p.requires_grad) / sum(p.numel() for p in model.parameters())


@torch.no_grad()
def copy_layers(chosen: dict[str, nn.Module], source: nn.Module) -> None:
    """Give the modules the parameters and buffers that modules of the same name have in `source`."""
    for name, module in chosen.items():
        other = source.get_submodule(name)
        for own, given in ((module._parameters, other._parameters), (module._buffers, other._buffers)):
            for key, tensor in own.items():
                if tensor is not None:
                    replacement = given[key]
                    assert isinstance(replacement, Tensor)
                    tensor.copy_(replacement)


@torch.no_grad()
def reset_layers(chosen: dict[str, nn.Module], generator: torch.Generator) -> None:
    """Kaiming-normal weights and zero biases for layers; scale 1, shift 0 and fresh statistics for norms. `generator` lives on the CPU."""
    for module in chosen.values():
        if isinstance(module, WEIGHT_LAYERS):
            drawn = nn.init.kaiming_normal_(torch.empty(module.weight.shape), generator=generator)
            module.weight.copy_(drawn)
            if module.bias is not None:
                module.bias.zero_()
        elif isinstance(module, nn.modules.batchnorm._NormBase | nn.LayerNorm | nn.GroupNorm):
            module.reset_parameters()


def _owners(model: nn.Module) -> dict[str, nn.Module]:
    return {name: module for name, module in model.named_modules() if any(True for _ in module.parameters(recurse=False))}


def _blocks(model: nn.Module) -> list[dict[str, nn.Module]]:
    """The owners of parameters, grouped by the child of the network that holds them."""
    owners, groups = _owners(model), {}
    for depth in range(1, 2 + max(name.count(".") for name in owners)):
        groups = {}
        for name, module in owners.items():
            groups.setdefault(tuple(name.split(".")[:depth]), {})[name] = module
        if len(groups) > 1:  # otherwise a wrapper around one child: look inside
            break
    return list(groups.values())
