"""What a model says about a set while a method runs: for stop rules, a part of the method."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from mucore.engine.batch import Batch
from mucore.engine.chunks import chunk
from mucore.engine.data import Mixture, Samples
from mucore.engine.losses import cross_entropy, predicted, task_of
from mucore.engine.run import Run

# of large networks less, see chunks.py; PIECE: of a look that may end before it has seen the set
BATCH, PIECE = 512, 128


@torch.no_grad()
def logits_of(
    model: nn.Module, samples: Samples | Mixture, run: Run, size: int
) -> Iterator[tuple[Batch, Tensor]]:
    """Batches of plain images with their logits, in eval mode, in which the model stays."""
    model.eval()
    for batch in samples.batches(run, size):
        run.check()
        yield batch, model(batch.x)


def predictions(model: nn.Module, samples: Samples, run: Run) -> Tensor:
    """The class (n,), or attributes (n, A), predicted for each sample, on the CPU."""
    found = list(_answers(model, samples, run, _size(model, samples, BATCH)))
    return torch.cat(found).cpu() if found else torch.zeros_like(samples.labels)


def accuracy(model: nn.Module, samples: Samples, run: Run) -> float:
    """Share of labels that is predicted right, in 0..1; NaN for an empty set.

    No threshold holds for NaN.
    """
    right = int((predictions(model, samples, run) == samples.labels).sum())
    return right / samples.labels.numel() if len(samples) else math.nan


def accuracy_between(
    model: nn.Module,
    samples: Samples,
    run: Run,
    *,
    above: float = -math.inf,
    below: float = math.inf,
) -> float | None:
    """`accuracy` where it lies between the two, both excluded, else None; None for an empty set.

    Answers that were right stay right, and wrong ones wrong, so the pass ends as soon as it is
    clear that it does not: while a network still knows its forget set, and a rule waits for it to
    know next to nothing of it, that takes a few samples.
    """
    total = samples.labels.numel()
    if not total:
        return None
    right, at_most = 0, total
    size = _size(model, samples, PIECE)
    for said, wanted in zip(
        _answers(model, samples, run, size), samples.labels.split(size), strict=True
    ):
        hits = int((said.cpu() == wanted).sum())
        right, at_most = right + hits, at_most - (wanted.numel() - hits)
        if right / total >= below or not at_most / total > above:
            return None
    return right / total


def mean_loss(model: nn.Module, samples: Samples, run: Run) -> float:
    """Mean cross-entropy in eval mode; NaN for an empty set."""
    sizes, means, total = [], [torch.zeros(0, device=run.device)], 0.0
    for batch, logits in logits_of(model, samples, run, _size(model, samples, BATCH)):
        sizes.append(len(batch))
        means.append(cross_entropy(logits, batch.y).view(1))
    for size, mean in zip(sizes, torch.cat(means).tolist(), strict=True):  # one wait for all
        total += mean * size
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


def _answers(model: nn.Module, samples: Samples, run: Run, size: int) -> Iterator[Tensor]:
    """The predictions of one batch after the other, on the device."""
    for _, logits in logits_of(model, samples, run, size):
        yield predicted(logits, task_of(samples.labels))


def _size(model: nn.Module, samples: Samples, most: int) -> int:
    return chunk(model, samples.images.shape, most, "passing", times=2)
