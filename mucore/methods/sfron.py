"""SFRon: masked, weighted ascent on the forget set, followed by descent on the retain set."""

from __future__ import annotations

import math
from typing import Literal

from torch import Tensor, nn

from mucore.blocks.importance import GRADIENTS_NOT_FINITE, fisher_of_batches
from mucore.blocks.masks import density, mask_grads
from mucore.blocks.slow_weights import SlowWeights
from mucore.engine.batch import Batch
from mucore.engine.data import UnlearningData, windows
from mucore.engine.loop import Optimizer, Phase, fit
from mucore.engine.losses import cross_entropy, inverse_loss_weights
from mucore.engine.run import Run
from mucore.engine.state import is_finite


def sfron(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    lr: float,
    iterations: int,
    every: int,
    alpha: float,
    lam: float,
    gamma: float,
    beta: float,
    optimizer: Literal["sgd", "adamw"],
    momentum: float,
    weight_decay: float,
    grad_clip: float | None,
    batch_size: int,
) -> nn.Module:
    """
    Paper: Huang et al., Unified Gradient-Based Machine Unlearning with Remain Geometry Enhancement,
        NeurIPS 2024
    Code: K1nght/Unified-Unlearning-w-Remain-Geometry Classification/unlearn/sfron.py
    Reads: the forget set and the retain set
    Differs: batches come from endless shuffled streams, so all have the same size; the rate's
        cosine counts forget steps as well, which changes the weights by 1.9 % of their move

    An iteration is a step on the retain set; every `every`-th begins with a step on the forget set.
    They share the optimiser's momentum.
    """
    # (1) mask: the weights at least `gamma` times as important to the forget set as to the retain
    #     set
    forget = fisher_of_batches(model, data.forget, run, batch_size=batch_size)
    retain = fisher_of_batches(model, data.retain, run, batch_size=batch_size)
    if not is_finite(forget, retain):
        return run.give_up(model, GRADIENTS_NOT_FINITE)
    run.holds(forget, retain)
    masks = {  # which frees the sums on the way
        name: forget.pop(name).add_(1e-15).div_(retain.pop(name).add_(1e-15)) >= gamma
        for name in list(forget)
    }
    run.diagnostics["mask_density"] = density(masks)

    done = 0  # steps; the first of each round is the forget step

    def forgetting() -> bool:
        return done % (every + 1) == 0

    # (2) forget step: minus a_k Σ w_i l_i, its gradient masked and clipped; a_k falls from `alpha`
    #     to 0 along a cosine
    def ascent(model: nn.Module, batch: Batch) -> Tensor:
        share = done // (every + 1) * every / iterations
        a = alpha * (1 + math.cos(math.pi * share)) / 2
        losses = cross_entropy(model(batch.x), batch.y, reduction="none")
        return -a * (inverse_loss_weights(losses, lam) * losses).sum()

    def mask_and_clip(model: nn.Module) -> None:
        if forgetting():
            mask_grads(model, masks)
            if grad_clip is not None:
                nn.utils.clip_grad_norm_(model.parameters(), grad_clip)

    # (3) retain step: cross-entropy; then the slow weights take the share `beta` of the way
    slow = SlowWeights(model, beta)
    run.holds(masks, slow.slow)

    def after_step(model: nn.Module) -> None:
        nonlocal done
        if not forgetting():
            slow.step(model)
        done += 1

    # (4) rounds of one forget batch and `every` retain batches, the rate falling along a cosine
    rounds = math.ceil(iterations / every)
    size = min(batch_size, len(data.forget))
    forget_set = windows(data.forget, run, size, rounds * size)
    retain_set = windows(data.retain, run, every * batch_size, iterations * batch_size)
    phases = [
        Phase(data=forget_set, batch_size=batch_size, loss=ascent),
        Phase(data=retain_set, batch_size=batch_size),
    ]
    settings = Optimizer(
        lr=lr, name=optimizer, momentum=momentum, weight_decay=weight_decay, schedule="cosine"
    )
    return fit(
        model,
        phases,
        run,
        epochs=rounds,
        optimizer=settings,
        edit_grads=mask_and_clip,
        after_step=after_step,
    )
