"""LoTUS: the original's predictions, smoothed on the forget set as far as held-out data say."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from mucore.blocks.labels import gumbel_softmax
from mucore.blocks.stopping import moment
from mucore.blocks.teacher import Teacher
from mucore.engine.batch import Batch
from mucore.engine.data import Mixture, UnlearningData
from mucore.engine.loop import BatchNorm, Optimizer, Phase, fit
from mucore.engine.predict import accuracy
from mucore.engine.run import Run


def lotus(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    lr: float,
    epochs: int,
    alpha: float,
    tolerance: float,
    retain_fraction: float,
    weight_decay: float,
    batch_size: int,
    bn: BatchNorm,
) -> nn.Module:
    """
    Paper: Spartalis et al., LoTUS: Large-Scale Machine Unlearning with a Taste of Uncertainty, CVPR
        2025
    Code: cspartalis/LoTUS src/unlearning_methods/lotus_class.py
    Reads: the forget set, a random part of the retain set without its labels, and the validation
        set for the target accuracy
    Differs: no accuracy is taken after the last epoch, where nothing depends on it
    """
    # (1) a fixed part of the retain set, the original as teacher, and the accuracy to reach:
    #     held-out, or 0 where classes go entirely
    count = int(retain_fraction * len(data.retain))
    subset = data.retain.draw(count, run.rng("subset"))
    target_accuracy = 0.0 if data.forgotten_classes else accuracy(model, data.validation, run)
    teacher = Teacher(model, data.forget, subset, classes=data.classes, augment=True)
    run.scratch(teacher.bytes)
    tau = 1.0

    # (2) before each epoch: δ = accuracy on the forget set - target; stop below the tolerance, else
    #     temper with τ = exp(α · δ)
    def temper(model: nn.Module, epoch: int) -> str | None:
        nonlocal tau
        if epoch + 1 >= epochs:
            return None
        excess = accuracy(model, data.forget, run) - target_accuracy
        tau = math.exp(alpha * excess)
        run.diagnostics["tau"] = tau
        if excess <= -tolerance:
            return (
                f"the forget set is predicted {-excess:.3f} worse than the target "
                f"{target_accuracy:.3f} {moment(epoch)}"
            )
        return None

    # (3) cross-entropy with the teacher's Gumbel softmax: at τ on the forget set, one class drawn
    #     from it on the retain set
    def loss(model: nn.Module, batch: Batch) -> Tensor:
        with torch.no_grad():
            said = data.choices(teacher(batch).float())
            kept = gumbel_softmax(said, 1.0, run, hard=True)
            forgotten = gumbel_softmax(said, tau, run)
        asked = (batch.part == 0).repeat_interleave(len(said) // len(batch))
        target = torch.where(asked.unsqueeze(1), forgotten, kept)
        return nn.functional.cross_entropy(data.choices(model(batch.x)), target)

    reason = temper(model, -1)
    if reason is not None:
        run.stop_reason = reason
        return model.eval()
    phase = Phase(data=Mixture((data.forget, subset)), batch_size=batch_size, loss=loss)
    optimizer = Optimizer(lr=lr, name="adamw", weight_decay=weight_decay)
    return fit(model, [phase], run, epochs=epochs, optimizer=optimizer, bn=bn, stop=temper)
