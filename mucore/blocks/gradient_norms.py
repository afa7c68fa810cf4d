"""Squared norms of per-sample gradients over all trainable weights: one number a sample.

Closed forms from a layer's input and its output's gradient, as in sample_squares.py. No sample's
gradient is kept; a convolution or a linear layer on tokens takes the cheaper of two ways: the
gradient itself (filters x weights of a filter), or the Gram matrices of its two factors (places x
places), whose product has the same sum (Goodfellow, Efficient Per-Example Gradient Computations,
2015).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from mucore.blocks.sample_squares import (
    CHUNK,
    IN_CACHE,
    Form,
    Objective,
    Squares,
    by_layer,
    cross_entropy_sum,
)
from mucore.engine.chunks import patch_bytes
from mucore.fitting import BUDGET, fitting


def squared_norms(
    model: nn.Module, x: Tensor, y: Tensor, objective: Objective = cross_entropy_sum
) -> Tensor:
    """Squared norm (n,) float64 of the gradient of each sample's objective, for x (n, c, h, w) and
    y (n,) or (n, A); model in eval mode.

    One backward pass where every layer has a closed form (see `sample_squares.summed_squares`), one
    pass a sample otherwise.
    """
    norms = by_layer(model, x, y, objective, form_of=_norms_of, of_copies=_square)
    return (
        _one_by_one(model, x, y, objective)
        if norms is None
        else torch.stack(list(norms.values())).sum(0)
    )


def _one_by_one(model: nn.Module, x: Tensor, y: Tensor, objective: Objective) -> Tensor:
    """`squared_norms` for any network, one backward pass a sample."""
    weights = [p for p in model.parameters() if p.requires_grad]
    found = []
    for image, label in zip(x.split(1), y.split(1), strict=True):
        gradients = torch.autograd.grad(
            objective(model(image), label), weights, allow_unused=True, materialize_grads=True
        )
        found.append(torch.stack([_square(gradient.unsqueeze(0)) for gradient in gradients]).sum())
    return torch.stack(found)


def _norms_of(module: nn.Module) -> Form | None:
    """The closed form of squared norms (n,) of a layer's parameters; None where there is none."""
    kind = type(module).forward  # a subclass may compute something else
    if kind is nn.Linear.forward:
        return _of_one(_linear)
    if isinstance(module, nn.Conv2d) and kind is nn.Conv2d.forward:
        return (
            _of_one(_convolution)
            if module.padding_mode == "zeros" and not isinstance(module.padding, str)
            else None
        )
    if (
        isinstance(module, nn.modules.batchnorm._BatchNorm)
        and kind is nn.BatchNorm2d.forward
        and module.track_running_stats
    ):
        return _of_one(_batch_norm)
    return _of_one(_layer_norm) if kind is nn.LayerNorm.forward else None


def _of_one(form: Callable[[Any, Tensor, Tensor], Squares]) -> Form:
    """A form of one objective."""

    def of(layer: nn.Module, x: Tensor, gradients: Sequence[Tensor]) -> Squares:
        (gradient,) = gradients
        return form(layer, x, gradient)

    return of


def _linear(layer: nn.Linear, x: Tensor, g: Tensor) -> Squares:
    """x (n, ..., in), g (n, ..., out)."""
    if x.dim() == 2:
        return {"weight": _square(g) * _square(x), "bias": _square(g)}
    x, g = x.flatten(1, -2), g.flatten(1, -2)
    return {
        "weight": _product(g.transpose(1, 2).unsqueeze(1), x.unsqueeze(1)),
        "bias": _square(g.sum(1)),
    }


def _convolution(layer: nn.Conv2d, x: Tensor, g: Tensor) -> Squares:
    """x (n, in, h, w), g (n, out, h', w'): a sample's gradient is g times its unfolded patches."""
    assert not isinstance(layer.padding, str)
    found = []
    size = fitting(2 * patch_bytes(layer, g), CHUNK, BUDGET)
    for images, gradients in zip(x.split(size), g.split(size), strict=True):
        patches = nn.functional.unfold(
            images, layer.kernel_size, layer.dilation, layer.padding, layer.stride
        )
        columns = patches.view(len(images), layer.groups, -1, patches.shape[2]).transpose(2, 3)
        found.append(
            _product(
                gradients.reshape(
                    len(images), layer.groups, layer.out_channels // layer.groups, -1
                ),
                columns,
            )
        )
    return {"weight": torch.cat(found), "bias": _square(g.sum((2, 3)))}


def _batch_norm(layer: nn.modules.batchnorm._BatchNorm, x: Tensor, g: Tensor) -> Squares:
    """x, g (n, c, ...): with running statistics a scale and a shift of each channel."""
    assert layer.running_mean is not None and layer.running_var is not None
    shape = (1, -1, *[1] * (x.dim() - 2))
    normalised = (x - layer.running_mean.view(shape)) * (
        layer.running_var.view(shape) + layer.eps
    ).rsqrt()
    over = tuple(range(2, x.dim()))
    return {"weight": _square(_total(g * normalised, over)), "bias": _square(_total(g, over))}


def _layer_norm(layer: nn.LayerNorm, x: Tensor, g: Tensor) -> Squares:
    """x, g (n, ..., *normalised)."""
    normalised = nn.functional.layer_norm(x, layer.normalized_shape, eps=layer.eps)
    over = tuple(range(1, x.dim() - len(layer.normalized_shape)))
    return {"weight": _square(_total(g * normalised, over)), "bias": _square(_total(g, over))}


def _product(rows: Tensor, columns: Tensor) -> Tensor:
    """‖rows · columns‖² of each sample, (n,) float64, for rows (n, groups, filters, places) and
    columns (n, groups, places, weights); in float64 throughout where float32 does not hold it.
    """
    found = _quick_product(rows, columns)
    if found.isfinite().all():
        return found
    pairs = zip(rows.split(1), columns.split(1), strict=True)  # one at a time, for memory
    return torch.cat([_square(row.double() @ column.double()) for row, column in pairs])


def _quick_product(rows: Tensor, columns: Tensor) -> Tensor:
    filters, places, weights = rows.shape[2], rows.shape[3], columns.shape[3]
    if places * (filters + weights) < filters * weights:
        grams = (
            torch.matmul(rows.transpose(2, 3), rows),
            torch.matmul(columns, columns.transpose(2, 3)),
        )
        return (grams[0] * grams[1]).flatten(1).sum(1, dtype=torch.float64).clamp_(min=0)
    if rows.device.type not in IN_CACHE:
        return _square(torch.matmul(rows, columns))
    gradient = rows.new_empty(rows.shape[1], filters, weights)
    found = []
    for row, column in zip(rows, columns, strict=True):
        torch.bmm(row, column, out=gradient)
        found.append(torch.dot(gradient.view(-1), gradient.view(-1)))
    return torch.stack(found).double()


def _square(values: Tensor) -> Tensor:
    """Sum of squares of each sample, (n,) float64, for values (n, ...)."""
    flat = values.flatten(1)
    found = flat.square().sum(1, dtype=torch.float64)
    # squares of values above 1.8e19 exceed float32; float64 for all takes twice the memory
    return found if found.isfinite().all() else flat.double().square().sum(1)


def _total(values: Tensor, over: tuple[int, ...]) -> Tensor:
    return values.sum(over) if over else values
