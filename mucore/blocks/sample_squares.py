"""Squared gradients of single samples, summed over a batch, without one backward pass a sample.

One backward pass for all samples gives the gradient of each layer's output, sample by sample; that
and the layer's input make each sample's gradient of the weights, in a closed form a kind of layer.
Several objectives of the same samples share the forward pass and what is made of the inputs.
Squares are dictionaries by parameter name, each tensor of its parameter's shape.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import torch
from torch import Tensor, nn
from torch.func import functional_call

from mucore.engine.chunks import patch_bytes
from mucore.engine.losses import cross_entropy
from mucore.engine.state import hooked
from mucore.fitting import BUDGET, fitting

Squares = dict[str, Tensor]
# (layer, its input, gradients of its output, one an objective) -> a value by parameter name
Form = Callable[[nn.Module, Tensor, Sequence[Tensor]], Squares]
# logits (n, C) and whatever labels the caller has -> a sum over samples (), or several (K,)
Objective = Callable[[Tensor, Tensor], Tensor]

# samples whose patches are held at once by a convolution; of large layers fewer, see
# engine/chunks.py
CHUNK = 32
# Numbers in the gradients of single samples that are held at once: what a core's cache takes, where
# the device is one of these (1.5 to 4 times faster than blocks of 4 samples), else 256 MB.
IN_CACHE, HELD = ("cpu",), (2**17, 2**26)
# Pairs of places that are worth one gradient of a sample: a product of matrices for all samples
# against one for each sample and objective (measured on a CPU from 1 to 16 places).
PAIRS_WORTH = 6


def cross_entropy_sum(logits: Tensor, y: Tensor) -> Tensor:
    return cross_entropy(logits, y, reduction="sum")


def summed_squares(
    model: nn.Module, x: Tensor, y: Tensor, objective: Objective = cross_entropy_sum
) -> Squares:
    """Sum over the samples of x (n, c, h, w), and over the objectives, of the squared gradient of
    each one's objective; the model is in eval mode.

    One forward pass, and a backward pass an objective, with hooks on linear, convolution and norm
    layers. Tokens and positions that a transformer adds to every sample alike, (1, tokens, d) each,
    are given to every sample apart. A network with other parameters, with a layer used twice, or
    with one that does not see the samples one behind the other goes sample by sample, which is
    right for every network and many times slower.
    """
    squares = squares_by_layer(model, x, y, objective)
    return squares_one_by_one(model, x, y, objective) if squares is None else squares


def squares_by_layer(
    model: nn.Module, x: Tensor, y: Tensor, objective: Objective = cross_entropy_sum
) -> Squares | None:
    """`summed_squares` layer by layer; None where the network does not allow it."""

    def of_copies(slopes: Tensor) -> Tensor:
        return slopes.square().sum(0, keepdim=True)

    return by_layer(model, x, y, objective, form=_squares_of, of_copies=of_copies)


def squares_one_by_one(
    model: nn.Module, x: Tensor, y: Tensor, objective: Objective = cross_entropy_sum
) -> Squares:
    """`summed_squares` for any network, one sample after the other."""
    weights = trainable(model)
    total = {name: torch.zeros_like(p) for name, p in weights.items()}
    for image, label in zip(x.split(1), y.split(1), strict=True):
        for value in objective(model(image), label).reshape(-1).split(1):
            slopes = torch.autograd.grad(
                value,
                list(weights.values()),
                retain_graph=True,
                allow_unused=True,
                materialize_grads=True,
            )
            for name, slope in zip(weights, slopes, strict=True):
                total[name].addcmul_(slope, slope)
    return total


def trainable(model: nn.Module) -> dict[str, nn.Parameter]:
    return {name: p for name, p in model.named_parameters() if p.requires_grad}


def by_layer(
    model: nn.Module,
    x: Tensor,
    y: Tensor,
    objective: Objective,
    *,
    form: Form,
    of_copies: Callable[[Tensor], Tensor],
) -> Squares | None:
    """What `form` computes from the input and the output gradients of every layer, by parameter
    name; one backward pass an objective for all samples.

    `of_copies` does the same from the gradients (n, tokens, d) of what is added to every sample
    alike, and is summed over objectives. None where a layer has no closed form, or the network uses
    one in a way that none covers (see `summed_squares`).
    """
    layers = {
        name: module
        for name, module in model.named_modules()
        if any(p.requires_grad for p in module.parameters(recurse=False))
    }
    own = layers.pop("") if "" in layers and not has_form(model) else nn.Module()
    apart = {name: p for name, p in own.named_parameters(recurse=False) if p.requires_grad}
    added = all(p.dim() == 3 and len(p) == 1 for p in apart.values())
    if not (added and all(map(has_form, layers.values()))):
        return None
    found: Squares = {}
    calls: Counter[str] = Counter()
    objectives = 1

    def watch(name: str, module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        calls[name] += len(inputs[0]) == len(x)
        seen = inputs[0].detach()
        gradients: list[Tensor] = []

        def arrived(gradient: Tensor) -> None:
            gradients.append(gradient)
            if len(gradients) == objectives:
                for parameter, values in form(module, seen, gradients).items():
                    found[f"{name}.{parameter}" if name else parameter] = values
                gradients.clear()

        # A tensor hook set now still sees the gradient of this layer's output when an in-place
        # activation overwrites it next.
        output.register_hook(arrived)

    hooks = (module.register_forward_hook(partial(watch, name)) for name, module in layers.items())
    with hooked(hooks):
        # Asking for the input's gradient alone spares the weight gradients, which are about to be
        # computed sample by sample.
        x = x.detach().requires_grad_(True)
        copies = {
            name: p.detach().expand(len(x), -1, -1).clone().requires_grad_()
            for name, p in apart.items()
        }
        sums = objective(functional_call(model, copies, (x,)), y).reshape(-1)
        objectives = len(sums)
        for number, each in enumerate(sums):
            slopes = torch.autograd.grad(
                each, [*copies.values(), x], retain_graph=number + 1 < objectives
            )
            for name, slope in zip(copies, slopes, strict=False):
                values = of_copies(slope)
                found[name] = found[name] + values if name in found else values
    wanted = trainable(model)
    if any(calls[name] != 1 for name in layers) or not found.keys() >= wanted.keys():
        return None
    return {name: found[name] for name in wanted}


# -- layers of which the gradient of each sample has a closed form


def has_form(layer: nn.Module) -> bool:
    """Whether a layer's gradients are among those below. A subclass that computes something else,
    such as a norm with its activation, is not.
    """
    kind = type(layer).forward
    if isinstance(layer, nn.Conv2d):
        plain = layer.padding_mode == "zeros" and not isinstance(layer.padding, str)
        return kind is nn.Conv2d.forward and plain
    if isinstance(layer, nn.modules.batchnorm._BatchNorm):
        return kind is nn.BatchNorm2d.forward and layer.track_running_stats
    return kind in (nn.Linear.forward, nn.LayerNorm.forward)


def factors(
    layer: nn.Linear | nn.Conv2d, x: Tensor, gradients: Sequence[Tensor]
) -> Iterator[tuple[list[Tensor], Tensor]]:
    """Each sample's gradient of the weights is rows times columns: rows (n, groups, filters,
    places) for each of `gradients`, and columns (n, groups, places, weights), of a part of the
    samples after the other.

    x is (n, ..., in) and gradients (n, ..., out) of a linear layer; of a convolution (n, in, h, w)
    and (n, out, h', w'), whose columns are unfolded patches.
    """
    if isinstance(layer, nn.Linear):
        x = x.unsqueeze(1) if x.dim() == 2 else x.flatten(1, -2)
        rows = [g.reshape(*x.shape[:2], -1).transpose(1, 2).unsqueeze(1) for g in gradients]
        yield rows, x.unsqueeze(1)
        return
    assert not isinstance(layer.padding, str)
    shape = (layer.groups, layer.out_channels // layer.groups, -1)
    size = fitting(2 * patch_bytes(layer, gradients[0]), CHUNK, BUDGET)
    for images, *parts in zip(x.split(size), *(g.split(size) for g in gradients), strict=True):
        patches = nn.functional.unfold(
            images, layer.kernel_size, layer.dilation, layer.padding, layer.stride
        )
        columns = patches.view(len(images), layer.groups, -1, patches.shape[2]).transpose(2, 3)
        yield [part.reshape(len(images), *shape) for part in parts], columns


def normalised(layer: nn.Module, x: Tensor) -> tuple[Tensor, tuple[int, ...]]:
    """What a norm multiplies with its weights, in the shape of x, and the dimensions over which a
    sample's gradients add up.
    """
    if isinstance(layer, nn.LayerNorm):  # (n, ..., *normalised)
        positions = tuple(range(1, x.dim() - len(layer.normalized_shape)))
        return nn.functional.layer_norm(x, layer.normalized_shape, eps=layer.eps), positions
    assert isinstance(layer, nn.modules.batchnorm._BatchNorm)  # (n, c, ...), running statistics
    assert layer.running_mean is not None and layer.running_var is not None
    shape = (1, -1, *[1] * (x.dim() - 2))
    deviation = (layer.running_var.view(shape) + layer.eps).rsqrt()
    return (x - layer.running_mean.view(shape)) * deviation, tuple(range(2, x.dim()))


def added_up(values: Tensor, over: tuple[int, ...]) -> Tensor:
    return values.sum(over) if over else values


def _squares_of(layer: nn.Module, x: Tensor, gradients: Sequence[Tensor]) -> Squares:
    """The sums of squares of a layer's parameters, over samples and objectives."""
    if isinstance(layer, nn.Linear | nn.Conv2d):
        groups = layer.groups if isinstance(layer, nn.Conv2d) else 1
        filters, *shape = layer.weight.shape
        weight = layer.weight.new_zeros(groups, filters // groups, layer.weight[0].numel())
        bias = layer.weight.new_zeros(groups, filters // groups)
        for rows, columns in factors(layer, x, gradients):
            weight += squared_products(rows, columns)
            if layer.bias is not None:
                bias += torch.stack([row.sum(3).square().sum(0) for row in rows]).sum(0)
        return {"weight": weight.view(filters, *shape), "bias": bias.flatten()}
    inputs, over = normalised(layer, x)

    def squares(values: Tensor) -> Tensor:
        return added_up(values, over).square().sum(0)

    return {
        "weight": torch.stack([squares(g * inputs) for g in gradients]).sum(0),
        "bias": torch.stack([squares(g) for g in gradients]).sum(0),
    }


def squared_products(rows: Sequence[Tensor], columns: Tensor) -> Tensor:
    """Sum over samples, and over rows, of (row · columns)², (groups, filters, weights), for rows
    (n, groups, filters, places) and columns (n, groups, places, weights).
    """
    places, count = columns.shape[2], len(rows)
    if places * (places + 1) / 2 <= PAIRS_WORTH * count:
        return _of_few_places(rows, columns)
    _, groups, filters, _ = rows[0].shape
    size = groups * filters * columns.shape[3]
    block = HELD[rows[0].device.type not in IN_CACHE] // (size * count)
    total = rows[0].new_zeros(groups, filters, columns.shape[3])
    if block > 1:
        stacked = torch.stack(list(rows), 2).flatten(2, 3)  # (n, groups, rows · filters, places)
        for row, column in zip(stacked.split(block), columns.split(block), strict=True):
            product = torch.matmul(row, column).square_().sum(0)
            total += product.unflatten(1, (count, filters)).sum(1)
        return total
    product = torch.empty_like(total)
    for each in rows:
        for row, column in zip(each, columns, strict=True):
            torch.bmm(row, column, out=product)
            total.addcmul_(product, product)
    return total


def _of_few_places(rows: Sequence[Tensor], columns: Tensor) -> Tensor:
    """`squared_products` by pairs of places: (Σ_p g_p x_p)² is Σ_{p, q} (g_p g_q) (x_p x_q), and
    its first factor can be summed over rows before one product for all samples.
    """
    places = columns.shape[2]
    x = columns.permute(2, 1, 0, 3).contiguous()  # (places, groups, n, weights)
    pairs = torch.cat([x[p] * x[p:] for p in range(places)])
    slopes = [row.permute(3, 1, 2, 0).contiguous() for row in rows]  # (places, groups, filters, n)
    parts = []
    for p in range(places):
        part = slopes[0][p] * slopes[0][p:]
        for g in slopes[1:]:
            part.addcmul_(g[p], g[p:])
        part[1:] *= 2  # a pair of two places comes twice
        parts.append(part)
    factors = torch.cat(parts).permute(1, 2, 0, 3).flatten(2)  # (groups, filters, pairs · n)
    return torch.bmm(factors, pairs.transpose(0, 1).flatten(1, 2)).clamp_(min=0)
