"""EU-k: the last layers start anew and are trained on the retain set."""

from __future__ import annotations

from typing import Literal

from torch import nn

from mucore.engine.data import UnlearningData
from mucore.engine.layers import Unit, copy_layers, reset_layers, tail, train_only
from mucore.engine.loop import Optimizer, Phase, fit
from mucore.engine.run import Run


def eu_k(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    lr: float,
    epochs: int,
    k_unit: Unit,
    k: int,
    reset_from: Literal["theta_init", "kaiming"],
    schedule: Literal["constant", "cosine", "onecycle"],
    momentum: float,
    weight_decay: float,
    batch_size: int,
    grad_clip: float | None,
) -> nn.Module:
    """
    Paper: Goel, Prabhu, Kumaraguru, Towards Adversarial Evaluations for Inexact Machine Unlearning,
        2022, EU-k
    Code: shash42/Evaluating-Inexact-Unlearning src/methods.py and src/learn.py; theta_init as in
        the notebooks of meghdadk/SCRUB
    Reads: the retain set and the original's initial weights
    Differs: norms start anew too (official code resets layers only) and frozen ones keep their
        statistics; one schedule, no warm restarts

    Only the last k layers are forgotten exactly; the early ones keep what they learned from the
    forget set.
    """
    # (1) choose the last k layers or blocks, with the norms between them
    chosen = tail(model, k_unit, k)
    # (2) put them back to the original's initial weights, or draw new ones
    if reset_from == "theta_init":
        initial = data.record["initial"]()
        run.holds(initial)
        copy_layers(chosen, initial)
    else:
        reset_layers(chosen, run.rng("init"))
    # (3) train them, and nothing else, on the retain set
    run.diagnostics["trained_share"] = train_only(model, chosen)
    optimizer = Optimizer(
        lr=lr, momentum=momentum, weight_decay=weight_decay, schedule=schedule, grad_clip=grad_clip
    )
    phase = Phase(data=data.retain, batch_size=batch_size)
    fit(model, [phase], run, epochs=epochs, optimizer=optimizer)
    return model.requires_grad_(True)
