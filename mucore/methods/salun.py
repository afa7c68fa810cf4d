"""SalUn: random labels, moving only the weights that the forget loss is most sensitive to."""

from __future__ import annotations

from typing import Literal

from torch import nn

from mucore.blocks.importance import saliency
from mucore.blocks.labels import Pool, random_label_loss
from mucore.blocks.masks import MaskedStep, top_fraction
from mucore.blocks.masks import density as share_of
from mucore.engine.data import Mixture, UnlearningData
from mucore.engine.loop import Optimizer, Phase, fit
from mucore.engine.run import Run


def salun(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    lr: float,
    epochs: int,
    density: float,
    momentum: float,
    weight_decay: float,
    batch_size: int,
    label_pool: Pool,
    mode: Literal["sequential", "mixed"],
) -> nn.Module:
    """
    Paper: Fan et al., SalUn: Empowering Machine Unlearning via Gradient-based Weight Saliency, ICLR
        2024, equations 3 to 5
    Code: OPTML-Group/Unlearn-Saliency Classification/generate_mask.py and unlearn/RL.py
    Reads: the forget set and the retain set
    Differs: the mask comes from images without augmentation; weights outside it stay bit-identical
        under weight decay and momentum

    Batch-norm statistics are no weights: they move.
    """
    # (1) mask: the share `density` of all weights with the largest |gradient of the forget loss|,
    #     ranked over the whole network
    masks = top_fraction(saliency(model, data.forget, run, batch_size=batch_size), density)
    masked = MaskedStep(model, masks)
    run.holds(masked.masks, masked.anchor)
    run.diagnostics["mask_density"] = share_of(masks)
    # (2) random labels for the forget set, true ones for the retain set; weight 1 between the two
    #     losses
    relabelled = random_label_loss(data, run, label_pool)
    if mode == "sequential":
        phases = [
            Phase(data=data.forget, batch_size=batch_size, loss=relabelled),
            Phase(data=data.retain, batch_size=batch_size),
        ]
    else:
        mixture = Mixture((data.forget, data.retain))
        phases = [Phase(data=mixture, batch_size=batch_size, loss=relabelled)]
    # (3) every step moves the weights under the mask alone
    return fit(
        model,
        phases,
        run,
        epochs=epochs,
        optimizer=Optimizer(lr=lr, momentum=momentum, weight_decay=weight_decay),
        edit_grads=masked.edit_grads,
        after_step=masked.after_step,
    )
