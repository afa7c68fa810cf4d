"""Boundary shrink: a forgotten sample takes the label that one adversarial step leads to."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from mucore.blocks.adversarial import fast_gradient_sign, input_curvature
from mucore.engine.batch import Batch
from mucore.engine.data import UnlearningData
from mucore.engine.loop import BatchNorm, Optimizer, Phase, fit
from mucore.engine.run import Run
from mucore.engine.state import frozen_copy

CURVATURE_STEP, CURVATURE_WEIGHT = 0.9, 0.7  # h and λ of the official code
SLOPE, MIDDLE, TOP = 5.0, 0.5, 3.0  # of the official sample weights


def boundary_shrink(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    epsilon: float,
    lr: float,
    epochs: int,
    momentum: float,
    weight_decay: float,
    batch_size: int,
    on_fail: Literal["runner_up", "keep"],
    extra: Literal["plain", "curvature", "weights"],
    bn: BatchNorm,
) -> nn.Module:
    """
    Paper: Chen et al., Boundary Unlearning: Rapid Forgetting of Deep Networks via Shifting the
        Decision Boundary, CVPR 2023
    Code: TY-LEE-KR/Boundary-Unlearning-Code boundary_unlearning.py, adv_generator.py and
        expand_exp.py (a mirror of the authors' code)
    Reads: the forget set
    Differs: batch norm frozen and a runner-up label where the attack fails (official: neither); new
        labels are found once, not every step

    The attack sees the original and images without augmentation, so a sample's new label never
    changes.
    """
    # (1) one step of size ε along the sign of the loss's gradient; the class the original sees
    #     there is the nearest one
    crossed = fast_gradient_sign(model, data.forget, run, epsilon=epsilon, batch_size=batch_size)
    nearest = crossed.attacked.argmax(1)
    run.diagnostics["attack_success"] = (nearest != data.forget.labels).double().mean().item()
    # (2) where that is no allowed class: the original's runner-up among those, or the class as it
    #     is
    if on_fail == "runner_up":
        allowed = data.other_labels(data.forget.labels)
        runner_up = crossed.clean.masked_fill(~allowed, -torch.inf).argmax(1)
        reachable = allowed.gather(1, nearest.unsqueeze(1)).squeeze(1)
        nearest = torch.where(reachable, nearest, runner_up)
    # optional: weigh a sample by how clearly the attacked image belongs to its new class
    probabilities = torch.softmax(crossed.attacked, 1)
    chosen = probabilities.gather(1, nearest.unsqueeze(1)).squeeze(1)
    rest = probabilities.scatter(1, nearest.unsqueeze(1), -torch.inf).amax(1)
    weights = TOP * torch.sigmoid(SLOPE * (rest - chosen - MIDDLE))
    original = frozen_copy(model) if extra == "curvature" else None
    run.holds(nearest, weights if extra == "weights" else None, original)
    row = {int(sample): number for number, sample in enumerate(data.forget.ids)}

    # (3) cross-entropy of the clean image with its new label
    def loss(model: nn.Module, batch: Batch) -> Tensor:
        rows = [row[int(sample)] for sample in batch.ids]
        each = nn.functional.cross_entropy(model(batch.x), batch.y, reduction="none")
        if extra == "weights":
            each = each * weights[rows].to(each)
        if original is None:
            return each.mean()
        truth = data.forget.labels[rows].to(batch.y.device)
        before = input_curvature(original, batch.x, truth, h=CURVATURE_STEP)
        now = input_curvature(model, batch.x, truth, h=CURVATURE_STEP, create_graph=True)
        return each.mean() + CURVATURE_WEIGHT * (before - now).norm()

    phase = Phase(data=data.forget.with_labels(nearest), batch_size=batch_size, loss=loss)
    optimizer = Optimizer(lr=lr, momentum=momentum, weight_decay=weight_decay)
    return fit(model, [phase], run, epochs=epochs, optimizer=optimizer, bn=bn)
