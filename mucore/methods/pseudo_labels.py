"""Pseudo-labels: the runner-up class of the original becomes the label of a forgotten sample."""

from __future__ import annotations

from torch import nn

from mucore.engine.data import UnlearningData
from mucore.engine.labels import runner_up_labels
from mucore.engine.loop import BatchNorm, Optimizer, Phase, fit
from mucore.engine.run import Run


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
) -> nn.Module:
    """
    Paper: Chen et al., Machine Unlearning via Null Space Calibration, IJCAI 2024, step 1; baseline of Are We Truly Forgetting?
    Code: none for the baseline alone
    Reads: the forget set
    Differs: in class-wise scenarios no new label is a forgotten class (the official helper allows that); no null-space projection
    """
    # (1) y' = the most likely class of the original, leaving out the true one and the forgotten ones; plain images, eval mode
    runner_up = runner_up_labels(model, data.forget, data, run, batch_size=batch_size)
    run.scratch(runner_up.numel() * runner_up.element_size())
    # (2) cross-entropy with y' on the forget set alone
    phase = Phase(data=data.forget.with_labels(runner_up), batch_size=batch_size)
    optimizer = Optimizer(lr=lr, momentum=momentum, weight_decay=weight_decay)
    return fit(model, [phase], run, epochs=epochs, optimizer=optimizer, bn=bn)
