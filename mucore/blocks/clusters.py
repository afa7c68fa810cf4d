"""Classes as clusters in feature space, and the nearest of them by Mahalanobis distance (SCAR).

A precision matrix is kept as a diagonal and signed rows, xᵀPx = Σ d_j x_j² + Σ s_r (w_r · x)², in
float32. Of a class with fewer samples than features these are as many rows as it has samples, and
one, instead of d².
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from mucore.engine.data import places_of
from mucore.engine.run import Run
from mucore.engine.state import state_bytes

FLOOR = 1e-6  # smallest feature that is raised to a power
TINY = 1e-8  # keeps the deviation of a constant feature out of a denominator


@dataclass(frozen=True, eq=False)
class Form:
    """A quadratic form of vectors (n, d): `diagonal` (d,), `rows` (r, d) and their `signs` (r,)."""

    diagonal: Tensor
    rows: Tensor
    signs: Tensor

    def of(self, x: Tensor) -> Tensor:
        """xᵀPx of each row, (n,)."""
        return x.square() @ self.diagonal + (x @ self.rows.T).square() @ self.signs

    def to(self, like: Tensor) -> Form:
        return Form(self.diagonal.to(like), self.rows.to(like), self.signs.to(like))


class Clusters:
    """Mean (d,) and precision matrix of classes in feature space, added one after the other.

    Features are raised to the power `delta` (Tukey's ladder). A covariance Σ becomes Σ + γ1·V1·I +
    γ2·V2·(1 - I), V1 the mean of its diagonal and V2 that of the other entries that are not zero,
    `shrinkings` times over; then it is scaled to a correlation, and the pseudo-inverse is taken in
    float64 on the CPU.
    """

    def __init__(self, *, delta: float, gammas: tuple[float, float], shrinkings: int = 2):
        self.delta, self.gammas, self.shrinkings = delta, gammas, shrinkings
        self.means: dict[int, Tensor] = {}
        self.precisions: dict[int, Form] = {}

    def add(self, number: int, features: Tensor) -> None:
        """The features (n, d) of all samples of a class; nothing where they make no covariance."""
        bent = self.bend(features)
        if len(bent) < 2 or not torch.isfinite(bent).all():
            return
        self.means[number] = nn.functional.normalize(bent.mean(0), dim=0)
        form = precision(bent.double().cpu(), self.gammas, self.shrinkings)
        self.precisions[number] = form.to(bent)

    def keep(self, numbers: Iterable[int]) -> None:
        """Forget all other classes."""
        for number in set(self.means) - set(numbers):
            del self.means[number], self.precisions[number]

    def bend(self, features: Tensor) -> Tensor:
        """Features to the power `delta`; zeros are lifted, where a root's slope is infinite."""
        return features.clamp(min=FLOOR) ** self.delta

    def to_class(self, features: Tensor, number: int) -> Tensor:
        """Squared Mahalanobis distance (n,) of features (n, d) to a class, at length one; NaN for a
        class without statistics.
        """
        if number not in self.means:
            return torch.full_like(features[:, 0], torch.nan)
        with torch.autocast(features.device.type, enabled=False):
            unit = nn.functional.normalize(self.bend(features), dim=1)
            return self.precisions[number].of(unit - self.means[number])

    def to_own(self, features: Tensor, classes: Tensor) -> Tensor:
        """Squared distance (n,) of each row to the class of the same row of `classes` (n,) on the
        CPU.
        """
        found = features.new_zeros(len(features))
        for number in classes.unique().tolist():
            rows = places_of(classes == number, features.device)
            found = found.index_put((rows,), self.to_class(features[rows], number))
        return found

    def held(self) -> list[Tensor]:
        """All tensors that are kept."""
        forms = self.precisions.values()
        return [*self.means.values(), *(t for f in forms for t in (f.diagonal, f.rows, f.signs))]


def nearest_clusters(
    features: Tensor,
    allowed: Tensor,
    clusters: Clusters,
    members: Callable[[int], Tensor],
    run: Run,
    *,
    beside: int,
) -> Tensor:
    """For each row of `features` (n, d) its nearest `allowed` (n, C) class, (n,) on the CPU.

    `members` gives the features of a class. One class after the other is added to `clusters`, and
    those that are nobody's nearest are dropped at once, so that no more precision matrices stand
    beside each other than there are classes to go to, and one. `beside`: bytes that the method
    holds already.
    """
    least = features.new_full((len(features),), torch.inf)
    found = torch.zeros(len(features), dtype=torch.int64)
    for number in range(allowed.shape[1]):
        own = members(number)
        size = 3 * state_bytes(own)  # and a copy in double precision
        clusters.add(number, own)
        del own
        distance = clusters.to_class(features, number)
        closer = allowed[:, number].to(distance.device) & (distance < least)
        least = torch.where(closer, distance, least)
        found[closer.cpu()] = number
        run.scratch(beside + size + state_bytes(features, clusters.held()))
        clusters.keep(found.unique().tolist())
    return found


def precision(members: Tensor, gammas: tuple[float, float], shrinkings: int) -> Form:
    """Pseudo-inverse of the shrunk correlation of `members` (n, d) float64, which are overwritten;
    see `Clusters`.
    """
    constant = (members == members[0]).all(0)
    members -= members.sum(0) / len(members)
    members[:, constant] = 0  # or rounding would decide which covariances are not zero
    members /= (len(members) - 1) ** 0.5
    if len(members) + 1 < members.shape[1]:
        form = _precision_of_few(members, gammas, shrinkings)
        if form is not None:
            return form
    covariance = members.T @ members
    for _ in range(shrinkings):
        covariance = shrunk(covariance, *gammas)
    return pseudo_inverse(correlation(covariance))


def pseudo_inverse(matrix: Tensor) -> Form:
    """Of a symmetric matrix (d, d): with L⁻¹ of its Cholesky factor as rows where it is clear that
    no eigenvalue is as good as zero, else with its eigenvectors, cut off as `torch.linalg.pinv`
    does.
    """
    d = len(matrix)
    cut = d * torch.finfo(matrix.dtype).eps
    factor, failed = torch.linalg.cholesky_ex(matrix)
    if not failed:
        rows = torch.linalg.solve_triangular(factor, torch.eye(d).to(matrix), upper=False)
        # the largest eigenvalue is at most the trace, that of the inverse at most ‖L⁻¹‖²
        if matrix.trace() * rows.square().sum() * cut < 1:
            return Form(matrix.new_zeros(d), rows, matrix.new_ones(d))
    values, vectors = torch.linalg.eigh(matrix)
    there = values.abs() > cut * values.abs().max()
    values, vectors = values[there], vectors[:, there]
    return Form(matrix.new_zeros(d), (vectors / values.abs().sqrt()).T, values.sign())


def _precision_of_few(y: Tensor, gammas: tuple[float, float], shrinkings: int) -> Form | None:
    """The same of YᵀY without any (d, d), for Y (n, d) with n < d; None where the matrix is not
    clearly positive.

    Shrinking adds a·I + b·1 to a covariance YᵀY, so the correlation is D + YᵀY + b·ssᵀ once the
    columns of Y are scaled by s; D = a·diag(s²) is inverted by hand, and what is added by
    Woodbury's identity, the last term by that of Sherman and Morrison.
    """
    n, d = y.shape
    variances = y.square().sum(0)
    own = variances.mean()
    others, pairs = y.sum(1).square().sum() - variances.sum(), float(d * (d - 1))
    moving = int((variances > 0).sum())
    there = float(moving * (moving - 1))
    a, b = y.new_zeros(()), y.new_zeros(())
    for _ in range(shrinkings):
        v_1, v_2 = own + a + b, (others + pairs * b) / there if there else others.new_zeros(())
        a, b = a + gammas[0] * v_1 - gammas[1] * v_2, b + gammas[1] * v_2
        there = pairs if v_2 != 0 else there
    diagonal = variances + a + b
    if a <= 0 or (diagonal < 0).any():
        return None
    s = 1 / (diagonal.sqrt() + TINY)
    inverse = 1 / (a * s.square())
    y = y * s
    factor = torch.linalg.cholesky(torch.eye(n).to(y) + (y * inverse) @ y.T)
    rows = torch.linalg.solve_triangular(factor, y * inverse, upper=False)
    u = inverse * s - rows.T @ (rows @ s)
    rest = 1 + b * (s @ u)
    smallest, cut = rest.clamp(max=1) / inverse.max(), d * torch.finfo(y.dtype).eps
    if not smallest > cut * (diagonal * s.square()).sum():
        return None
    weight = b / rest
    rows = torch.cat([rows, (u * weight.abs().sqrt()).unsqueeze(0)])
    return Form(inverse, rows, torch.cat([-torch.ones(n).to(y), -weight.sign().view(1)]))


def shrunk(covariance: Tensor, gamma_1: float, gamma_2: float) -> Tensor:
    """Σ + γ1·V1·I + γ2·V2·(1 - I) of a matrix (d, d); see `Clusters`."""
    diagonal = torch.eye(len(covariance), dtype=torch.bool, device=covariance.device)
    others = covariance[~diagonal & (covariance != 0)]
    v_2 = others.mean() if len(others) else 0.0
    return covariance + torch.where(diagonal, gamma_1 * covariance.diagonal().mean(), gamma_2 * v_2)


def correlation(covariance: Tensor) -> Tensor:
    """A covariance (d, d) divided by the deviations of its rows and columns."""
    deviations = covariance.diagonal().clamp(min=0).sqrt() + TINY
    return covariance / deviations.outer(deviations)
