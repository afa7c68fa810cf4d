"""NegGrad+: descent on the retain set and ascent on the forget set in one step."""

from __future__ import annotations

from typing import Literal

from torch import Tensor, nn

from mucore.engine.batch import Batch
from mucore.engine.data import UnlearningData
from mucore.engine.loop import Optimizer, Phase, fit
from mucore.engine.losses import descent_and_ascent
from mucore.engine.run import Run


def neggrad_plus(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    lr: float,
    epochs: int,
    retain_weight: float,
    momentum: float,
    weight_decay: float,
    batch_size: int,
    bn_forward: Literal["two", "concat"],
    forget_loss_cap: float | None,
) -> nn.Module:
    """
    Paper: Kurmanji et al., Towards Unbounded Machine Unlearning, NeurIPS 2023 (baseline NegGrad+)
    Code: meghdadk/SCRUB thirdparty/repdistiller/helper/loops.py, train_negrad
    Reads: the retain set and the forget set
    Differs: batches of unequal size still step; the forget loss is capped by default; batch norm
        trains

    One epoch is one pass over the retain set, with the forget set cycled beside it.
    """

    # (1) L = a · mean loss of the retain batch − (1 − a) · mean loss of the forget batch, one
    #     backward pass, one step
    def loss(model: nn.Module, retain: Batch, forget: Batch) -> Tensor:
        descent, ascent = descent_and_ascent(
            model, retain, forget, together=bn_forward == "concat", cap=forget_loss_cap
        )
        return retain_weight * descent - (1 - retain_weight) * ascent

    # (2) for each retain batch, the next forget batch
    phase = Phase(data=data.retain, batch_size=batch_size, beside=data.forget, loss=loss)
    optimizer = Optimizer(lr=lr, momentum=momentum, weight_decay=weight_decay)
    return fit(model, [phase], run, epochs=epochs, optimizer=optimizer)
