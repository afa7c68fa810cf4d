"""CF-k: fine-tuning of the last layers."""

from __future__ import annotations

from torch import nn

from mucore.engine.data import UnlearningData
from mucore.engine.layers import Unit, tail, train_only
from mucore.engine.loop import BatchNorm, Optimizer, Phase, fit
from mucore.engine.run import Run


def cf_k(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    lr: float,
    epochs: int,
    k_unit: Unit,
    k: int,
    momentum: float,
    weight_decay: float,
    batch_size: int,
    grad_clip: float | None,
    bn: BatchNorm,
) -> nn.Module:
    """
    Paper: Goel, Prabhu, Kumaraguru, Towards Adversarial Evaluations for Inexact Machine Unlearning,
        2022, CF-k
    Code: shash42/Evaluating-Inexact-Unlearning src/methods.py and src/learn.py; blocks as in the
        notebooks of meghdadk/SCRUB
    Reads: the retain set
    Differs: frozen batch norms keep their statistics (official code lets them drift); constant rate
        instead of warm restarts

    What the frozen early layers learned from the forget set stays.
    """
    # (1) freeze all but the last k layers or blocks; norms between them train along
    chosen = tail(model, k_unit, k)
    run.diagnostics["trained_share"] = train_only(model, chosen)
    # (2) train on with the retain set
    optimizer = Optimizer(lr=lr, momentum=momentum, weight_decay=weight_decay, grad_clip=grad_clip)
    phase = Phase(data=data.retain, batch_size=batch_size)
    fit(model, [phase], run, epochs=epochs, optimizer=optimizer, bn=bn)
    return model.requires_grad_(True)
