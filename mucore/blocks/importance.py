"""Which weights matter for a set: Fisher information, and the saliency of the forget loss.

Everything is computed in eval mode and float32 whatever the run's precision: gradients of a
perfectly fitted model are about 1e-8, their squares 1e-16. Importances are dictionaries by
parameter name, each tensor of its parameter's shape and on its device. A non-finite loss gives
non-finite importances, which the caller must check.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call

from mucore.engine.batch import Batch
from mucore.engine.chunks import patch_bytes
from mucore.engine.data import Mixture, Samples
from mucore.engine.features import classifier_layer
from mucore.engine.losses import cross_entropy, task_of
from mucore.engine.run import Run
from mucore.fitting import BUDGET, fitting

Importance = dict[str, Tensor]
GRADIENTS_NOT_FINITE = "the gradients of the original are not finite"
# Samples whose patches, and on a GPU gradients too, are held at once by a convolution.
CHUNK = 32
# Where convolutions take one sample at a time, so that its gradient stays in the cache: measured
# 1.5 to 4 times faster than blocks of 4.
ONE_AT_A_TIME = ("cpu",)
# Of the noise that Fisher information allows: floor of F, limits of its inverse, variance of a
# forgotten class's row before its factor 10.
FISHER_FLOOR, CLAMP, HEAD_CLAMP, FORGOTTEN_VARIANCE = 1e-8, 1e3, 1e2, 1e-4


def fisher_of_batches(
    model: nn.Module, data: Samples | Mixture, run: Run, *, batch_size: int, shuffle: bool = False
) -> Importance:
    """Mean over batches of the squared gradient of the mean loss, as in the codes of SSD and SFRon.

    It depends on how the batches are composed.
    """
    total = _zeros(model)
    count = 0
    for batch in _passes(model, data, run, batch_size, shuffle=shuffle):
        for name, gradient in _gradients(model, batch.x, batch.y).items():
            total[name] += gradient.square_()
        count += 1
    return {name: squares / max(count, 1) for name, squares in total.items()}


def output_sensitivity(
    model: nn.Module, data: Samples | Mixture, run: Run, *, batch_size: int, shuffle: bool = False
) -> Importance:
    """Mean over batches of the absolute gradient of the mean ‖z‖₂² of the logits (LFSSD).

    It needs no labels.
    """

    def length(logits: Tensor, y: Tensor) -> Tensor:
        return logits.square().sum(1).mean()

    total = _zeros(model)
    count = 0
    for batch in _passes(model, data, run, batch_size, shuffle=shuffle):
        for name, gradient in _gradients(model, batch.x, batch.y, length).items():
            total[name] += gradient.abs_()
        count += 1
    return {name: values / max(count, 1) for name, values in total.items()}


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
    return {name: squares / max(len(data), 1) for name, squares in total.items()}


def gradient_sum(
    model: nn.Module, data: Samples | Mixture, run: Run, *, batch_size: int
) -> Importance:
    """Sum over batches of the gradient of the batch-mean cross-entropy."""
    total = _zeros(model)
    for batch in _passes(model, data, run, batch_size, shuffle=False):
        for name, gradient in _gradients(model, batch.x, batch.y).items():
            total[name] += gradient
    return total


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


def fisher_of_predictions(
    model: nn.Module, data: Samples, run: Run, *, batch_size: int, coverage: float = 1.0
) -> Importance:
    """Mean over samples of Σ_y p(y|x) (∇ log p(y|x))² (Golatkar et al., 2020).

    This is the Fisher diagonal under the model's own predictions. Attributes are independent of
    each other, so what each of them adds is summed: p (1 - p) (∇ z)² for its logit z; C is then
    their number.

    The pair (x, y) adds the square of Jᵀu with u = √p(y|x) (e_y - p). A fitted network is sure of
    most samples, so few pairs hold nearly all of the sum of |u|². Only the largest that hold the
    share `coverage` of it are differentiated; 1 takes all C pairs of each sample.
    """
    total = _zeros(model)
    if not len(data):
        return total
    if coverage < 1:
        sizes = _prediction_sizes(model, data, run, batch_size)
        if not torch.isfinite(sizes).all():
            return {name: values + torch.nan for name, values in total.items()}
        classes = sizes.shape[1]
        ordered, order = sizes.flatten().sort(descending=True, stable=True)
        held = ordered.cumsum(0)
        count = int((held < coverage * held[-1]).sum()) + 1
        pairs = order[:count].cpu()
    else:
        classes = classifier_layer(model).out_features
        pairs = torch.arange(len(data) * classes)
    chosen = data[pairs // classes].with_labels(pairs % classes)
    objective = (
        _expected_surprise if task_of(data.labels) == "classes" else _expected_surprise_of_attribute
    )
    for batch in _passes(model, chosen, run, batch_size, shuffle=False):
        for name, squares in summed_squares(model, batch.x, batch.y, objective).items():
            total[name] += squares
    return {name: squares / len(data) for name, squares in total.items()}


def noise_variance(
    model: nn.Module, fisher: Importance, *, alpha: float, power: float, forgotten: Sequence[int]
) -> Importance:
    """Variance alpha · F^(-2 · power) of the noise that hides what weights know, with the official
    clamps and factors.

    Filters share one variance over their inputs; the classifier's rows of `forgotten` classes get a
    fixed one (Golatkar et al., 2020, Forgetting.ipynb).
    """
    head = list(classifier_layer(model).parameters())
    found = {}
    for name, p in model.named_parameters():
        in_head = any(p is own for own in head)
        variance = alpha * (fisher[name] + FISHER_FLOOR).pow(-2 * power).clamp(
            max=HEAD_CLAMP if in_head else CLAMP
        )
        if p.dim() > 1:
            variance = variance.mean(1, keepdim=True).expand_as(p).clone()
        if in_head:
            variance[list(forgotten)] = FORGOTTEN_VARIANCE
        found[name] = 10 * variance if in_head or p.dim() == 1 else variance
    return found


@torch.no_grad()
def add_noise(model: nn.Module, variance: Importance, generator: torch.Generator) -> None:
    """Add normal noise to every weight, drawn in float32 on the CPU."""
    for name, p in model.named_parameters():
        p.add_(torch.randn(p.shape, generator=generator).to(p) * variance[name].sqrt())


# (layer, its input, gradient of its output) -> a value by parameter name
Form = Callable[[Any, Tensor, Tensor], Importance]
# logits (n, C) and labels (n,), or attributes (n, A) twice -> a sum over samples
Objective = Callable[[Tensor, Tensor], Tensor]


def cross_entropy_sum(logits: Tensor, y: Tensor) -> Tensor:
    return cross_entropy(logits, y, reduction="sum")


def summed_squares(
    model: nn.Module, x: Tensor, y: Tensor, objective: Objective = cross_entropy_sum
) -> Importance:
    """Sum over the samples of x (n, c, h, w), y (n,) or (n, A) of the squared gradient of each
    one's objective; the model is in eval mode.

    One backward pass with hooks on linear, convolution and norm layers. Tokens and positions that a
    transformer adds to every sample alike, (1, tokens, d) each, are given to every sample apart. A
    network with other parameters, with a layer used twice, or with one that does not see the
    samples one behind the other goes sample by sample, which is right for every network and many
    times slower.
    """
    squares = _squares_by_layer(model, x, y, objective)
    return _squares_one_by_one(model, x, y, objective) if squares is None else squares


@torch.no_grad()
def _prediction_sizes(model: nn.Module, data: Samples, run: Run, batch_size: int) -> Tensor:
    """How much each class or attribute of each sample can add to the Fisher information.

    p_y |e_y - p|² (n, C), or p (1 - p) (n, A).
    """
    model.eval()
    found = []
    for batch in data.batches(run, batch_size):
        run.check()
        if task_of(batch.y) == "attributes":
            p = torch.sigmoid(model(batch.x)).double()
            found.append(p * (1 - p))
            continue
        p = torch.softmax(model(batch.x), 1).double()
        found.append(p * (1 - 2 * p + p.square().sum(1, keepdim=True)))
    return torch.cat(found)


def _expected_surprise(logits: Tensor, y: Tensor) -> Tensor:
    """Its gradient's square is p(y|x) (∇ log p(y|x))²."""
    log_p = torch.log_softmax(logits, 1).gather(1, y.unsqueeze(1))
    return -(log_p.detach().mul(0.5).exp() * log_p).sum()


def _expected_surprise_of_attribute(logits: Tensor, chosen: Tensor) -> Tensor:
    """Its gradient's square is p (1 - p) (∇ z)² of the chosen attribute (n,) of each sample: (∇ log
    p(b|x))² averaged over its answers.
    """
    z = logits.gather(1, chosen.unsqueeze(1))
    p = torch.sigmoid(z.detach())
    return ((p * (1 - p)).sqrt() * z).sum()


def _trainable(model: nn.Module) -> dict[str, nn.Parameter]:
    return {name: p for name, p in model.named_parameters() if p.requires_grad}


def _zeros(model: nn.Module) -> Importance:
    return {name: torch.zeros_like(p) for name, p in _trainable(model).items()}


def _passes(
    model: nn.Module, data: Samples | Mixture, run: Run, batch_size: int, *, shuffle: bool
) -> Iterator[Batch]:
    model.eval()
    total = data.steps(batch_size)
    for number, batch in enumerate(data.batches(run, batch_size, shuffle=shuffle, backward=True)):
        run.progress(f"importance of weights: batch {number + 1} of {total}", number / total)
        yield batch


def _gradients(
    model: nn.Module, x: Tensor, y: Tensor, objective: Objective = cross_entropy
) -> Importance:
    """Gradient of the objective, by default of the mean cross-entropy."""
    parameters = _trainable(model)
    loss = objective(model(x), y)
    gradients = torch.autograd.grad(
        loss, list(parameters.values()), allow_unused=True, materialize_grads=True
    )
    return dict(zip(parameters, gradients, strict=True))


def _squares_by_layer(
    model: nn.Module, x: Tensor, y: Tensor, objective: Objective = cross_entropy_sum
) -> Importance | None:
    """`summed_squares` layer by layer; None where the network does not allow it."""
    return by_layer(
        model,
        x,
        y,
        objective,
        form_of=_squares_of,
        of_copies=lambda slopes: slopes.square().sum(0, keepdim=True),
    )


def by_layer(
    model: nn.Module,
    x: Tensor,
    y: Tensor,
    objective: Objective,
    *,
    form_of: Callable[[nn.Module], Form | None],
    of_copies: Callable[[Tensor], Tensor],
) -> Importance | None:
    """What `form_of` computes from the input and the output gradient of every layer, by parameter
    name; one backward pass for all samples.

    `of_copies` does the same from the gradients (n, tokens, d) of what is added to every sample
    alike. None where a layer has no form, or the network uses one in a way that no form covers (see
    `summed_squares`).
    """
    layers = {
        name: module
        for name, module in model.named_modules()
        if any(p.requires_grad for p in module.parameters(recurse=False))
    }
    own = layers.pop("") if "" in layers and form_of(model) is None else nn.Module()
    apart = {name: p for name, p in own.named_parameters(recurse=False) if p.requires_grad}
    if any(p.dim() != 3 or len(p) != 1 for p in apart.values()) or any(
        form_of(module) is None for module in layers.values()
    ):
        return None
    found: Importance = {}
    calls: Counter[str] = Counter()

    def watch(name: str) -> Callable[[nn.Module, tuple[Tensor, ...], Tensor], None]:
        def hook(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
            calls[name] += len(inputs[0]) == len(x)
            form = form_of(module)
            seen = inputs[0].detach()
            assert form is not None

            def arrived(gradient: Tensor) -> None:
                for parameter, values in form(module, seen, gradient).items():
                    found[f"{name}.{parameter}" if name else parameter] = values

            # A tensor hook set now still sees the gradient of this layer's output when an in-place
            # activation overwrites it next.
            output.register_hook(arrived)

        return hook

    hooks = [module.register_forward_hook(watch(name)) for name, module in layers.items()]
    try:
        # Asking for the input's gradient alone spares the weight gradients, which are about to be
        # computed sample by sample.
        x = x.detach().requires_grad_(True)
        copies = {
            name: p.detach().expand(len(x), -1, -1).clone().requires_grad_()
            for name, p in apart.items()
        }
        slopes = torch.autograd.grad(
            objective(functional_call(model, copies, (x,)), y), [*copies.values(), x]
        )
    finally:
        for hook in hooks:
            hook.remove()
    found |= {name: of_copies(slope) for name, slope in zip(copies, slopes, strict=False)}
    wanted = _trainable(model)
    if any(calls[name] != 1 for name in layers) or not found.keys() >= wanted.keys():
        return None
    return {name: found[name] for name in wanted}


def _squares_one_by_one(
    model: nn.Module, x: Tensor, y: Tensor, objective: Objective = cross_entropy_sum
) -> Importance:
    """`summed_squares` for any network, one backward pass a sample."""
    total = _zeros(model)
    for image, label in zip(x.split(1), y.split(1), strict=True):
        for name, gradient in _gradients(model, image, label, objective).items():
            total[name].addcmul_(gradient, gradient)
    return total


def _squares_of(module: nn.Module) -> Form | None:
    """The closed form of the sums of squares of a layer; None where there is none."""
    # a subclass that computes something else, such as a norm with its activation, has no form here
    kind = type(module).forward
    if kind is nn.Linear.forward:
        return _linear
    if isinstance(module, nn.Conv2d) and kind is nn.Conv2d.forward:
        return (
            _convolution
            if module.padding_mode == "zeros" and not isinstance(module.padding, str)
            else None
        )
    if (
        isinstance(module, nn.modules.batchnorm._BatchNorm)
        and kind is nn.BatchNorm2d.forward
        and module.track_running_stats
    ):
        return _batch_norm
    if kind is nn.LayerNorm.forward:
        return _layer_norm
    return None


def _linear(layer: nn.Linear, x: Tensor, g: Tensor) -> Importance:
    """x (n, ..., in), g (n, ..., out). For one row a sample the gradient is an outer product, so
    its square is one of squares.
    """
    if x.dim() == 2:
        weight, bias = g.square().T @ x.square(), g.square().sum(0)
    else:
        x, g = x.flatten(1, -2), g.flatten(1, -2)
        # a gradient of the whole layer for each sample
        size = fitting(layer.weight.numel() * g.element_size(), len(x), BUDGET)
        weight = torch.zeros_like(layer.weight)
        for rows, tokens in zip(g.split(size), x.split(size), strict=True):
            weight += torch.einsum("nto,nti->noi", rows, tokens).square_().sum(0)
        bias = g.sum(1).square().sum(0)
    return {"weight": weight, "bias": bias} if layer.bias is not None else {"weight": weight}


def _convolution(layer: nn.Conv2d, x: Tensor, g: Tensor) -> Importance:
    """x (n, in, h, w), g (n, out, h', w'): a sample's gradient is g times its unfolded patches."""
    assert not isinstance(layer.padding, str)
    found = {"bias": g.sum((2, 3)).square().sum(0)} if layer.bias is not None else {}
    shape = (layer.groups, layer.out_channels // layer.groups, -1)
    squares = torch.zeros_like(layer.weight, memory_format=torch.contiguous_format).view(shape)
    product = torch.empty_like(squares)
    size = fitting(2 * patch_bytes(layer, g), CHUNK, BUDGET)
    for images, gradients in zip(x.split(size), g.split(size), strict=True):
        patches = nn.functional.unfold(
            images, layer.kernel_size, layer.dilation, layer.padding, layer.stride
        )
        # (n, groups, places, weights of a filter)
        columns = patches.view(len(images), layer.groups, -1, patches.shape[2]).transpose(2, 3)
        rows = gradients.reshape(len(images), *shape)  # (n, groups, filters, places)
        if rows.shape[3] == 1:  # one place: an outer product, as in a linear layer
            squares += torch.einsum("ngop,ngpk->gok", rows.square(), columns.square())
        elif x.device.type in ONE_AT_A_TIME:
            for row, column in zip(rows, columns, strict=True):
                torch.bmm(row, column, out=product)
                squares.addcmul_(product, product)
        else:
            squares += torch.matmul(rows, columns).square_().sum(0)
    return {"weight": squares.view_as(layer.weight), **found}


def _batch_norm(layer: nn.modules.batchnorm._BatchNorm, x: Tensor, g: Tensor) -> Importance:
    """x, g (n, c, ...): with running statistics a scale and a shift of each channel."""
    assert layer.running_mean is not None and layer.running_var is not None
    shape = (1, -1, *[1] * (x.dim() - 2))
    normalised = (x - layer.running_mean.view(shape)) * (
        layer.running_var.view(shape) + layer.eps
    ).rsqrt()
    sums = {
        "weight": (g * normalised).flatten(2).sum(2) if x.dim() > 2 else g * normalised,
        "bias": g.flatten(2).sum(2) if x.dim() > 2 else g,
    }
    return {name: values.square().sum(0) for name, values in sums.items()}


def _layer_norm(layer: nn.LayerNorm, x: Tensor, g: Tensor) -> Importance:
    """x, g (n, ..., *normalised)."""
    normalised = nn.functional.layer_norm(x, layer.normalized_shape, eps=layer.eps)
    over = range(1, x.dim() - len(layer.normalized_shape))  # positions

    def summed(values: Tensor) -> Tensor:
        return (values.sum(tuple(over)) if over else values).square().sum(0)

    found = {"weight": summed(g * normalised)}
    return found if layer.bias is None else {**found, "bias": summed(g)}
