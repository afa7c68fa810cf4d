"""Other labels for forgotten samples, drawn or predicted; the data set's own stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor, nn

from mucore.engine.batch import Batch
from mucore.engine.data import Samples, UnlearningData, sent
from mucore.engine.losses import cross_entropy, predicted
from mucore.engine.predict import logits_of
from mucore.engine.run import Run

Pool = Literal["all", "others"]


def uniform_choice(allowed: Tensor, generator: torch.Generator) -> Tensor:
    """One class a row, uniform over the True entries of `allowed` (n, C); (n,) int64 on the CPU."""
    return torch.multinomial(allowed.float(), 1, generator=generator).squeeze(1)


def draw_labels(data: UnlearningData, labels: Tensor, run: Run, pool: Pool) -> Tensor:
    """A label for each of `labels` (n,), from all classes or the other, not forgotten ones.

    Stream `labels`; CPU in and out. Attributes (n, A) become random bits (`all`), or every one of
    them its opposite (`others`).
    """
    if data.task == "attributes":
        return (
            1 - labels
            if pool == "others"
            else torch.randint(2, labels.shape, generator=run.rng("labels"))
        )
    allowed = (
        data.other_labels(labels)
        if pool == "others"
        else torch.ones(len(labels), data.classes, dtype=torch.bool)
    )
    return uniform_choice(allowed, run.rng("labels"))


def random_label_loss(
    data: UnlearningData, run: Run, pool: Pool, *, forget_part: int = 0
) -> Callable[[nn.Module, Batch], Tensor]:
    """Cross-entropy with a fresh random label whenever a sample of part `forget_part` comes up."""

    def loss(model: nn.Module, batch: Batch) -> Tensor:
        labels = batch.labels.clone()
        forgotten = batch.origins == forget_part
        labels[forgotten] = draw_labels(data, labels[forgotten], run, pool)
        return cross_entropy(model(batch.x), sent(labels, batch.y.device))

    return loss


def runner_up_labels(
    model: nn.Module, samples: Samples, data: UnlearningData, run: Run, *, batch_size: int
) -> Tensor:
    """The class (n,) that the model finds most likely among those allowed, in eval mode.

    For attributes (n, A) it is `likeliest_other`.
    """
    chosen = []
    for batch, logits in logits_of(model, samples, run, batch_size):
        if data.task == "attributes":
            chosen.append(likeliest_other(logits, batch.y).cpu())
            continue
        allowed = data.other_labels(batch.labels).to(batch.y.device)
        chosen.append(logits.masked_fill(~allowed, -torch.inf).argmax(1).cpu())
    return torch.cat(chosen)


def kinds(data: UnlearningData, *labels: Tensor) -> tuple[list[Tensor], int]:
    """For each of several tensors of labels a number (n,) that tells their samples apart, and how
    many numbers there may be.

    A class is its own number; combinations of attributes are numbered as they occur in any of the
    tensors.
    """
    if data.task == "classes":
        return list(labels), data.classes
    found, numbers = torch.cat(labels).unique(dim=0, return_inverse=True)
    return list(numbers.split([len(part) for part in labels])), len(found)


def likeliest_other(logits: Tensor, y: Tensor) -> Tensor:
    """The most probable combination of attributes (n, A) that is not y: the predicted one, or that
    with its least certain bit turned.
    """
    found = predicted(logits, "attributes")
    right = (found == y).all(1)
    turned = nn.functional.one_hot(logits.abs().argmin(1), logits.shape[1])
    return torch.where(right.unsqueeze(1), (found - turned).abs(), found)


def gumbel_softmax(logits: Tensor, tau: float, run: Run, *, hard: bool = False) -> Tensor:
    """softmax((logits + Gumbel noise) / τ), (n, C), from stream `gumbel`; `hard`: one-hot.

    The hard form is a class drawn from softmax(logits), whatever τ (Jang et al., ICLR 2017).
    """
    drawn = -torch.empty(logits.shape).exponential_(generator=run.rng("gumbel")).log()
    noise = sent(drawn, logits.device)
    if hard:
        return nn.functional.one_hot((logits + noise).argmax(1), logits.shape[1]).to(logits.dtype)
    return torch.softmax((logits + noise) / tau, 1)
