"""DELETE: the forget set learns what the original would say if it did not know the true class."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mucore.blocks.teacher import Teacher
from mucore.engine.batch import Batch
from mucore.engine.data import UnlearningData, sent
from mucore.engine.loop import BatchNorm, Optimizer, Phase, fit
from mucore.engine.losses import soft_divergence
from mucore.engine.run import Run

NEVER = -1e10  # not minus infinity: 0 · log 0 in the divergence would be not a number


def delete(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    lr: float,
    epochs: int,
    momentum: float,
    batch_size: int,
    bn: BatchNorm,
) -> nn.Module:
    """
    Paper: Zhou et al., Decoupled Distillation to Erase: A General Unlearning Method for Any
        Class-centric Tasks, CVPR 2025
    Code: shaaaaron/DELETE method/delete.py, config of cifar10_resnet18
    Reads: the forget set
    Differs: batch norm is frozen by default (the official flag disable_bn); in class-wise scenarios
        every forgotten class is masked

    At the start the loss is -log(1 - p_y), and its gradient moves probability from the true class
    to the others in the proportions in which the original already believes in them.
    """
    # (1) the teacher is a frozen copy of the original that may not name the true class, nor a
    #     forgotten one
    teacher = Teacher(model, data.forget, classes=data.classes, augment=True)
    run.scratch(teacher.bytes)

    # (2) KL(teacher without the true class ‖ student) on the forget set alone
    def loss(model: nn.Module, batch: Batch) -> Tensor:
        target = without_own_class(teacher(batch), data.other_labels(batch.labels))
        return soft_divergence(model(batch.x), target, 1.0)

    phase = Phase(data=data.forget, batch_size=batch_size, loss=loss)
    optimizer = Optimizer(lr=lr, momentum=momentum)
    return fit(model, [phase], run, epochs=epochs, optimizer=optimizer, bn=bn)


def without_own_class(logits: Tensor, allowed: Tensor) -> Tensor:
    """Softmax of `logits` (n, C) over the True entries of `allowed` (n, C) alone."""
    return torch.softmax(logits.float().masked_fill(~sent(allowed, logits.device), NEVER), 1)
