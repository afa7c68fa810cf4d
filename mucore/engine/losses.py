"""Losses that several methods share, for both kinds of task.

Results are float32 at least, whatever the run's precision. Conventions, stated once. Task
`classes`: labels (n,) int64, logits (n, C), the probabilities are their softmax. Task `attributes`:
labels (n, A) int64 of 0 and 1, logits (n, A), the probabilities are their sigmoid. Each attribute
is a question of its own with two answers, whose logits are (0, z); a sample's loss, divergence or
entropy is the mean over its attributes. With a single attribute, every number is that of the two
classes. `choices` brings both tasks to one form, so that what works on classes works on attributes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from mucore.catalog.cards import Task
from mucore.engine.batch import Batch


def task_of(labels: Tensor) -> Task:
    """The task that labels (n,) or (n, A) belong to."""
    return "attributes" if labels.dim() == 2 else "classes"


def choices(logits: Tensor, task: Task) -> Tensor:
    """Logits of every question, one row each: (n, C) as they are, or (n, A) as (n · A, 2).

    `y.flatten()` are the right answers to the rows.
    """
    if task == "classes":
        return logits
    return torch.stack([torch.zeros_like(logits), logits], -1).flatten(0, 1)


def predicted(logits: Tensor, task: Task) -> Tensor:
    """The most probable class (n,), or for each attribute the likelier answer (n, A); int64."""
    return logits.argmax(1) if task == "classes" else (logits > 0).to(torch.int64)


def cross_entropy(
    logits: Tensor, y: Tensor, *, reduction: Literal["mean", "sum", "none"] = "mean"
) -> Tensor:
    """−ln of the probability of the label, a scalar or (n,); for attributes the mean over them.

    That is binary cross-entropy.
    """
    if task_of(y) == "classes":
        return nn.functional.cross_entropy(logits, y, reduction=reduction)
    wide = _wide(logits)
    each = nn.functional.binary_cross_entropy_with_logits(
        wide, y.to(wide.dtype), reduction="none"
    ).mean(1)
    if reduction == "none":
        return each
    return each.mean() if reduction == "mean" else each.sum()


def soft_divergence(
    student: Tensor,
    target: Tensor,
    temperature: float,
    *,
    reduction: Literal["batchmean", "element_mean"] = "batchmean",
) -> Tensor:
    """KL(target ‖ softmax(student / T)), without the factor T²: summed over classes and averaged
    over samples, or averaged over both.

    `target` (n, C) are probabilities. For attributes both come as `choices`.
    """
    log_student = torch.log_softmax(student.to(target.dtype) / temperature, 1)
    total = nn.functional.kl_div(log_student, target, reduction="sum")
    return total / (len(target) if reduction == "batchmean" else target.numel())


def distillation(student: Tensor, teacher: Tensor, temperature: float) -> Tensor:
    """T² · KL(softmax(teacher / T) ‖ softmax(student / T)), batch mean; SCRUB's d.

    Hinton et al., 2015. For attributes, of `choices`.
    """
    target = torch.softmax(_wide(teacher) / temperature, 1)
    return temperature**2 * soft_divergence(_wide(student), target, temperature)


def descent_and_ascent(
    model: nn.Module, retain: Batch, forget: Batch, *, together: bool, cap: float | None = None
) -> tuple[Tensor, Tensor]:
    """Mean cross-entropies of a retain batch, to go down, and of a forget batch, to go up.

    As in NegGrad+ and Advanced NegGrad. `together`: one forward pass for both, which mixes their
    batch statistics. `cap`: above this multiple of chance level (ln C; ln 2 for attributes) the
    forget loss is constant, so that it stops pushing.
    """
    if together:
        logits = model(torch.cat([retain.x, forget.x]))
        retained, forgotten = logits.split([len(retain), len(forget)])
    else:
        retained = model(retain.x)
        forgotten = model(forget.x)
    ascent = cross_entropy(forgotten, forget.y)
    limit = math.inf
    if cap is not None:
        limit = cap * math.log(choices(forgotten, task_of(forget.y)).shape[1])
    return cross_entropy(retained, retain.y), ascent.clamp(max=limit)


def distillation_without(
    student: Tensor, teacher: Tensor, removed: Sequence[int], temperature: float
) -> Tensor:
    """KL(softmax(teacher / T) ‖ softmax(student)), batch mean, in which the teacher has nothing to
    say about the classes `removed`.

    Samples that it assigns to one of them are left out (zero if that is all of them); for the
    others it gives those classes the smallest of their logits (SCAR). Logits are (n, C).
    """
    teacher = _wide(teacher)
    kept = ~torch.isin(
        teacher.argmax(1), torch.tensor(removed, dtype=torch.int64, device=teacher.device)
    )
    if not kept.any():
        return student.sum() * 0.0
    target = teacher[kept].clone()
    target[:, list(removed)] = target.min()
    return soft_divergence(_wide(student[kept]), torch.softmax(target / temperature, 1), 1.0)


def improbability(
    logits: Tensor, labels: Tensor, *, offset: float, entropy_weight: float, sharp: bool
) -> Tensor:
    """Batch mean of −ln(1 − (p_y − offset)), which the offset bounds, and of the prediction's
    entropy times `entropy_weight` (PGU).

    The entropy is rewarded; `sharp`: that of the prediction over the other classes is punished
    instead. Labels are (n,).
    """
    p = torch.softmax(logits, 1)
    unlikely = -torch.log(1 - (p.gather(1, labels[:, None]).squeeze(1) - offset)).mean()
    if not sharp:
        return unlikely - entropy_weight * torch.special.entr(p).sum(1).mean()
    own = nn.functional.one_hot(labels, logits.shape[1]).bool()
    log_p = torch.log_softmax(logits[~own].view(len(logits), -1), 1)
    return unlikely - entropy_weight * (log_p.exp() * log_p).sum(1).mean()


def inverse_loss_weights(losses: Tensor, power: float) -> Tensor:
    """Weights (n,) of sum 1, proportional to losses^-power, without a gradient (SFRon).

    The better fitted, the heavier.
    """
    weights = 1 / (losses.detach() ** power + 1e-15)
    return weights / weights.sum()


def _wide(logits: Tensor) -> Tensor:
    return logits.float() if logits.dtype in (torch.bfloat16, torch.float16) else logits
