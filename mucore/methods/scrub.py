"""SCRUB: a student that disobeys its teacher on the forget set and obeys on the retain set."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from mucore.engine.data import Batch, UnlearningData
from mucore.engine.loop import Optimizer, Phase, fit
from mucore.engine.losses import distillation
from mucore.engine.run import Run, state_bytes

NOISE = 1e-3  # of a tensor's root mean square, break_symmetry "tiny_noise"


def scrub(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    lr: float,
    epochs: int,
    msteps: int,
    alpha: float,
    gamma: float,
    temperature: float,
    momentum: float,
    weight_decay: float,
    retain_batch_size: int,
    forget_batch_size: int,
    milestones: Sequence[int],
    rho: float,
    grad_clip: float | None,
    break_symmetry: Literal["bn_train", "min_first", "tiny_noise"],
) -> nn.Module:
    """
    Paper: Kurmanji et al., Towards Unbounded Machine Unlearning, NeurIPS 2023, algorithm 1, d = T² KL(teacher ‖ student)
    Code: meghdadk/SCRUB thirdparty/repdistiller/helper/loops.py and distiller_zoo/KD.py; settings of its MIA notebook
    Reads: the retain set and the forget set
    Differs: gradients are clipped (the official option has no effect); other ways to leave the start, where d and its gradient are zero

    `bn_train` relies on batch norm, whose batch statistics make the student differ from the teacher in eval mode; `min_first` runs the
    retain pass before the forget pass; `tiny_noise` perturbs the student's weights once. No augmentation, as in the official runs.
    """
    # (1) the teacher is a frozen copy of the original; the student starts as the original
    teacher = copy.deepcopy(model).eval().requires_grad_(False)
    run.scratch(state_bytes(teacher.state_dict().values()))
    if break_symmetry == "tiny_noise" and epochs > 0 and lr > 0:
        with torch.no_grad():
            for p in model.parameters():
                p.add_(torch.randn(p.shape, generator=run.rng("noise")).to(p) * p.square().mean().sqrt() * NOISE)

    def divergence(model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
        with torch.no_grad():
            target = teacher(batch.x)
        logits = model(batch.x)
        return logits, distillation(logits, target, temperature)

    # (2) max step: away from the teacher on the forget set
    def away(model: nn.Module, batch: Batch) -> Tensor:
        return -divergence(model, batch)[1]

    # (3) min step: γ · cross-entropy + α · d on the retain set
    def back(model: nn.Module, batch: Batch) -> Tensor:
        logits, distance = divergence(model, batch)
        return gamma * nn.functional.cross_entropy(logits, batch.y) + alpha * distance

    # (4) the first `msteps` epochs hold a max pass and a min pass, the others a min pass
    max_pass = Phase(data=data.forget, batch_size=forget_batch_size, loss=away, augment=False, when=lambda epoch: epoch < msteps)
    min_pass = Phase(data=data.retain, batch_size=retain_batch_size, loss=back, augment=False)
    phases = [min_pass, max_pass] if break_symmetry == "min_first" else [max_pass, min_pass]
    # (5) one optimiser for both, its rate lr · ρ^(milestones passed)
    optimizer = Optimizer(
        lr=lr, momentum=momentum, weight_decay=weight_decay, schedule="step", milestones=milestones, rho=rho, grad_clip=grad_clip
    )
    return fit(model, phases, run, epochs=epochs, optimizer=optimizer)
