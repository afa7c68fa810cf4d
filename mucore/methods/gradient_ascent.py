"""Gradient ascent on the forget set."""

from __future__ import annotations

import math

from torch import Tensor, nn

from mucore.blocks.stopping import moment
from mucore.engine.batch import Batch
from mucore.engine.data import UnlearningData
from mucore.engine.loop import BatchNorm, Optimizer, Phase, cross_entropy, fit
from mucore.engine.predict import mean_loss_from
from mucore.engine.run import Run


def gradient_ascent(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    lr: float,
    epochs: int,
    momentum: float,
    weight_decay: float,
    batch_size: int,
    stop_loss: float | None,
    grad_clip: float | None,
    bn: BatchNorm,
) -> nn.Module:
    """
    Paper: "NegGrad" of Golatkar et al., CVPR 2020; "GA" of Jia et al., Model Sparsity Can Simplify
        Machine Unlearning, NeurIPS 2023
    Code: OPTML-Group/Unlearn-Sparse unlearn/GA.py
    Reads: the forget set
    Differs: batch norm frozen, gradients clipped and a loss limit by default; the official code has
        none of them

    The loss has no upper bound and its gradient grows as the model errs, hence `stop_loss`: the
    mean forget loss, in multiples of chance level ln C (ln 2 for attributes), at which the ascent
    ends. It is measured in eval mode after each epoch, as part of the method: on every so many-th
    sample, and on all of them once these are at half the limit.
    """

    # (1) minimise the negated mean cross-entropy of the forget set
    def ascent(model: nn.Module, batch: Batch) -> Tensor:
        return -cross_entropy(model, batch)

    # (2) until the forget set is at `stop_loss`, or the epochs are over
    def at_limit(model: nn.Module, epoch: int) -> str | None:
        assert stop_loss is not None
        limit = stop_loss * math.log(data.options)
        mean = mean_loss_from(model, data.forget, run, limit)
        if mean is None:
            return None
        return f"the forget loss {mean:.3g} reached the limit {limit:.3g} {moment(epoch)}"

    optimizer = Optimizer(lr=lr, momentum=momentum, weight_decay=weight_decay, grad_clip=grad_clip)
    return fit(
        model,
        [Phase(data=data.forget, batch_size=batch_size, loss=ascent)],
        run,
        epochs=epochs,
        optimizer=optimizer,
        bn=bn,
        stop=at_limit if stop_loss is not None else None,
    )
