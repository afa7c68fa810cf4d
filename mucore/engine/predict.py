"""What a model says about a set while a method runs: for stop rules, a part of the method."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from mucore.engine.chunks import chunk
from mucore.engine.data import Samples
from mucore.engine.losses import cross_entropy, predicted, task_of
from mucore.engine.run import Run

# of large networks less, see chunks.py; PIECE: of a look that may end before it has seen the set
BATCH, PIECE = 512, 128


@torch.no_grad()
def predictions(model: nn.Module, samples: Samples, run: Run) -> Tensor:
    """The class (n,), or attributes (n, A), predicted for each sample, on the CPU.

    Plain images, and eval mode, in which the model stays.
    """
    found = list(_answers(model, samples, run, _size(model, samples, BATCH)))
    return torch.cat([torch.zeros_like(samples.labels[:0]), *found])


def accuracy(model: nn.Module, samples: Samples, run: Run) -> float:
    """Share of labels that is predicted right, in 0..1; NaN for an empty set.

    No threshold holds for NaN.
    """
    right = int((predictions(model, samples, run) == samples.labels).sum())
    return right / samples.labels.numel() if len(samples) else math.nan


def accuracy_below(model: nn.Module, samples: Samples, run: Run, target: float) -> float | None:
    """`accuracy` where it is below `target`, else None.

    Answers that were right stay right, so the pass ends as soon as enough of them are: while a
    network still knows its forget set, and a rule waits for it to know next to nothing of it, that
    takes a few samples.
    """
    right, total = 0, samples.labels.numel()
    if not total:
        return None
    size = _size(model, samples, PIECE)
    labels = samples.labels.split(size)
    for said, wanted in zip(_answers(model, samples, run, size), labels, strict=True):
        right += int((said == wanted).sum())
        if right / total >= target:
            return None
    return right / total


def accuracy_above(model: nn.Module, samples: Samples, run: Run, target: float) -> float | None:
    """`accuracy` where it is above `target`, else None.

    The pass ends as soon as enough answers were wrong.
    """
    total = left = samples.labels.numel()
    if not total:
        return None
    size = _size(model, samples, PIECE)
    labels = samples.labels.split(size)
    for said, wanted in zip(_answers(model, samples, run, size), labels, strict=True):
        left -= int((said != wanted).sum())
        if not left / total > target:
            return None
    return left / total


@torch.no_grad()
def mean_loss(model: nn.Module, samples: Samples, run: Run) -> float:
    """Mean cross-entropy in eval mode; NaN for an empty set."""
    model.eval()
    total = 0.0
    for batch in samples.batches(run, _size(model, samples, BATCH)):
        run.check()
        total += cross_entropy(model(batch.x), batch.y).item() * len(batch)
    return total / len(samples) if len(samples) else math.nan


def mean_loss_from(model: nn.Module, samples: Samples, run: Run, limit: float) -> float | None:
    """`mean_loss` where it is at least `limit`, else None.

    A part of about `PIECE` samples, spread over the set, is asked first, and the set only where the
    part is at half the limit or beyond. Near a limit of a few nats the losses of a set lie a few
    nats apart, so a part's mean is off by some tenths, not by half the limit.
    """
    part = samples[torch.arange(0, len(samples), max(1, len(samples) // PIECE))]
    mean = mean_loss(model, part, run)
    if mean >= limit / 2 and len(part) < len(samples):
        mean = mean_loss(model, samples, run)
    return mean if mean >= limit else None


@torch.no_grad()
def _answers(model: nn.Module, samples: Samples, run: Run, size: int) -> Iterator[Tensor]:
    """The predictions of one batch after the other, on the CPU."""
    model.eval()
    for batch in samples.batches(run, size):
        run.check()
        yield predicted(model(batch.x), task_of(samples.labels)).cpu()


def _size(model: nn.Module, samples: Samples, most: int) -> int:
    return chunk(model, samples.images.shape, most, "passing", times=2)
