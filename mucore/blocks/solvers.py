"""Solvers of linear systems A x = b of which only products with A are known."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from mucore.engine.run import Run

Product = Callable[[Tensor], Tensor]
# the share of a matrix that a product with it may leave out -> the product
Partial = Callable[[float], Product]
# What is left of the gradient after a Newton step is the solver's residual, to first order (Dembo,
# Eisenstat & Steihaug, Inexact Newton Methods, 1982): at 1 % the step does 99 % of its work, and
# the Hessian of 5,000 samples is itself known to about 1 / sqrt(5,000) = 1.4 %.
TOLERANCE = 1e-2
# The part of a tolerance that products which leave something out may use up. What they leave out
# may grow as the residual falls (Simoncini & Szyld, Theory of Inexact Krylov Subspace Methods,
# SIAM J. Sci. Comput. 25, 2003); shares of a trace are no bound on it, so the end is measured.
LEFT_OUT = 0.1


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


def _enabled(product: Product, vector: Tensor) -> Tensor:
    with torch.enable_grad():
        return product(vector)
