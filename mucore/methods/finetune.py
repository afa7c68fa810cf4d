"""Fine-tuning on the retain set."""

from __future__ import annotations

from torch import nn

from mucore.engine.data import UnlearningData
from mucore.engine.loop import Optimizer, Phase, fit
from mucore.engine.run import Run


def finetune(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    lr: float,
    epochs: int,
    momentum: float,
    weight_decay: float,
    batch_size: int,
) -> nn.Module:
    """
    Paper: baseline of Golatkar et al., Eternal Sunshine of the Spotless Net, CVPR 2020, and of most
        papers since
    Code: OPTML-Group/Unlearn-Sparse unlearn/FT.py
    Reads: the retain set
    Differs: constant learning rate, as in the official code without its optional decay

    Relies on forgetting what is not rehearsed.
    """
    optimizer = Optimizer(lr=lr, momentum=momentum, weight_decay=weight_decay)
    # (1) train on with the retain set, and keep the last state
    phase = Phase(data=data.retain, batch_size=batch_size)
    return fit(model, [phase], run, epochs=epochs, optimizer=optimizer)
