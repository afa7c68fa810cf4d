"""Pseudo-labels: the runner-up class of the original becomes the label of a forgotten sample."""

from __future__ import annotations

from typing import Literal

from torch import nn

from mucore.blocks.labels import kinds, runner_up_labels
from mucore.blocks.layer_moments import INPUTS_NOT_FINITE, class_bases, confine
from mucore.engine.data import UnlearningData
from mucore.engine.loop import BatchNorm, Optimizer, Phase, fit
from mucore.engine.run import Run
from mucore.engine.state import is_finite


def pseudo_labels(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    lr: float,
    epochs: int,
    momentum: float,
    weight_decay: float,
    batch_size: int,
    bn: BatchNorm,
    projection: Literal["off", "null_space"],
    energy: float,
    basis_samples: int,
    null_lr: float,
    null_epochs: int,
    null_batch_size: int,
    nesterov: bool,
) -> nn.Module:
    """
    Paper: Chen et al., Machine Unlearning via Null Space Calibration (UNSC), IJCAI 2024; its first
        step alone: Are We Truly Forgetting?
    Code: HQC-ML/UNSC utils.py and its notebooks; none for the first step alone
    Reads: the forget set; with `null_space` a few samples of each class of the retain set
    Differs: in class-wise scenarios no new label is a forgotten class (the official helper allows
    that). Null space: strides are the layers' own; the first class takes directions until the share
    is reached, where the official code stops one before. `nesterov` is the variant of Are We Truly
    Forgetting?, Figure 13
    """
    # (1) y' = the most likely class of the original, leaving out the true one and the forgotten
    #     ones; plain images, eval mode
    runner_up = runner_up_labels(model, data.forget, data, run, batch_size=batch_size)
    run.holds(runner_up)
    moved = data.forget.with_labels(runner_up)
    if projection == "off":
        # (2) cross-entropy with y' on the forget set alone
        optimizer = Optimizer(
            lr=lr, momentum=momentum, nesterov=nesterov, weight_decay=weight_decay
        )
        phase = Phase(data=moved, batch_size=batch_size)
        return fit(model, [phase], run, epochs=epochs, optimizer=optimizer, bn=bn)
    # (3) UNSC: for each layer an orthonormal basis of its inputs from the kept classes
    (groups,), total = kinds(data, data.retain.labels)
    bases = class_bases(
        model, data.retain, groups, run, total=total, share=energy, count=basis_samples
    )
    run.holds(bases)
    protected = sum(basis.shape[1] for basis in bases.values())
    run.diagnostics["protected_share"] = protected / max(
        1, sum(len(basis) for basis in bases.values())
    )
    if not is_finite(bases):
        return run.give_up(model, INPUTS_NOT_FINITE)
    # (4) the same with weights of layers alone and the part of their gradients outside the bases;
    #     plain SGD, which adds nothing inside
    free = {name: basis for name, basis in bases.items() if basis.shape[1] < len(basis)}
    if free:
        fit(
            model,
            [Phase(data=moved, batch_size=null_batch_size)],
            run,
            epochs=null_epochs,
            optimizer=Optimizer(lr=null_lr),
            bn=bn,
            edit_grads=confine(model, free),
        )
    return model.requires_grad_(True).eval()
