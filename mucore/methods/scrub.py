"""SCRUB: a student that disobeys its teacher on the forget set and obeys on the retain set."""

from __future__ import annotations

from collections.abc import Sequence

from torch import nn

from mucore.blocks.min_max import Symmetry, min_max_phases
from mucore.blocks.teacher import Teacher
from mucore.engine.data import UnlearningData
from mucore.engine.loop import Optimizer, fit
from mucore.engine.run import Run


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
    break_symmetry: Symmetry,
) -> nn.Module:
    """
    Paper: Kurmanji et al., Towards Unbounded Machine Unlearning, NeurIPS 2023, algorithm 1, d = T²
        KL(teacher ‖ student)
    Code: meghdadk/SCRUB thirdparty/repdistiller/helper/loops.py and distiller_zoo/KD.py; settings
        of its MIA notebook
    Reads: the retain set and the forget set
    Differs: gradients are clipped (the official option has no effect); other ways to leave the
        start, where d and its gradient are zero

    `bn_train` relies on batch norm, whose batch statistics make the student differ from the teacher
    in eval mode; `min_first` runs the retain pass before the forget pass; `tiny_noise` perturbs the
    student's weights once. No augmentation, as in the official runs.
    """
    # (1) the teacher is a frozen copy of the original; the student starts as the original
    teacher = Teacher(model, data.forget, data.retain, classes=data.classes)
    run.scratch(teacher.bytes)
    learns = epochs > 0 and lr > 0  # otherwise there is no symmetry to break
    phases = min_max_phases(
        model,
        teacher,
        data,
        run,
        # (2) the first `msteps` epochs hold a max step for each forget batch: away from the
        #     teacher, −d
        msteps=msteps,
        forget_batch_size=forget_batch_size,
        # (3) and every epoch a min step for each retain batch: γ · cross-entropy + α · d
        alpha=alpha,
        gamma=gamma,
        temperature=temperature,
        retain_batch_size=retain_batch_size,
        break_symmetry=break_symmetry if learns else "bn_train",
    )
    # (4) one optimiser for both, its rate lr · ρ^(milestones passed)
    optimizer = Optimizer(
        lr=lr,
        momentum=momentum,
        weight_decay=weight_decay,
        schedule="step",
        milestones=milestones,
        rho=rho,
        grad_clip=grad_clip,
    )
    return fit(model, phases, run, epochs=epochs, optimizer=optimizer)
