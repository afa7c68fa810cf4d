"""Forget, contrast, strengthen: flatten the forget set, then push it away and repair, in turn."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mucore.engine.batch import Batch
from mucore.engine.data import UnlearningData
from mucore.engine.loop import Optimizer, Phase, fit
from mucore.engine.losses import soft_divergence
from mucore.engine.run import Run

END_RATE = 1e-6  # of the contrast round's cosine


def fcs(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    lr: float,
    forget_lr: float,
    contrast_lr: float,
    epochs: int,
    temperature: float,
    momentum: float,
    weight_decay: float,
    batch_size: int,
    forget_batch_size: int,
) -> nn.Module:
    """
    Paper: none; NeurIPS 2023 machine unlearning challenge, write-up 458721 (fanchuan), first in the
        organisers' final ranking
    Code: third-party port xcadet/deepunlearn munl/unlearning/kgltop1.py
    Reads: the forget set, without labels, and the retain set
    Differs: where the forget set has more batches than the retain set, the contrast round cycles
        the latter instead of ending early

    The contrast loss is at least ln of the retain batch size. Batch norm trains in every round, on
    the retain batches of contrast too.
    """

    # (1) forget, once: KL(uniform ‖ prediction) on the forget set
    def flatten(model: nn.Module, batch: Batch) -> Tensor:
        said = data.choices(model(batch.x))
        uniform = torch.full(
            said.shape, 1 / data.options, dtype=batch.x.dtype, device=batch.x.device
        )
        return soft_divergence(said, uniform, 1.0)

    # (2) contrast: a forgotten sample shall be equally like every retained one of the batch beside
    #     it
    def contrast(model: nn.Module, forget: Batch, retain: Batch) -> Tensor:
        forgotten = model(forget.x)
        with torch.no_grad():
            retained = model(retain.x)
        return contrast_loss(forgotten, retained, temperature)

    first = Optimizer(lr=forget_lr, momentum=momentum)
    away = Optimizer(
        lr=contrast_lr,
        momentum=momentum,
        schedule="cosine",
        floor=min(1.0, END_RATE / contrast_lr) if contrast_lr else 0.0,
    )
    size = forget_batch_size
    phases = [
        Phase(
            data=data.forget,
            batch_size=size,
            loss=flatten,
            when=lambda epoch: epoch == 0,
            optimizer=first,
        ),
        Phase(
            data=data.forget,
            batch_size=size,
            loss=contrast,
            beside=data.retain,
            beside_batch_size=batch_size,
            optimizer=away,
        ),
        # (3) strengthen: cross-entropy on the retain set; the three optimisers keep their momentum
        #     from round to round
        Phase(data=data.retain, batch_size=batch_size),
    ]
    optimizer = Optimizer(lr=lr, momentum=momentum, weight_decay=weight_decay)
    return fit(model, phases, run, epochs=epochs, optimizer=optimizer)


def contrast_loss(forgotten: Tensor, retained: Tensor, temperature: float) -> Tensor:
    """Mean of −log softmax over retained samples of the scaled inner products of logits (b_f, C)
    and (b_r, C), in float32.
    """
    with torch.autocast(forgotten.device.type, enabled=False):
        wide = forgotten if forgotten.dtype == torch.float64 else forgotten.float()
        return -torch.log_softmax(wide @ retained.detach().to(wide).T / temperature, 1).mean()
