"""Contrastive unlearning: forgotten samples are pushed from their class and pulled to the others in
feature space.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from mucore.engine.batch import Batch
from mucore.engine.data import Repeated, UnlearningData
from mucore.engine.features import features_and_logits
from mucore.engine.loop import BatchNorm, Optimizer, Phase, fit
from mucore.engine.predict import accuracy
from mucore.engine.run import Run


def contrastive(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    lr: float,
    epochs: int,
    temperature: float,
    lambda_unlearn: float,
    lambda_ce: float,
    repeats: int,
    momentum: float,
    batch_size: int,
    class_batch_size: int,
    push: Literal["paper", "code"],
    bn: BatchNorm,
) -> nn.Module:
    """
    Paper: Lee et al., Contrastive Unlearning: A Contrastive Approach to Machine Unlearning, IJCAI
        2025
    Code: Hongkyu-Lee/Contrastive-Unlearning core/trainer/unlearn/unlearn.py
    Reads: the retain set, the forget set, and the validation set for the stop rule
    Differs: features of the network as it is, normalised (the official one has a projection head);
        the stop rule reads validation data
    """
    classes = torch.tensor(data.leaving)
    held_out = (
        data.validation[torch.isin(data.validation.labels, classes)]
        if len(classes)
        else data.validation
    )

    # (1) one forward pass over a forget batch and a random retain batch; features on the unit
    #     sphere
    def loss(model: nn.Module, forget: Batch, retain: Batch) -> Tensor:
        features, logits = features_and_logits(model, torch.cat([forget.x, retain.x]))
        u, v = nn.functional.normalize(features, dim=1).split([len(forget), len(retain)])
        # (2) λ_UL · contrastive loss of the forgotten samples + λ_CE · cross-entropy of the
        #     retained ones
        unlearn = unlearning_loss(u, v, forget.y, retain.y, temperature=temperature, push=push)
        return lambda_unlearn * unlearn + lambda_ce * nn.functional.cross_entropy(
            logits[len(forget) :], retain.y
        )

    # (3) until forgotten samples do no better than held-out ones, or held-out samples of forgotten
    #     classes no better than chance
    def stop(model: nn.Module, epoch: int) -> str | None:
        unseen = accuracy(model, held_out, run)
        reached, limit = (
            (unseen, 1 / data.classes)
            if len(classes)
            else (accuracy(model, data.forget, run), unseen)
        )
        return (
            f"accuracy {reached:.3f} is at most {limit:.3f} after epoch {epoch + 1}"
            if reached <= limit
            else None
        )

    # (4) each forget batch meets several retain batches
    size = class_batch_size if len(classes) else batch_size
    phase = Phase(
        data=Repeated(data.forget, repeats), beside=data.retain, batch_size=size, loss=loss
    )
    return fit(
        model,
        [phase],
        run,
        epochs=epochs,
        optimizer=Optimizer(lr=lr, momentum=momentum),
        bn=bn,
        stop=stop,
    )


def unlearning_loss(
    u: Tensor,
    v: Tensor,
    y_u: Tensor,
    y_v: Tensor,
    *,
    temperature: float,
    push: Literal["paper", "code"],
) -> Tensor:
    """Mean over i of -mean of s_ik over other classes + log of the sum of exp(s_ik) over the own
    class; s = u · v / τ.

    `u` (n, d), `v` (m, d) of length one, labels (n,), (m,). A term over no sample is left out.
    `code` weights the second by m / |others|.
    """
    same = y_u.unsqueeze(1) == y_v
    s = (u.unsqueeze(1) * v).sum(2) / temperature
    others = (~same).sum(1)
    pull = s.masked_fill(same, 0.0).sum(1) / others.clamp(min=1)
    # A row without positives is filled with zeros before the logarithm: its gradient would be not a
    # number even where it is masked.
    positive = same.any(1)
    away = torch.logsumexp(s.masked_fill(~same & positive.unsqueeze(1), -torch.inf), 1)
    weight = len(y_v) / others.clamp(min=1) if push == "code" else torch.ones_like(away)
    return (torch.where(positive, weight * away, 0.0) - pull).mean()
