"""L2UL: ascent on the forget set; adversarial images and weight importance hold the rest."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from mucore.blocks.adversarial import made_samples, targeted_adversarial
from mucore.blocks.importance import GRADIENTS_NOT_FINITE, output_sensitivity, unimportance
from mucore.blocks.labels import draw_labels
from mucore.blocks.stopping import moment
from mucore.engine.batch import Batch
from mucore.engine.data import UnlearningData, windows
from mucore.engine.loop import BatchNorm, Optimizer, Phase, fit
from mucore.engine.losses import descent_and_ascent
from mucore.engine.predict import accuracy_between
from mucore.engine.run import Run
from mucore.engine.state import copy_state, is_finite


def l2ul(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    lr: float,
    iterations: int,
    momentum: float,
    weight_decay: float,
    batch_size: int,
    adversarial_batch_size: int,
    copies: int,
    radius: float,
    attack_step: float,
    attack_steps: int,
    reg_lambda: float,
    bn: BatchNorm,
) -> nn.Module:
    """
    Paper: Cha et al., Learning to Unlearn: Instance-wise Unlearning for Pre-trained Classifiers,
        AAAI 2024
    Code: csm9493/L2UL main_unlearn_cifar10_mixed_label_resnet18.py and utils.py
    Reads: the forget set
    Differs: the importance is the paper's, of the squared norm in eval mode (official: of the norm,
        in training mode); forget batches are drawn, not cycled; a number of steps ends it at last
    """
    # (1) `copies` adversarial images of each forgotten one, each towards another class, drawn
    each = torch.arange(len(data.forget)).repeat_interleave(copies)
    wanted = data.forget[each]
    wanted = wanted.with_labels(draw_labels(data, wanted.labels, run, "others"))
    with run.share(0, 0.5):
        pixels = targeted_adversarial(
            model,
            wanted,
            run,
            radius=radius,
            step=attack_step,
            steps=attack_steps,
            batch_size=adversarial_batch_size,
        )
    adversarial = made_samples(
        data.forget.images, pixels.to(run.device), wanted.labels, "adversarial", overwrite=True
    )
    # (2) weights that matter least to the forget set are held most, layer by layer
    importance = output_sensitivity(model, data.forget, run, batch_size=batch_size)
    if not is_finite(importance):
        return run.give_up(model, GRADIENTS_NOT_FINITE)
    held, start = unimportance(importance), copy_state(model)
    run.holds(pixels, held, start)

    # (3) loss: CE of adversarial images under their classes − CE of forgotten ones, each by its
    #     share of the samples
    def loss(model: nn.Module, adversarial: Batch, forget: Batch) -> Tensor:
        share = len(forget) / (len(adversarial) + len(forget))
        descent, ascent = descent_and_ascent(model, adversarial, forget, together=False)
        return (1 - share) * descent - share * ascent

    # (4) and λ/2 Σ held · (θ − θ₀)², by its gradient
    def pull_back(model: nn.Module) -> None:
        for name, p in model.named_parameters():
            if p.grad is not None:
                p.grad += reg_lambda * held[name] * (p.detach() - start[name])

    # (5) step by step, until no forgotten sample has its label
    def gone(model: nn.Module, step: int) -> str | None:
        right = accuracy_between(model, data.forget, run, below=math.ulp(0))
        return None if right is None else f"no forgotten sample had its label {moment(step)}"

    size = min(adversarial_batch_size, len(adversarial))
    phase = Phase(
        data=windows(adversarial, run, size, iterations * size),
        batch_size=size,
        beside=data.forget,
        beside_batch_size=batch_size,
        loss=loss,
        augment=False,
    )
    optimizer = Optimizer(lr=lr, momentum=momentum, weight_decay=weight_decay)
    with run.share(0.5, 1):
        return fit(
            model,
            [phase],
            run,
            epochs=iterations,
            optimizer=optimizer,
            bn=bn,
            edit_grads=pull_back,
            stop=gone,
        )
