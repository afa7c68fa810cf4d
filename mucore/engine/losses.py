"""Losses that several methods share. Logits are (n, C); results are scalars in float32 whatever the run's precision."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn


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


def _wide(logits: Tensor) -> Tensor:
    return logits.float() if logits.dtype in (torch.bfloat16, torch.float16) else logits
