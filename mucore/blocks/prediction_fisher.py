"""The Fisher information of a network's own predictions (Golatkar et al., CVPR 2020).

F = mean over samples of Σ_y p(y|x) (∇ log p(y|x))², the diagonal of Jᵀ (diag(p) − p pᵀ) J with J
the Jacobian of the logits. Any factor L Lᵀ of that covariance of C classes gives it: F = Σ_k
(Jᵀ l_k)², a backward pass for each column. The classes themselves make C columns, as in the
official code; the Cholesky factor, of the classes in falling order of p, makes C − 1, of which the
first hold nearly all of the trace. Its columns say in turn: is it the likeliest class or another,
is it the second or another of those left, ... They are known in closed form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import torch
from torch import Tensor, nn

from mucore.blocks.importance import Importance
from mucore.blocks.sample_squares import summed_squares, trainable
from mucore.catalog.cards import Task
from mucore.engine.data import Samples
from mucore.engine.losses import task_of
from mucore.engine.predict import logits_of
from mucore.engine.run import Run

TINY = 1e-100  # probability of all classes left, below which none of them adds anything
# Bins of sizes, 64 to a factor of 2, down to 2^-64: their sums stand for all samples' sizes.
BINS, PER_OCTAVE = 4096, 64
ROUND = 8  # columns that share a forward pass; gradients of so many are held at once


def fisher_of_predictions(
    model: nn.Module, data: Samples, run: Run, *, batch_size: int, coverage: float = 1.0
) -> Importance:
    """Mean over samples of Σ_y p(y|x) (∇ log p(y|x))².

    Attributes are independent of each other, so what each of them adds is summed: p (1 - p) (∇ z)²
    for its logit z; they are columns of their own.

    A fitted network is sure of most samples, so few columns hold nearly all of the sum of |l|²,
    which is the trace of the covariances. Only the largest that hold the share `coverage` of it are
    differentiated; 1 takes all of each sample. Memory grows with the samples by six bytes each, and
    holds the output gradients of two batches. What is read is counted once under its role, and
    each further column under "columns".
    """
    model.eval()
    total = {name: torch.zeros_like(p) for name, p in trainable(model).items()}
    if not len(data):
        return total
    task = task_of(data.labels)
    counts = _counts(model, data, run, batch_size, coverage)
    if counts is None:
        return {name: values.fill_(torch.nan) for name, values in total.items()}
    order = counts.argsort(descending=True, stable=True)[: int((counts > 0).sum())]
    done, work = 0, max(int(counts.sum()), 1)
    while len(order):
        # samples of about as many columns together, two batches' worth of gradients at most
        most = int(counts[order[0]])
        size = max(2 * batch_size // min(most, ROUND), 1)
        chosen = data[order[:size]]
        chosen = replace(chosen, labels=counts[order[:size]].long())
        order = order[size:]
        for batch in chosen.batches(run, size, backward=True):
            run.progress(f"Fisher information: {done} of {work} columns", done / work)
            # a backward pass each, of images that were read once
            run.count_reads("columns", (most - 1) * len(batch), backward=True)
            for first in range(0, most, ROUND):
                along = _objective(task, first, min(first + ROUND, most))
                for name, squares in summed_squares(model, batch.x, batch.y, along).items():
                    total[name] += squares
            done += int(batch.y.sum())
    return {name: squares.div_(len(data)) for name, squares in total.items()}


@torch.no_grad()
def _counts(
    model: nn.Module, data: Samples, run: Run, batch_size: int, coverage: float
) -> Tensor | None:
    """How many columns of each sample are among the largest that hold the share; (n,) int32.

    None where predictions are not finite. The sizes of all columns are never held: one pass sums
    them up by bins, a second one counts, for those samples whose largest column is in.
    """
    task = task_of(data.labels)
    if coverage >= 1:
        ((_, logits),) = _passes(model, data[torch.zeros(1, dtype=torch.int64)], run, 1)
        return torch.full((len(data),), column_sizes(logits, task).shape[1], dtype=torch.int32)
    largest = torch.zeros(len(data), dtype=torch.int16)
    sums = torch.zeros(BINS, dtype=torch.float64)
    for rows, logits in _passes(model, data, run, batch_size):
        sizes = column_sizes(logits, task).cpu()
        if not sizes.isfinite().all():
            return None
        bins = _bins(sizes)
        largest[rows] = bins.amin(1).to(torch.int16)
        sums += torch.bincount(bins.flatten(), sizes.flatten(), minlength=BINS)
    held = sums.cumsum(0)
    last = int((held < coverage * held[-1]).sum())  # the first bin that reaches the share is in
    counts = torch.zeros(len(data), dtype=torch.int32)
    chosen = (largest <= last).nonzero().flatten()
    for rows, logits in _passes(model, data[chosen], run, batch_size):
        inside = _bins(column_sizes(logits, task).cpu()) <= last
        counts[chosen[rows]] = inside.sum(1, dtype=torch.int32)
    return counts


def _passes(
    model: nn.Module, data: Samples, run: Run, batch_size: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """Positions in the set and logits, in double precision, of each batch."""
    if not len(data):  # where no column counts; `split` would give one empty part
        return
    positions = torch.arange(len(data)).split(batch_size)
    passes = logits_of(model, data, run, batch_size)
    for rows, (_, logits) in zip(positions, passes, strict=True):
        yield rows, logits.double()


def _bins(sizes: Tensor) -> Tensor:
    """The number of each size's bin, the larger the size the smaller."""
    return (-PER_OCTAVE * sizes.log2()).clamp_(0, BINS - 1).long()


def column_sizes(logits: Tensor, task: Task) -> Tensor:
    """|l|² of each column, (n, C − 1), or (n, A) of attributes; their sum is the trace."""
    if task == "attributes":
        p = torch.sigmoid(logits)
        return p * (1 - p)
    p, before, after = _ordered(logits)[1:]
    later = _left(p.square())[:, 1:]
    sizes = p[:, :-1] / before * (after + later / after)
    return torch.where(after <= TINY, 0.0, sizes)


def columns(logits: Tensor, task: Task, chosen: Tensor) -> Tensor:
    """The columns l, (n, k, C) or (n, k, A), at `chosen` (n, k)."""
    if task == "attributes":
        size = column_sizes(logits, task).sqrt().gather(1, chosen)
        return nn.functional.one_hot(chosen, logits.shape[1]) * size.unsqueeze(2)
    order, p, before, after = _ordered(logits)
    own, before, after = (each.gather(1, chosen).unsqueeze(2) for each in (p, before, after))
    places = torch.arange(logits.shape[1], device=logits.device)
    found = torch.where(
        places == chosen.unsqueeze(2),
        (own / before * after).sqrt(),
        torch.where(places > chosen.unsqueeze(2), -p.unsqueeze(1), 0.0)
        * (own / before / after).sqrt(),
    )
    found = torch.where(after <= TINY, 0.0, found)
    return torch.empty_like(found).scatter_(2, order.unsqueeze(1).expand_as(found), found)


def _ordered(logits: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Classes by falling probability and these (n, C), and what is left of 1 before and after each
    but the last (n, C − 1).
    """
    p, order = torch.softmax(logits, 1).sort(dim=1, descending=True, stable=True)
    left = _left(p)
    return order, p, left[:, :-1], left[:, 1:]


def _left(p: Tensor) -> Tensor:
    """Sums from each column to the last one; the smallest are added first."""
    return p.flip(1).cumsum(1).flip(1)


def _objective(task: Task, first: int, last: int) -> Callable[[Tensor, Tensor], Tensor]:
    """Sums over samples whose gradients are Jᵀ l of a sample, for its columns from the `first`
    largest to the `last`; labels are how many count of each.
    """

    def along(logits: Tensor, counts: Tensor) -> Tensor:
        wide = logits.detach().double()
        chosen = column_sizes(wide, task).sort(dim=1, descending=True, stable=True).indices
        found = columns(wide, task, chosen[:, first:last])
        counted = torch.arange(first, last, device=counts.device) < counts.unsqueeze(1)
        found = torch.where(counted.unsqueeze(2), found, 0.0).to(logits.dtype)
        return torch.einsum("nkc,nc->k", found, logits)

    return along
