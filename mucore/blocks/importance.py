"""Which weights matter for a set: Fisher information, and the saliency of the forget loss.

Everything is computed in eval mode and float32 whatever the run's precision: gradients of a
perfectly fitted model are about 1e-8, their squares 1e-16. Importances are dictionaries by
parameter name, each tensor of its parameter's shape and on its device. A non-finite loss gives
non-finite importances, which the caller must check.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from mucore.blocks.sample_squares import Objective, summed_squares, trainable
from mucore.engine.batch import Batch
from mucore.engine.data import Mixture, Samples
from mucore.engine.features import classifier_layer
from mucore.engine.losses import cross_entropy
from mucore.engine.run import Run

Importance = dict[str, Tensor]
GRADIENTS_NOT_FINITE = "the gradients of the original are not finite"
# Of the noise that Fisher information allows: floor of F, limits of its inverse, variance of a
# forgotten class's row before its factor 10.
FISHER_FLOOR, CLAMP, HEAD_CLAMP, FORGOTTEN_VARIANCE = 1e-8, 1e3, 1e2, 1e-4


def fisher_of_batches(
    model: nn.Module, data: Samples | Mixture, run: Run, *, batch_size: int, shuffle: bool = False
) -> Importance:
    """Mean over batches of the squared gradient of the mean loss, as in the codes of SSD and SFRon.

    It depends on how the batches are composed.
    """
    total = _total(model, data, run, batch_size, Tensor.square_, shuffle=shuffle)
    return {name: squares / max(data.steps(batch_size), 1) for name, squares in total.items()}


def output_sensitivity(
    model: nn.Module, data: Samples | Mixture, run: Run, *, batch_size: int, shuffle: bool = False
) -> Importance:
    """Mean over batches of the absolute gradient of the mean ‖z‖₂² of the logits (LFSSD).

    It needs no labels.
    """

    def length(logits: Tensor, y: Tensor) -> Tensor:
        return logits.square().sum(1).mean()

    total = _total(model, data, run, batch_size, Tensor.abs_, length, shuffle=shuffle)
    return {name: values / max(data.steps(batch_size), 1) for name, values in total.items()}


def unimportance(importance: Importance) -> Importance:
    """One minus the importance, scaled to 0..1 within each tensor (L2UL): 0 for what matters most,
    1 for what matters least, and where all matter alike.
    """
    low = {name: each.min() for name, each in importance.items()}
    reach = {name: (each.max() - low[name]).clamp(min=1e-30) for name, each in importance.items()}
    return {name: 1 - (each - low[name]) / reach[name] for name, each in importance.items()}


def ratio_quantile(first: Importance, second: Importance, share: float) -> float:
    """The value below which the share `share` of all finite ratios first / second lies,
    interpolated; infinity where there is none.
    """
    ratios = np.concatenate(
        [(first[name] / second[name]).flatten().cpu().numpy() for name in first]
    )
    finite = ratios[np.isfinite(ratios)]
    return float(np.quantile(finite, share)) if len(finite) else math.inf


def fisher_of_samples(
    model: nn.Module, data: Samples | Mixture, run: Run, *, batch_size: int
) -> Importance:
    """Mean over samples of the squared gradient of the loss: the empirical Fisher diagonal."""
    total = _zeros(model)
    for batch in _passes(model, data, run, batch_size, shuffle=False):
        for name, squares in summed_squares(model, batch.x, batch.y).items():
            total[name] += squares
    return {name: squares.div_(max(len(data), 1)) for name, squares in total.items()}


def gradient_sum(
    model: nn.Module, data: Samples | Mixture, run: Run, *, batch_size: int
) -> Importance:
    """Sum over batches of the gradient of the batch-mean cross-entropy."""
    return _total(model, data, run, batch_size, lambda gradient: gradient)


def gradient_difference(
    model: nn.Module, first: Samples, second: Samples, run: Run, *, batch_size: int
) -> Importance:
    """`gradient_sum` over the first set minus that over the second."""
    difference = gradient_sum(model, first, run, batch_size=batch_size)
    for name, gradient in gradient_sum(model, second, run, batch_size=batch_size).items():
        difference[name] -= gradient
    return difference


def saliency(model: nn.Module, data: Samples | Mixture, run: Run, *, batch_size: int) -> Importance:
    """Absolute value of the gradient summed over batches (SalUn, eq. 3).

    The sum comes first, so the sign of the loss does not matter.
    """
    return {
        name: gradient.abs_()
        for name, gradient in gradient_sum(model, data, run, batch_size=batch_size).items()
    }


def noise_variance(
    model: nn.Module, fisher: Importance, *, alpha: float, power: float, forgotten: Sequence[int]
) -> Importance:
    """Variance alpha · F^(-2 · power) of the noise that hides what weights know, with the official
    clamps and factors.

    Filters share one variance over their inputs, as an expanded view; the classifier's rows of
    `forgotten` classes get a fixed one (Golatkar et al., 2020, Forgetting.ipynb).
    """
    head = list(classifier_layer(model).parameters())
    found = {}
    for name, p in model.named_parameters():
        in_head = any(p is own for own in head)
        variance = alpha * (fisher[name] + FISHER_FLOOR).pow(-2 * power).clamp(
            max=HEAD_CLAMP if in_head else CLAMP
        )
        if p.dim() > 1:
            variance = variance.mean(1, keepdim=True)
        if in_head:
            variance[list(forgotten)] = FORGOTTEN_VARIANCE
        found[name] = (10 * variance if in_head or p.dim() == 1 else variance).expand_as(p)
    return found


@torch.no_grad()
def add_noise(model: nn.Module, variance: Importance, generator: torch.Generator) -> None:
    """Add normal noise to every weight, drawn in float32 on the CPU."""
    for name, p in model.named_parameters():
        p.add_(torch.randn(p.shape, generator=generator).to(p) * variance[name].sqrt())


def _zeros(model: nn.Module) -> Importance:
    return {name: torch.zeros_like(p) for name, p in trainable(model).items()}


def _passes(
    model: nn.Module, data: Samples | Mixture, run: Run, batch_size: int, *, shuffle: bool
) -> Iterator[Batch]:
    model.eval()
    total = data.steps(batch_size)
    for number, batch in enumerate(data.batches(run, batch_size, shuffle=shuffle, backward=True)):
        run.progress(f"importance of weights: batch {number + 1} of {total}", number / total)
        yield batch


def _total(
    model: nn.Module,
    data: Samples | Mixture,
    run: Run,
    batch_size: int,
    part: Callable[[Tensor], Tensor],
    objective: Objective = cross_entropy,
    *,
    shuffle: bool = False,
) -> Importance:
    """Sum over batches of `part` of the gradient of the objective."""
    total, weights = _zeros(model), trainable(model)
    for batch in _passes(model, data, run, batch_size, shuffle=shuffle):
        gradients = torch.autograd.grad(
            objective(model(batch.x), batch.y),
            list(weights.values()),
            allow_unused=True,
            materialize_grads=True,
        )
        for name, gradient in zip(weights, gradients, strict=True):
            total[name] += part(gradient)
    return total
