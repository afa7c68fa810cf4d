"""Passes of a student that leaves its teacher on the forget set alone (SCRUB, SCRUB+R)."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from mucore.blocks.labels import kinds
from mucore.blocks.teacher import Teacher
from mucore.engine.batch import Batch
from mucore.engine.data import UnlearningData
from mucore.engine.loop import Phase
from mucore.engine.losses import cross_entropy, distillation
from mucore.engine.predict import predictions
from mucore.engine.run import Run

Reference = Literal["reweighted", "filtered"]
Symmetry = Literal["bn_train", "min_first", "tiny_noise"]
NOISE = 1e-3  # of a tensor's root mean square, break_symmetry "tiny_noise"


def min_max_phases(
    model: nn.Module,
    teacher: Teacher,
    data: UnlearningData,
    run: Run,
    *,
    msteps: int,
    alpha: float,
    gamma: float,
    temperature: float,
    retain_batch_size: int,
    forget_batch_size: int,
    break_symmetry: Symmetry,
) -> list[Phase]:
    """The phases of an epoch: a max pass over the forget set, and a min pass over the retain set.

    The max pass takes part in the first `msteps` epochs. The max pass minimises −d, the min pass γ
    · cross-entropy + α · d, with d = T² KL(teacher ‖ student). The teacher is `model` as it is now.
    At the start d and its gradient are zero. `bn_train` relies on batch norm,
    whose batch statistics make the student differ from the teacher in eval mode; `min_first` runs
    the min pass before the max pass; `tiny_noise` perturbs the student once, here. No augmentation,
    as in the official runs.
    """
    if break_symmetry == "tiny_noise":
        with torch.no_grad():
            for p in model.parameters():
                noise = torch.randn(p.shape, generator=run.rng("noise")).to(p)
                p.add_(noise * p.square().mean().sqrt() * NOISE)

    def divergence(model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
        target = teacher(batch)
        logits = model(batch.x)
        return logits, distillation(data.choices(logits), data.choices(target), temperature)

    def away(model: nn.Module, batch: Batch) -> Tensor:
        return -divergence(model, batch)[1]

    def back(model: nn.Module, batch: Batch) -> Tensor:
        logits, distance = divergence(model, batch)
        return gamma * cross_entropy(logits, batch.y) + alpha * distance

    max_pass = Phase(
        data=data.forget,
        batch_size=forget_batch_size,
        loss=away,
        augment=False,
        when=lambda epoch: epoch < msteps,
    )
    min_pass = Phase(data=data.retain, batch_size=retain_batch_size, loss=back, augment=False)
    return [min_pass, max_pass] if break_symmetry == "min_first" else [max_pass, min_pass]


def error_on_unseen(
    model: nn.Module, data: UnlearningData, run: Run, reference: Reference
) -> float | None:
    """Error, in 0..1, on validation samples of the forget set's classes; None without any.

    With `reweighted` the classes weigh as in the forget set. For attributes a class is a
    combination.
    """
    (asked, held_out), count = kinds(data, data.forget.labels, data.validation.labels)
    shares = torch.bincount(asked, minlength=count).double()
    available = torch.bincount(held_out, minlength=count).double()
    if reference == "reweighted":
        shares = shares * (available > 0)
    else:
        shares = available * (shares > 0)
    alike = shares[held_out] > 0
    unseen = data.validation[alike]
    if not len(unseen):
        return None
    wrong = (predictions(model, unseen, run) != unseen.labels).double()
    weights = (shares / available)[held_out[alike]]
    return float((wrong.view(len(unseen), -1).mean(1) * weights).sum() / shares.sum())
