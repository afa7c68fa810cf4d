"""Products with a network's Jacobian, Hessian and Gauss-Newton matrix, and solvers made of them.

Vectors are flat, (p,): the chosen weights one behind the other. Everything runs in eval mode, where
no sample sees another, and in the precision of the weights whatever the run's. Totals are sums over
samples. A non-finite loss gives non-finite vectors, which the caller must check. No matrix is ever
formed: J is (samples · classes, p), 40 GB for a small network and a few thousand samples.
"""

from __future__ import annotations

import functools
import itertools
import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
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
from mucore.errors import BadValue

Weights = Mapping[str, nn.Parameter]
Objective = Callable[[Tensor, Batch], Tensor]  # logits (n, C) and their batch -> a sum over samples
# logits (n, C), a tangent (n, C), labels -> the cotangent (n, C)
Inner = Callable[[Tensor, Tensor, Tensor], Tensor]
Product = Callable[[Tensor], Tensor]
# the share of a matrix that a product with it may leave out -> the product
Partial = Callable[[float], Product]
Scope = Literal["all", "last_block", "head", "last_six_tensors"]
Counterpart = Literal["delete", "random_label", "soft_uniform", "true_label", "feature_mask"]
UNIFORM = -1  # a label that stands for the flat target 1/C, or 1/2 for an attribute
CHUNK = 256  # samples whose graph is held at once; of large networks fewer (engine/chunks.py)
# graphs that a product holds: its own, that of its tangents, and the gradients on their way
GRAPHS = 3
LISSA_PASSES = 100
CG_ITERATIONS = 50
# What is left of the gradient after a Newton step is the solver's residual, to first order (Dembo,
# Eisenstat & Steihaug, Inexact Newton Methods, 1982): at 1 % the step does 99 % of its work, and
# the Hessian of 5,000 samples is itself known to about 1 / sqrt(5,000) = 1.4 %.
TOLERANCE = 1e-2
# The part of a tolerance that products which leave something out may use up. What they leave out
# may grow as the residual falls (Simoncini & Szyld, Theory of Inexact Krylov Subspace Methods,
# SIAM J. Sci. Comput. 25, 2003); shares of a trace are no bound on it, so the end is measured.
LEFT_OUT = 0.1

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


def no_curvature(logits: Tensor, tangent: Tensor, y: Tensor) -> Tensor:
    """The tangent itself, the Hessian of half the squared distance; divided by A for attributes."""
    return tangent if task_of(y) == "classes" else tangent / logits.shape[1]


# -- one batch


def gradient(
    model: nn.Module, weights: Weights, batch: Batch, objective: Objective = cross_entropy_sum
) -> Tensor:
    """Gradient (p,) of the objective of a batch."""
    total = zeros_of(weights)
    add_gradient(total, objective(model(batch.x), batch), weights)
    return total


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

    hooks = [
        p.register_post_accumulate_grad_hook(functools.partial(take, name))
        for name, p in weights.items()
    ]
    try:
        output.backward(cotangent, inputs=list(weights.values()))
    finally:
        for hook in hooks:
            hook.remove()
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
            slopes = _grad(objective(functional_call(model, duals, (piece.x,)), piece), duals)
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


# -- solvers


def told(run: Run, most: int) -> Callable[[Product], Product]:
    """Wraps the products of a solver that may ask for at most so many: each says as progress which
    one it is, and ends a cancelled run.
    """
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
    """`x` (p,) with A x near b; `residual` |b - A x| / |b| of this very x, by a product of its own;
    `converged`: at most the tolerance.
    """

    x: Tensor
    iterations: int
    residual: float
    converged: bool

    @property
    def finite(self) -> bool:
        return bool(torch.isfinite(self.x).all())


@torch.no_grad()
def conjugate_gradients(
    product: Product,
    b: Tensor,
    *,
    iterations: int,
    tolerance: float,
    precondition: Product | None = None,
    partial: Partial | None = None,
) -> Solution:
    """Solve A x = b for a symmetric A.

    Ends at |r| <= tolerance · |b|, or at a direction without positive curvature. `precondition`
    applies a symmetric positive approximation of A⁻¹. One product more than `iterations` measures
    the residual: rounding parts the one that the recursion carries along from |b - A x|.

    With `partial`, directions are first multiplied by what it gives, which may leave out more of A
    the smaller the residual is. Where a whole product then finds x above the tolerance, whole ones
    go on from there, as many as `iterations` again: what was left out may have cost the directions
    their conjugacy, so that more of the same need not help.
    """
    size = b.norm()
    if not torch.isfinite(size):
        return Solution(torch.full_like(b, torch.nan), 0, math.nan, False)
    x, r = torch.zeros_like(b), b.clone()
    aim = tolerance * size

    def whole(direction: Tensor) -> Tensor:
        return _enabled(product, direction)

    def most_of_it(direction: Tensor) -> Tensor:
        assert partial is not None
        return _enabled(partial(float(LEFT_OUT * aim / r.norm())), direction)

    done = 0
    for multiply in (most_of_it, whole) if partial else (whole,):
        near_enough = aim if multiply is whole else (1 - LEFT_OUT) * aim
        steps, usable = _descend(multiply, x, r, precondition, iterations, near_enough)
        done += steps
        if steps or not usable:
            r.copy_(b - whole(x))
        residual = (r.norm() / size).item() if size > 0 else 0.0
        if residual <= tolerance or not usable or steps == iterations:
            break
    return Solution(x, done, residual, residual <= tolerance)


def _descend(
    multiply: Product, x: Tensor, r: Tensor, precondition: Product | None, most: int, aim: Tensor
) -> tuple[int, bool]:
    """Conjugate gradients from x (p,) and its residual r (p,), both changed in place, until |r| is
    at most `aim`: the steps taken, and whether every direction had positive curvature.
    """
    near = precondition or (lambda vector: vector)
    z = near(r)
    direction = z.clone()
    weight = r @ z
    done = 0
    while done < most and r.norm() > aim:
        bent = multiply(direction)
        curvature = direction @ bent
        if not curvature > 0:
            if curvature.isnan():
                x.fill_(torch.nan)
            return done, False
        step = weight / curvature
        x += step * direction
        r -= step * bent
        z = near(r)
        fresh = r @ z
        direction = z + (fresh / weight) * direction
        weight = fresh
        done += 1
    return done, True


def solution(
    product: Product, x: Tensor, b: Tensor, *, iterations: int, tolerance: float
) -> Solution:
    """`x` as a solution of A x = b, its residual by one product."""
    size = b.norm()
    residual = ((b - _enabled(product, x)).norm() / size).item() if size > 0 else 0.0
    return Solution(x, iterations, residual, residual <= tolerance)


def nystrom(sketch: Tensor, test: Tensor, ridge: float) -> Product:
    """An approximate inverse of K + ridge (m, m), from `sketch` = K · `test`, both (m, k).

    Frangella, Tropp & Udell, Randomized Nyström Preconditioning, 2023, algorithm 2.1 and equation
    5.3: the largest eigenvalues of K, as K's k products tell them, are divided out, and the rest is
    left as it is.
    """
    y, q = sketch.cpu().double(), test.cpu().double()
    core, basis = torch.linalg.eigh((q.T @ y + y.T @ q) / 2)
    # what rounding leaves of directions that K does not have
    told_apart = core > len(y) * torch.finfo(sketch.dtype).eps * core[-1]
    u, s, _ = torch.linalg.svd(y @ (basis / core.sqrt())[:, told_apart], full_matrices=False)
    eigenvalues = s.square()
    shrink = ((eigenvalues[-1:] + ridge) / (eigenvalues + ridge) - 1).to(sketch)
    u = u.to(sketch)
    return lambda vector: vector + u @ (shrink * (u.T @ vector))


@torch.no_grad()
def lissa(
    products: Iterator[Product],
    v: Tensor,
    *,
    damping: float,
    scale: float,
    iterations: int,
    patience: int,
) -> tuple[Tensor, int]:
    """(A + damping)⁻¹ v from noisy products with A, by u ← v + (1 - damping/scale) u - A u / scale
    and x = u / scale; and the steps taken.

    The change of u is v - (A + damping) x, what x leaves unsolved on the batch in hand. The x that
    left least, as a sum of absolute values, is given back: a series may fall and then grow. It ends
    when `patience` steps have brought nothing better. The eigenvalues of A + damping must lie
    between 0 and 2 · scale.
    """
    u = v.clone()
    best = v / scale
    least = math.inf
    since = done = 0
    while done < iterations and since < patience:
        step = v - (damping / scale) * u - _enabled(next(products), u) / scale
        change = step.abs().sum().item()
        if not math.isfinite(change):
            break
        since += 1
        if change < least:
            best = u / scale
            least = change
            since = 0
        u += step
        done += 1
    return best, done


# -- the inverse Hessian of a set


@dataclass(frozen=True, kw_only=True)
class Inverse:
    """How to compute (H + ridge + damping)⁻¹ v, H the Hessian of the mean objective over a set, or
    its Gauss-Newton matrix.

    Conjugate gradients work on `samples` samples chosen once; LiSSA draws a batch of all of them at
    each step, at most `LISSA_PASSES` times over the set. `scale`, `patience` and `repetitions` are
    LiSSA's; `iterations` None means the solver's own limit.
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

    def solve(
        self,
        model: nn.Module,
        weights: Weights,
        data: Mixture,
        v: Tensor,
        run: Run,
        *,
        objective: Objective,
    ) -> Solution:
        """Gauss-Newton products take the cross-entropy's curvature whatever the objective. The
        residual is that on the samples used.
        """
        used = data if self.solver == "lissa" else pick(data, self.samples, run)

        def of_batch(batch: Batch, q: Tensor) -> Tensor:
            if self.solver == "cg_ggn":
                return gauss_newton_product(model, weights, batch, q)
            return hessian_product(model, weights, batch, q, objective)

        def product_on(samples: Mixture) -> Product:
            def product(q: Tensor) -> Tensor:
                part = functools.partial(of_batch, q=q)
                total = total_over(samples, run, self.batch_size, part, q)
                return total / len(used) + (self.ridge + self.damping) * q

            return product

        product = product_on(used)
        if self.solver != "lissa":
            most = self.iterations or CG_ITERATIONS
            gauss_newton = self.solver == "cg_ggn"
            tell = told(run, 2 * most + 1 if gauss_newton else most + 1)
            partial = None
            if gauss_newton:
                heaviest = heaviest_part(model, used, run, self.batch_size)

                def partial(left_out: float) -> Product:
                    return tell(product_on(heaviest(left_out)))

            return conjugate_gradients(
                tell(product), v, iterations=most, tolerance=TOLERANCE, partial=partial
            )
        most = self.iterations or LISSA_PASSES * data.steps(self.batch_size)
        noisy = map(
            told(run, most * self.repetitions), self._products(model, weights, data, run, objective)
        )
        series = [
            lissa(
                noisy,
                v,
                damping=self.damping,
                scale=self.scale,
                iterations=most,
                patience=self.patience,
            )
            for _ in range(self.repetitions)
        ]
        mean = torch.stack([x for x, _ in series]).mean(0)
        return solution(product, mean, v, iterations=series[-1][1], tolerance=TOLERANCE)

    def _products(
        self, model: nn.Module, weights: Weights, data: Mixture, run: Run, objective: Objective
    ) -> Iterator[Product]:
        """Products with the Hessian of one random batch each, without end."""
        while True:
            for batch in data.batches(run, self.batch_size, shuffle=True, backward=True):
                yield (
                    lambda q, batch=batch: (
                        hessian_product(model, weights, batch, q, objective) / len(batch)
                        + self.ridge * q
                    )
                )


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


def _enabled(product: Product, vector: Tensor) -> Tensor:
    with torch.enable_grad():
        return product(vector)


def _grad(
    output: Tensor, weights: Mapping[str, Tensor], cotangent: Tensor | None = None
) -> tuple[Tensor, ...]:
    return torch.autograd.grad(
        output, list(weights.values()), cotangent, allow_unused=True, materialize_grads=True
    )


def _pieces(model: nn.Module, batch: Batch) -> list[Batch]:
    size = chunk(model, batch.x.shape[1:], CHUNK, times=GRAPHS)
    return batch.chunks(-(-len(batch) // size)) if len(batch) > size else [batch]
