"""Advanced NegGrad: descent on the retain set and ascent on the forget set in one step."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from mucore.engine.batch import Batch
from mucore.engine.data import UnlearningData
from mucore.engine.loop import Optimizer, Phase, fit
from mucore.engine.losses import descent_and_ascent
from mucore.engine.run import Run


def advanced_neggrad(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    lr: float,
    epochs: int,
    momentum: float,
    weight_decay: float,
    batch_size: int,
    bn_forward: Literal["two", "concat"],
    forget_loss_cap: float | None,
    skip_unequal: bool,
) -> nn.Module:
    """
    Paper: Choi and Na, Towards Machine Unlearning Benchmarks: Forgetting the Personal Identities in
        Facial Recognition Systems, 2023
    Code: ndb796/MachineUnlearning 01_MUFAC, Advanced NegGrad
    Reads: the retain set and the forget set
    Differs: batches of unequal size still step (official code skips them: `skip_unequal`); the
        forget loss is capped by default

    One epoch is one pass over the retain set, with the forget set cycled beside it. A skipped step
    moves nothing as long as momentum and weight decay are zero, as in the official code; with a
    forget set smaller than a batch, every step is skipped.
    """

    # (1) L = mean loss of the retain batch − mean loss of the forget batch, one backward pass, one
    #     step
    def loss(model: nn.Module, retain: Batch, forget: Batch) -> Tensor:
        if skip_unequal and len(retain) != len(forget):
            return torch.stack([p.sum() for p in model.parameters()]).sum() * 0
        descent, ascent = descent_and_ascent(
            model, retain, forget, together=bn_forward == "concat", cap=forget_loss_cap
        )
        return descent - ascent

    # (2) for each retain batch, the next forget batch
    phase = Phase(data=data.retain, batch_size=batch_size, beside=data.forget, loss=loss)
    optimizer = Optimizer(lr=lr, momentum=momentum, weight_decay=weight_decay)
    return fit(model, [phase], run, epochs=epochs, optimizer=optimizer)
