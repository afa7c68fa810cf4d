"""Random labels: train on with wrong labels for the forget set."""

from __future__ import annotations

from typing import Literal

from torch import nn

from mucore.blocks.labels import draw_labels, random_label_loss
from mucore.engine.data import Mixture, UnlearningData
from mucore.engine.loop import Optimizer, Phase, fit
from mucore.engine.run import Run


def random_labels(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    lr: float,
    epochs: int,
    momentum: float,
    weight_decay: float,
    batch_size: int,
    mode: Literal["sequential", "mixed_fixed", "mixed_fresh", "forget_only"],
) -> nn.Module:
    """
    Paper: Graves et al., Amnesiac Machine Learning, AAAI 2021 ("unlearning"); baseline of Golatkar
        et al., CVPR 2020
    Code: OPTML-Group/Unlearn-Saliency Classification/unlearn/RL.py without mask;
        vikram2000b/bad-teaching-unlearning for mixed_fixed
    Reads: the forget set; the retain set except in mode forget_only
    Differs: in the mixed modes of class-wise scenarios no label is a forgotten class

    `sequential` and `forget_only` draw from all classes, the true one too, as the official code
    does; the mixed modes draw a wrong one.
    """
    # (1) give the forget set other labels: once for the run, or anew each time a sample comes up
    if mode == "mixed_fixed":
        wrong = draw_labels(data, data.forget.labels, run, "others")
        mixture = Mixture((data.forget.with_labels(wrong), data.retain))
        phases = [Phase(data=mixture, batch_size=batch_size)]
    elif mode == "mixed_fresh":
        mixture = Mixture((data.forget, data.retain))
        fresh = random_label_loss(data, run, "others")
        phases = [Phase(data=mixture, batch_size=batch_size, loss=fresh)]
    else:
        fresh = random_label_loss(data, run, "all")
        phases = [Phase(data=data.forget, batch_size=batch_size, loss=fresh)]
    # (2) repair with a pass over the retain set after each forget pass
    if mode == "sequential":
        phases.append(Phase(data=data.retain, batch_size=batch_size))
    optimizer = Optimizer(lr=lr, momentum=momentum, weight_decay=weight_decay)
    return fit(model, phases, run, epochs=epochs, optimizer=optimizer)
