"""Squared norms of per-sample gradients over all trainable weights: one number a sample.

Closed forms from a layer's input and its output's gradient, as in sample_squares.py. No sample's
gradient is kept; a convolution or a linear layer on tokens takes the cheaper of two ways: the
gradient itself (filters x weights of a filter), or the Gram matrices of its two factors (places x
places), whose product has the same sum (Goodfellow, Efficient Per-Example Gradient Computations,
2015).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from mucore.blocks.sample_squares import (
    IN_CACHE,
    Objective,
    Squares,
    added_up,
    by_layer,
    cross_entropy_sum,
    factors,
    normalised,
)


def squared_norms(
    model: nn.Module, x: Tensor, y: Tensor, objective: Objective = cross_entropy_sum
) -> Tensor:
    """Squared norm (n,) float64 of the gradient of each sample's objective, for x (n, c, h, w) and
    y (n,) or (n, A); model in eval mode.

    One backward pass where every layer has a closed form (see `sample_squares.summed_squares`), one
    pass a sample otherwise.
    """
    norms = by_layer(model, x, y, objective, form=_norms_of, of_copies=_square)
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


def _norms_of(layer: nn.Module, x: Tensor, gradients: Sequence[Tensor]) -> Squares:
    """Squared norms (n,) of a layer's parameters, of one objective."""
    (g,) = gradients
    if isinstance(layer, nn.Linear) and x.dim() == 2:
        return {"weight": _square(g) * _square(x), "bias": _square(g)}
    if isinstance(layer, nn.Linear | nn.Conv2d):
        products = [_product(rows, columns) for (rows,), columns in factors(layer, x, gradients)]
        places = (2, 3) if isinstance(layer, nn.Conv2d) else tuple(range(1, g.dim() - 1))
        return {"weight": torch.cat(products), "bias": _square(g.sum(places))}
    inputs, over = normalised(layer, x)
    return {"weight": _square(added_up(g * inputs, over)), "bias": _square(added_up(g, over))}


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
