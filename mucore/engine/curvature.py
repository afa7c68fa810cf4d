"""Products with the Jacobian, the Hessian and the Gauss-Newton matrix of a network, and solvers that need nothing but products.

Vectors are flat, (p,): the chosen weights one behind the other. Everything runs in eval mode, where no sample sees another, and in the
precision of the weights whatever the run's. Totals are sums over samples. A non-finite loss gives non-finite vectors, which the caller
must check. No matrix is ever formed: J is (samples · classes, p), 40 GB for a small network and a few thousand samples.
"""

from __future__ import annotations

import functools
import itertools
import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor, nn
from torch.autograd import forward_ad
from torch.func import functional_call

from mucore.engine.data import Batch, MaskedImages, Mixture, Samples, UnlearningData
from mucore.engine.labels import draw_labels
from mucore.engine.layers import tail
from mucore.engine.losses import choices, task_of
from mucore.engine.run import Run
from mucore.errors import BadValue

Weights = Mapping[str, nn.Parameter]
Objective = Callable[[Tensor, Batch], Tensor]  # logits (n, C) and their batch -> a sum over samples
Inner = Callable[[Tensor, Tensor, Tensor], Tensor]  # logits (n, C), a tangent (n, C), labels -> the cotangent (n, C)
Product = Callable[[Tensor], Tensor]
Scope = Literal["all", "last_block", "head", "last_six_tensors"]
Counterpart = Literal["delete", "random_label", "soft_uniform", "true_label", "feature_mask"]
UNIFORM = -1  # a label that stands for the flat target 1/C, or 1/2 for an attribute
CHUNK = 256  # samples whose graph is held at once
LISSA_PASSES = 100
CG_ITERATIONS, CG_TOLERANCE = 50, 1e-4

# -- vectors


def weights_in(model: nn.Module, scope: Scope) -> dict[str, nn.Parameter]:
    """The parameters that may move: all, the last block with the classifier, the classifier, or the last six tensors."""
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
    """Sum of half the squared distances to one-hot labels; for attributes, of the mean of those to -1 and 1."""
    if task_of(batch.y) == "attributes":
        return 0.5 * (logits - (2 * batch.y - 1)).square().sum() / logits.shape[1]
    return 0.5 * (logits - nn.functional.one_hot(batch.y, logits.shape[1])).square().sum()


def softmax_curvature(logits: Tensor, tangent: Tensor, y: Tensor) -> Tensor:
    """(diag p - p pᵀ) · tangent: the Hessian of the cross-entropy with respect to the logits; p (1 - p) · tangent / A for attributes."""
    if task_of(y) == "attributes":
        p = torch.sigmoid(logits)
        return p * (1 - p) * tangent / logits.shape[1]
    p = torch.softmax(logits, 1)
    return p * tangent - p * (p * tangent).sum(1, keepdim=True)


def no_curvature(logits: Tensor, tangent: Tensor, y: Tensor) -> Tensor:
    """The tangent itself: the Hessian of half the squared distance; a mean over attributes divides it by A."""
    return tangent if task_of(y) == "classes" else tangent / logits.shape[1]


# -- one batch


def gradient(model: nn.Module, weights: Weights, batch: Batch, objective: Objective = cross_entropy_sum) -> Tensor:
    """Gradient (p,) of the objective of a batch."""
    return to_vector(_grad(objective(model(batch.x), batch), weights))


def jacobian_product(model: nn.Module, weights: Weights, x: Tensor, vector: Tensor) -> tuple[Tensor, Tensor]:
    """Logits (n, C), with their graph, and J · vector (n, C), by forward differentiation in the same pass."""
    parts = from_vector(vector, weights)
    _load_forward_rules()
    with forward_ad.dual_level():
        duals = {name: forward_ad.make_dual(p, parts[name]) for name, p in weights.items()}
        logits, tangent = forward_ad.unpack_dual(functional_call(model, duals, (x,)))
    return logits, torch.zeros_like(logits) if tangent is None else tangent.detach()


def gauss_newton_product(model: nn.Module, weights: Weights, batch: Batch, vector: Tensor, inner: Inner = softmax_curvature) -> Tensor:
    """Jᵀ · inner(J · vector) (p,), summed over the batch: positive semi-definite whatever the network."""
    total = torch.zeros_like(vector)
    for piece in _pieces(batch):
        logits, tangent = jacobian_product(model, weights, piece.x, vector)
        total += to_vector(_grad(logits, weights, inner(logits.detach(), tangent, piece.y)))
    return total


def hessian_product(model: nn.Module, weights: Weights, batch: Batch, vector: Tensor, objective: Objective = cross_entropy_sum) -> Tensor:
    """Hessian of the objective times vector (p,), summed over the batch: the backward pass, differentiated forward.

    Measured a quarter faster than differentiating backward twice, and it holds one graph, not two.
    """
    parts, total = from_vector(vector, weights), torch.zeros_like(vector)
    _load_forward_rules()
    for piece in _pieces(batch):
        with forward_ad.dual_level():
            duals = {name: forward_ad.make_dual(p, parts[name]) for name, p in weights.items()}
            slopes = _grad(objective(functional_call(model, duals, (piece.x,)), piece), duals)
            tangents = [forward_ad.unpack_dual(slope).tangent for slope in slopes]
        total += to_vector(torch.zeros_like(p) if t is None else t for t, p in zip(tangents, weights.values(), strict=True))
    return total


# -- whole sets


def total_over(samples: Samples | Mixture, run: Run, batch_size: int, part: Callable[[Batch], Tensor], zero: Tensor) -> Tensor:
    """Sum of `part` over the batches of a set, in order; `zero` (p,) is what an empty set gives."""
    total = torch.zeros_like(zero)
    for batch in samples.batches(run, batch_size, backward=True):
        run.check()
        total += part(batch)
    return total


def counterpart_of(kind: Counterpart, data: UnlearningData, run: Run) -> Samples:
    """What stands in the forget set's place: nothing, the same images under other labels, under the flat target, or without the poison.

    `true_label` undoes a poison in the labels alone, `feature_mask` in the image too. Raises `BadValue` where the data have no poison of
    that kind.
    """
    if kind == "delete":
        return data.forget[torch.arange(0)]
    if kind in ("true_label", "feature_mask"):
        mask = data.trigger if kind == "feature_mask" else torch.zeros((), dtype=torch.bool)
        if data.true_labels is None or mask is None:
            raise BadValue(f"The counterpart {kind} undoes a poison, but there is none of that kind here. Choose delete.")
        return replace(data.forget.with_labels(data.true_labels), images=MaskedImages(data.forget.images, mask))
    if kind == "random_label":
        return data.forget.with_labels(draw_labels(data, data.forget.labels, run, "others"))
    return data.forget.with_labels(torch.full_like(data.forget.labels, UNIFORM))


def replacement_gradient(
    model: nn.Module, weights: Weights, forget: Samples, counterpart: Samples, run: Run, *, batch_size: int, objective: Objective
) -> Tensor:
    """Gradient (p,) summed over the counterpart, minus that summed over the forget set (Warnecke et al., 2023)."""
    zero = torch.zeros_like(to_vector(weights.values()).detach())
    new, old = (
        total_over(samples, run, batch_size, lambda batch: gradient(model, weights, batch, objective), zero)
        for samples in (counterpart, forget)
    )
    return new - old


# -- solvers


def told(run: Run, most: int) -> Callable[[Product], Product]:
    """Wraps the products of a solver that may ask for at most so many: each says as progress which one it is, and ends a cancelled run."""
    numbers = itertools.count(1)

    def wrap(product: Product) -> Product:
        def tell(vector: Tensor) -> Tensor:
            number = next(numbers)
            run.progress(f"matrix product {number} of at most {most}", (number - 1) / most)
            return product(vector)

        return tell

    return wrap


@dataclass(frozen=True)
class Solution:
    """`x` (p,) with A x near b; `residual` |b - A x| / |b| (conjugate gradients), or the last change of x relative to b (LiSSA)."""

    x: Tensor
    iterations: int
    residual: float
    converged: bool

    @property
    def finite(self) -> bool:
        return bool(torch.isfinite(self.x).all())


@torch.no_grad()
def conjugate_gradients(product: Product, b: Tensor, *, iterations: int, tolerance: float, start: Tensor | None = None) -> Solution:
    """Solve A x = b for a symmetric A; ends at |r| <= tolerance · |b|, or at a direction without positive curvature."""
    x = torch.zeros_like(b) if start is None else start.clone()
    r = b - _enabled(product, x) if start is not None else b.clone()
    size, square = b.norm(), r @ r
    if not torch.isfinite(square):
        return Solution(torch.full_like(b, torch.nan), 0, math.nan, False)
    direction, done = r.clone(), 0
    while done < iterations and square.sqrt() > tolerance * size:
        bent = _enabled(product, direction)
        curvature = direction @ bent
        if not curvature > 0:
            x = torch.full_like(x, torch.nan) if curvature.isnan() else x
            break
        step = square / curvature
        x += step * direction
        r -= step * bent
        fresh = r @ r
        direction = r + (fresh / square) * direction
        square, done = fresh, done + 1
    residual = (square.sqrt() / size).item() if size > 0 else 0.0
    return Solution(x, done, residual, residual <= tolerance)


@torch.no_grad()
def lissa(products: Iterator[Product], v: Tensor, *, damping: float, scale: float, iterations: int, patience: int) -> Solution:
    """(A + damping)⁻¹ v from noisy products with A, by u ← v + (1 - damping/scale) u - A u / scale and x = u / scale.

    It ends when the change of u, a sum of absolute values, has not fallen for `patience` steps. `converged` is false where it never fell,
    or where it stopped being finite. The eigenvalues of A + damping must lie between 0 and 2 · scale.
    """
    u, size = v.clone(), v.abs().sum().item()
    best, change, since, done = math.inf, 0.0, 0, 0
    while done < iterations and since < patience and math.isfinite(change):
        step = v - (damping / scale) * u - _enabled(next(products), u) / scale
        u += step
        change, done = step.abs().sum().item(), done + 1
        best, since = (change, 0) if change < best else (best, since + 1)
    fell = not (since >= patience and done <= patience + 1)
    return Solution(u / scale, done, change / size if size else 0.0, fell and math.isfinite(change))


# -- the inverse Hessian of a set


@dataclass(frozen=True, kw_only=True)
class Inverse:
    """How to compute (H + ridge + damping)⁻¹ v, H the Hessian of the mean objective over a set, or its Gauss-Newton matrix.

    Conjugate gradients work on `samples` samples chosen once; LiSSA draws a batch of all of them at each step, at most
    `LISSA_PASSES` times over the set. `scale`, `patience` and `repetitions` are LiSSA's; `iterations` None means the solver's own limit.
    """

    solver: Literal["lissa", "cg_ggn", "cg_hessian"]
    damping: float
    ridge: float
    scale: float
    iterations: int | None
    patience: int
    repetitions: int
    samples: int
    batch_size: int

    def solve(self, model: nn.Module, weights: Weights, data: Mixture, v: Tensor, run: Run, *, objective: Objective) -> Solution:
        """Gauss-Newton products take the cross-entropy's curvature whatever the objective."""
        if self.solver == "lissa":
            most = self.iterations or LISSA_PASSES * data.steps(self.batch_size)
            noisy = map(told(run, most * self.repetitions), self._products(model, weights, data, run, objective))
            found = [
                lissa(noisy, v, damping=self.damping, scale=self.scale, iterations=most, patience=self.patience)
                for _ in range(self.repetitions)
            ]
            mean = torch.stack([solution.x for solution in found]).mean(0)
            return Solution(mean, found[-1].iterations, found[-1].residual, all(solution.converged for solution in found))
        fixed = pick(data, self.samples, run)

        def of_batch(batch: Batch, q: Tensor) -> Tensor:
            if self.solver == "cg_ggn":
                return gauss_newton_product(model, weights, batch, q)
            return hessian_product(model, weights, batch, q, objective)

        def product(q: Tensor) -> Tensor:
            total = total_over(fixed, run, self.batch_size, lambda batch: of_batch(batch, q), q)
            return total / len(fixed) + (self.ridge + self.damping) * q

        most = self.iterations or CG_ITERATIONS
        return conjugate_gradients(told(run, most)(product), v, iterations=most, tolerance=CG_TOLERANCE)

    def _products(self, model: nn.Module, weights: Weights, data: Mixture, run: Run, objective: Objective) -> Iterator[Product]:
        """Products with the Hessian of one random batch each, without end."""
        while True:
            for batch in data.batches(run, self.batch_size, shuffle=True, backward=True):
                yield lambda q, batch=batch: hessian_product(model, weights, batch, q, objective) / len(batch) + self.ridge * q


def pick(data: Mixture, count: int, run: Run) -> Mixture:
    """At most `count` samples of a mixture, drawn once from stream `subset`, in their old order."""
    if count >= len(data):
        return data
    chosen = torch.randperm(len(data), generator=run.rng("subset"))[:count].sort().values
    ends = torch.tensor([0, *[len(part) for part in data.sets]]).cumsum(0)
    return Mixture(
        tuple(part[chosen[(chosen >= low) & (chosen < low + len(part))] - low] for part, low in zip(data.sets, ends, strict=False))
    )


# -- small parts


@functools.cache
def _load_forward_rules() -> None:
    """torch loads them with the first dual number, and thereby warns of a function of its own that it wants nobody to use."""
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning), forward_ad.dual_level():
        forward_ad.make_dual(torch.zeros(()), torch.zeros(()))


def _enabled(product: Product, vector: Tensor) -> Tensor:
    with torch.enable_grad():
        return product(vector)


def _grad(output: Tensor, weights: Mapping[str, Tensor], cotangent: Tensor | None = None) -> tuple[Tensor, ...]:
    return torch.autograd.grad(output, list(weights.values()), cotangent, allow_unused=True, materialize_grads=True)


def _pieces(batch: Batch) -> list[Batch]:
    return batch.chunks(-(-len(batch) // CHUNK)) if len(batch) > CHUNK else [batch]
