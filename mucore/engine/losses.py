"""Losses that several methods share. Logits are (n, C); results are scalars in float32 whatever the run's precision."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from mucore.engine.data import Batch


def soft_divergence(
    student: Tensor, target: Tensor, temperature: float, *, reduction: Literal["batchmean", "element_mean"] = "batchmean"
) -> Tensor:
    """KL(target ‖ softmax(student / T)), without the factor T²: summed over classes and averaged over samples, or averaged over both.

    `target` (n, C) are probabilities.
    """
    log_student = torch.log_softmax(student.to(target.dtype) / temperature, 1)
    total = nn.functional.kl_div(log_student, target, reduction="sum")
    return total / (len(target) if reduction == "batchmean" else target.numel())


def distillation(student: Tensor, teacher: Tensor, temperature: float) -> Tensor:
    """T² · KL(softmax(teacher / T) ‖ softmax(student / T)), batch mean (Hinton et al., 2015; SCRUB's d)."""
    target = torch.softmax(_wide(teacher) / temperature, 1)
    return temperature**2 * soft_divergence(_wide(student), target, temperature)


def descent_and_ascent(
    model: nn.Module, retain: Batch, forget: Batch, *, together: bool, cap: float | None = None
) -> tuple[Tensor, Tensor]:
    """Mean cross-entropies of a retain batch, to go down, and of a forget batch, to go up (NegGrad+, Advanced NegGrad).

    `together`: one forward pass for both, which mixes their batch statistics. `cap`: above this multiple of chance level ln C the forget
    loss is constant, so that it stops pushing.
    """
    if together:
        retained, forgotten = model(torch.cat([retain.x, forget.x])).split([len(retain), len(forget)])
    else:
        retained, forgotten = model(retain.x), model(forget.x)
    ascent = nn.functional.cross_entropy(forgotten, forget.y)
    limit = math.inf if cap is None else cap * math.log(forgotten.shape[1])
    return nn.functional.cross_entropy(retained, retain.y), ascent.clamp(max=limit)


def distillation_without(student: Tensor, teacher: Tensor, removed: Sequence[int], temperature: float) -> Tensor:
    """KL(softmax(teacher / T) ‖ softmax(student)), batch mean, in which the teacher has nothing to say about the classes `removed`.

    Samples that it assigns to one of them are left out (zero if that is all of them); for the others it gives those classes the smallest
    of their logits (SCAR). Logits are (n, C).
    """
    teacher = _wide(teacher)
    kept = ~torch.isin(teacher.argmax(1), torch.tensor(removed, dtype=torch.int64, device=teacher.device))
    if not kept.any():
        return student.sum() * 0.0
    target = teacher[kept].clone()
    target[:, list(removed)] = target.min()
    return soft_divergence(_wide(student[kept]), torch.softmax(target / temperature, 1), 1.0)


def inverse_loss_weights(losses: Tensor, power: float) -> Tensor:
    """Weights (n,) of sum 1, proportional to losses^-power, without a gradient: the better fitted, the heavier (SFRon)."""
    weights = 1 / (losses.detach() ** power + 1e-15)
    return weights / weights.sum()


def _wide(logits: Tensor) -> Tensor:
    return logits.float() if logits.dtype in (torch.bfloat16, torch.float16) else logits
