"""The conditional dependence coefficient (CODEC), and feature ordering by it (FOCI).

Both work on ranks and nearest neighbours. Azadkia and Chatterjee, A simple measure of conditional
dependence, Annals of Statistics 2021; used by L-CODEC. The coefficient is about 1 where the
response is a function of the features and about 0 where it is independent of them; it can come out
a little below 0.
"""

from __future__ import annotations

import torch
from torch import Tensor

from mucore.engine.run import Run

CHUNK = 2**17  # distances held at once while looking for neighbours: what a core's cache takes


def codec(y: Tensor, z: Tensor, run: Run) -> float:
    """T(Y; Z) of a response (m,) on columns (m, d) together; 0 for a constant response."""
    low, high = _ranks(y)
    return float(_codec(low, high, _nearest(_distances(z), z.new_zeros(len(y), 1), run))[0])


def foci(
    y: Tensor, columns: Tensor, cap: int, run: Run, *, candidates: int | None = None
) -> list[int]:
    """At most `cap` columns of (m, q) that the response (m,) depends on, the most telling first.

    At least one, if `cap` is. Each next one has the largest T(Y; column | chosen); it ends where
    none is above 0. `candidates`: search only among so many columns with the largest coefficient of
    their own, which is quicker and may miss columns that tell something only together.
    """
    if y.device.type == "mps":  # no double precision there
        y, columns = y.cpu(), columns.cpu()
    low, high = _ranks(y)
    base = _distances(columns[:, :0])
    alone = _codec(low, high, _nearest(base, columns, run))
    pool = alone.argsort(descending=True, stable=True)[:candidates]
    chosen, neighbour = [], torch.empty(0)
    while len(chosen) < min(cap, columns.shape[1]):
        if chosen:
            gains = _conditional_codec(low, neighbour, _nearest(base, columns[:, pool], run))
            best = int(gains.argmax())
            if not gains[best] > 0:
                break
        else:
            best = 0
        column = columns[:, pool[best], None]
        chosen.append(int(pool[best]))
        pool = torch.cat([pool[:best], pool[best + 1 :]])
        base = base + (column - column.T).square()
        neighbour = base.argmin(1)
        if not len(pool):
            break
    return chosen


def _ranks(y: Tensor) -> tuple[Tensor, Tensor]:
    """How many values are at most, and at least, each of (m,), as float64."""
    ordered = y.sort().values
    return (
        torch.searchsorted(ordered, y, right=True).double(),
        (len(y) - torch.searchsorted(ordered, y)).double(),
    )


def _distances(z: Tensor) -> Tensor:
    """Squared Euclidean distances (m, m) of the rows of (m, d); infinite to themselves."""
    squares = (z[:, None] - z[None]).square().sum(2)
    return squares.fill_diagonal_(torch.inf)


def _nearest(base: Tensor, columns: Tensor, run: Run) -> Tensor:
    """The nearest other row (q, m) of each row, by `base` (m, m) plus one column of (m, q)."""
    found = []
    for part in columns.T.split(max(CHUNK // base.numel(), 1)):
        run.check()  # of five thousand rows one column takes half a second
        found.append(_smallest((part[:, :, None] - part[:, None, :]).square_().add_(base)))
    return (
        torch.cat(found)
        if found
        else torch.empty((0, len(base)), dtype=torch.int64, device=base.device)
    )


def _smallest(distances: Tensor) -> Tensor:
    """The first of the smallest in the last dimension; NumPy's is vectorised, torch's on the CPU is
    not (4 times as fast for 100 rows).
    """
    if distances.device.type == "cpu":
        return torch.from_numpy(distances.numpy().argmin(-1))
    return distances.argmin(-1)


def _codec(low: Tensor, high: Tensor, neighbours: Tensor) -> Tensor:
    """T(Y; Z) for neighbours (q, m)."""
    m = len(low)
    spread = (high * (m - high)).sum()
    if spread == 0:
        return low.new_zeros(len(neighbours))
    return (m * torch.minimum(low, low[neighbours]) - high.square()).sum(1) / spread


def _conditional_codec(low: Tensor, given: Tensor, neighbours: Tensor) -> Tensor:
    """T(Y; Z | X) for neighbours (q, m) in (X, Z) and `given` (m,) in X; 0 where X tells all."""
    before = torch.minimum(low, low[given])
    left = (low - before).sum()
    if left == 0:
        return low.new_zeros(len(neighbours))
    return (torch.minimum(low, low[neighbours]) - before).sum(1) / left
