"""Products with a network's Jacobian, Hessian and Gauss-Newton matrix.

Vectors are flat, (p,): the chosen weights one behind the other. Everything runs in eval mode, where
no sample sees another, and in the precision of the weights whatever the run's. Totals are sums over
samples. A non-finite loss gives non-finite vectors, which the caller must check. No matrix is ever
formed: J is (samples · classes, p), 40 GB for a small network and a few thousand samples.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import zip_longest
from typing import Literal

import torch
from torch import Tensor, nn
from torch.autograd import forward_ad
from torch.func import functional_call

from mucore.blocks.labels import draw_labels
from mucore.engine.batch import Batch
from mucore.engine.chunks import chunk
from mucore.engine.data import MaskedImages, Mixture, Samples, UnlearningData
from mucore.engine.layers import tail
from mucore.engine.losses import choices, task_of
from mucore.engine.run import Run
from mucore.engine.state import hooked
from mucore.errors import BadValue

Weights = Mapping[str, nn.Parameter]
Objective = Callable[[Tensor, Batch], Tensor]  # logits (n, C) and their batch -> a sum over samples
# logits (n, C), a tangent (n, C), labels -> the cotangent (n, C)
Inner = Callable[[Tensor, Tensor, Tensor], Tensor]
Scope = Literal["all", "last_block", "head", "last_six_tensors"]
Counterpart = Literal["delete", "random_label", "soft_uniform", "true_label", "feature_mask"]
UNIFORM = -1  # a label that stands for the flat target 1/C, or 1/2 for an attribute
CHUNK = 256  # samples whose graph is held at once; of large networks fewer (engine/chunks.py)
# graphs that a product holds: its own, that of its tangents, and the gradients on their way
GRAPHS = 3

# -- vectors


def weights_in(model: nn.Module, scope: Scope) -> dict[str, nn.Parameter]:
    """The parameters that may move: all, the last block with the classifier, the classifier, or the
    last six tensors.
    """
    every = dict(model.named_parameters())
    if scope == "all":
        return every
    if scope == "last_six_tensors":
        return dict(list(every.items())[-6:])
    chosen = tail(model, "block" if scope == "last_block" else "layer", 1)
    return {name: p for name, p in every.items() if name.rpartition(".")[0] in chosen}


def to_vector(tensors: Iterable[Tensor]) -> Tensor:
    return torch.cat([t.reshape(-1) for t in tensors])


def from_vector(vector: Tensor, like: Weights) -> dict[str, Tensor]:
    parts = vector.split([p.numel() for p in like.values()])
    return {name: part.view_as(p) for (name, p), part in zip(like.items(), parts, strict=True)}


def zeros_of(weights: Weights) -> Tensor:
    """A vector (p,) of zeros, of the weights' type and on their device."""
    first = next(iter(weights.values()))
    return first.new_zeros(sum(p.numel() for p in weights.values()), requires_grad=False)


@torch.no_grad()
def shift(weights: Weights, vector: Tensor, scale: float) -> None:
    """weights += scale · vector, in place."""
    for name, part in from_vector(vector, weights).items():
        weights[name].add_(part, alpha=scale)


# -- objectives and output curvatures


def cross_entropy_sum(logits: Tensor, batch: Batch) -> Tensor:
    """Sum of cross-entropies; the label `UNIFORM` stands for the flat target."""
    y = batch.y.flatten()
    log_p = torch.log_softmax(choices(logits, task_of(batch.y)), 1)
    own = log_p.gather(1, y.clamp(min=0).unsqueeze(1)).squeeze(1)
    total = -torch.where(y == UNIFORM, log_p.mean(1), own).sum()
    return total if task_of(batch.y) == "classes" else total / logits.shape[1]


def squared_sum(logits: Tensor, batch: Batch) -> Tensor:
    """Sum of half the squared distances to one-hot labels; attributes: mean of that to -1 and 1."""
    if task_of(batch.y) == "attributes":
        return 0.5 * (logits - (2 * batch.y - 1)).square().sum() / logits.shape[1]
    return 0.5 * (logits - nn.functional.one_hot(batch.y, logits.shape[1])).square().sum()


def softmax_curvature(logits: Tensor, tangent: Tensor, y: Tensor) -> Tensor:
    """(diag p - p pᵀ) · tangent: the Hessian of the cross-entropy with respect to the logits; p (1
    - p) · tangent / A for attributes.
    """
    if task_of(y) == "attributes":
        p = torch.sigmoid(logits)
        return p * (1 - p) * tangent / logits.shape[1]
    p = torch.softmax(logits, 1)
    return p * tangent - p * (p * tangent).sum(1, keepdim=True)


def softmax_trace(logits: Tensor, y: Tensor) -> Tensor:
    """Trace (n,) of each sample's matrix in `softmax_curvature`: 1 - |p|², or the mean of p (1 - p)
    over attributes.
    """
    if task_of(y) == "attributes":
        p = torch.sigmoid(logits)
        return (p * (1 - p)).mean(1)
    return 1 - torch.softmax(logits, 1).square().sum(1)


# -- one batch


def add_gradient(
    total: Tensor, output: Tensor, weights: Weights, cotangent: Tensor | None = None
) -> None:
    """total (p,) += Jᵀ · cotangent of an output, or the gradient of a scalar.

    Each layer's gradient is added and let go as soon as the backward pass has it, so that they are
    never there all at once.
    """
    kept = [p.grad for p in weights.values()]
    parts = from_vector(total, weights)
    for p in weights.values():
        p.grad = None

    def take(name: str, p: Tensor) -> None:
        assert p.grad is not None
        parts[name].add_(p.grad)
        p.grad = None

    hooks = (
        p.register_post_accumulate_grad_hook(functools.partial(take, name))
        for name, p in weights.items()
    )
    with hooked(hooks):
        try:
            output.backward(cotangent, inputs=list(weights.values()))
        finally:
            for p, grad in zip(weights.values(), kept, strict=True):
                p.grad = grad


def jacobian_product(
    model: nn.Module, weights: Weights, x: Tensor, vector: Tensor
) -> tuple[Tensor, Tensor]:
    """Logits (n, C), with their graph, and J · vector (n, C), by forward differentiation."""
    parts = from_vector(vector, weights)
    _load_forward_rules()
    with forward_ad.dual_level():
        duals = {name: forward_ad.make_dual(p, parts[name]) for name, p in weights.items()}
        logits, tangent = forward_ad.unpack_dual(functional_call(model, duals, (x,)))
    return logits, torch.zeros_like(logits) if tangent is None else tangent.detach()


def gauss_newton_product(
    model: nn.Module,
    weights: Weights,
    batch: Batch,
    vector: Tensor,
    inner: Inner = softmax_curvature,
) -> Tensor:
    """Jᵀ · inner(J · vector) (p,), summed over the batch: always positive semi-definite."""
    total = torch.zeros_like(vector)
    for piece in _pieces(model, batch):
        logits, tangent = jacobian_product(model, weights, piece.x, vector)
        add_gradient(total, logits, weights, inner(logits.detach(), tangent, piece.y))
    return total


def hessian_product(
    model: nn.Module,
    weights: Weights,
    batch: Batch,
    vector: Tensor,
    objective: Objective = cross_entropy_sum,
) -> Tensor:
    """Hessian of the objective times vector (p,): the backward pass, differentiated forward.

    Measured a quarter faster than differentiating backward twice, and it holds one graph, not two.
    """
    parts = from_vector(vector, weights)
    total = torch.zeros_like(vector)
    _load_forward_rules()
    for piece in _pieces(model, batch):
        with forward_ad.dual_level():
            duals = {name: forward_ad.make_dual(p, parts[name]) for name, p in weights.items()}
            slopes = torch.autograd.grad(
                objective(functional_call(model, duals, (piece.x,)), piece),
                list(duals.values()),
                allow_unused=True,
                materialize_grads=True,
            )
            tangents = [forward_ad.unpack_dual(slope).tangent for slope in slopes]
        total += to_vector(
            torch.zeros_like(p) if t is None else t
            for t, p in zip(tangents, weights.values(), strict=True)
        )
    return total


# -- whole sets


def total_over(
    samples: Samples | Mixture,
    run: Run,
    batch_size: int,
    part: Callable[[Batch], Tensor],
    zero: Tensor,
) -> Tensor:
    """Sum of `part` over the batches of a set, in order; `zero` (p,) is what an empty set gives."""
    total = torch.zeros_like(zero)
    for batch in samples.batches(run, batch_size, backward=True):
        run.check()
        total += part(batch)
    return total


def jacobian_on(
    model: nn.Module,
    weights: Weights,
    samples: Samples | Mixture,
    run: Run,
    batch_size: int,
    vector: Tensor,
) -> Tensor:
    """J · vector (n · C,) over a set in order."""
    found = []
    with torch.no_grad():
        for batch in samples.batches(run, batch_size):
            run.check()
            found += [
                jacobian_product(model, weights, piece.x, vector)[1].flatten()
                for piece in _pieces(model, batch)
            ]
    return torch.cat(found)


def transposed_on(
    model: nn.Module,
    weights: Weights,
    samples: Samples | Mixture,
    run: Run,
    batch_size: int,
    vector: Tensor,
) -> Tensor:
    """Jᵀ · vector (p,) over a set in order, for a vector (n · C,)."""
    total = zeros_of(weights)
    rest = vector
    for batch in samples.batches(run, batch_size, backward=True):
        run.check()
        for piece in _pieces(model, batch):
            logits = model(piece.x)
            mine = rest[: logits.numel()]
            rest = rest[logits.numel() :]
            add_gradient(total, logits, weights, mine.view_as(logits))
    return total


def jacobian_rows(
    model: nn.Module, weights: Weights, samples: Samples | Mixture, run: Run, batch_size: int
) -> Tensor:
    """J itself (n · C, p), one backward pass a row: for small networks and few samples."""
    rows, classes = [], 0
    for batch in samples.batches(run, batch_size, backward=True):
        for image in batch.x.split(1):
            run.progress("rows of the Jacobian", len(rows) / max(classes * len(samples), 1))
            logits = model(image)[0]
            classes = len(logits)
            rows += [
                to_vector(
                    torch.autograd.grad(
                        each,
                        list(weights.values()),
                        retain_graph=True,
                        allow_unused=True,
                        materialize_grads=True,
                    )
                )
                for each in logits
            ]
    return torch.stack(rows)


def counterpart_of(kind: Counterpart, data: UnlearningData, run: Run) -> Samples:
    """What stands in the forget set's place: nothing, the same images under other labels, under the
    flat target, or without the poison.

    `true_label` undoes a poison in the labels alone, `feature_mask` in the image too. Raises
    `BadValue` where the data have no poison of that kind.
    """
    if kind == "delete":
        return data.forget[torch.arange(0)]
    if kind in ("true_label", "feature_mask"):
        mask = data.trigger if kind == "feature_mask" else torch.zeros((), dtype=torch.bool)
        if data.true_labels is None or mask is None:
            raise BadValue(
                f"The counterpart {kind} undoes a poison, but there is none of that kind here. "
                "Choose delete."
            )
        return replace(
            data.forget.with_labels(data.true_labels), images=MaskedImages(data.forget.images, mask)
        )
    if kind == "random_label":
        return data.forget.with_labels(draw_labels(data, data.forget.labels, run, "others"))
    return data.forget.with_labels(torch.full_like(data.forget.labels, UNIFORM))


def replacement_gradient(
    model: nn.Module,
    weights: Weights,
    forget: Samples,
    counterpart: Samples,
    run: Run,
    *,
    batch_size: int,
    objective: Objective,
) -> Tensor:
    """Gradient (p,) over the counterpart minus that over the forget set (Warnecke et al., 2023).

    Both are summed into one vector, batch by batch in turn, so that equal sets give exactly zero.
    """
    total = zeros_of(weights)
    pairs = zip_longest(*(s.batches(run, batch_size, backward=True) for s in (counterpart, forget)))
    for pair in pairs:
        run.check()
        for batch, sign in zip(pair, (1.0, -1.0), strict=True):
            if batch is not None:
                add_gradient(total, sign * objective(model(batch.x), batch), weights)
    return total


# -- parts of sets


def pick(data: Mixture, count: int, run: Run) -> Mixture:
    """At most `count` samples of a mixture, drawn once from stream `subset`, in their old order."""
    if count >= len(data):
        return data
    return _part(data, torch.randperm(len(data), generator=run.rng("subset"))[:count])


def heaviest_part(
    model: nn.Module, data: Mixture, run: Run, batch_size: int
) -> Callable[[float], Mixture]:
    """A function of a share: the fewest samples, in their old order, without which at most this
    share of the trace of the cross-entropy's curvature by the logits is missing.

    A network that fits its data owes nearly all of it to few samples, those near a boundary.
    """
    with torch.no_grad():
        weights = torch.cat(
            [
                softmax_trace(model(piece.x), piece.y).double().cpu()
                for batch in data.batches(run, batch_size)
                for piece in _pieces(model, batch)
            ]
        )
    order = weights.argsort(descending=True, stable=True)
    missing = 1 - weights[order].cumsum(0) / weights.sum()
    return lambda share: _part(data, order[: int((missing > share).sum()) + 1])


def _part(data: Mixture, chosen: Tensor) -> Mixture:
    """The samples at these places of a mixture, in their old order."""
    chosen = chosen.sort().values
    ends = torch.tensor([0, *[len(part) for part in data.sets]]).cumsum(0)
    return Mixture(
        tuple(
            part[chosen[(chosen >= low) & (chosen < low + len(part))] - low]
            for part, low in zip(data.sets, ends, strict=False)
        )
    )


# -- small parts


@functools.cache
def _load_forward_rules() -> None:
    """torch loads them with the first dual number, and thereby warns of a function of its own that
    it wants nobody to use.
    """
    with (
        warnings.catch_warnings(action="ignore", category=DeprecationWarning),
        forward_ad.dual_level(),
    ):
        forward_ad.make_dual(torch.zeros(()), torch.zeros(()))


def _pieces(model: nn.Module, batch: Batch) -> list[Batch]:
    size = chunk(model, batch.x.shape[1:], CHUNK, times=GRAPHS)
    return batch.chunks(-(-len(batch) // size)) if len(batch) > size else [batch]
