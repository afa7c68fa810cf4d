"""Contrastive unlearning: push forgotten samples from their class and pull them to the others."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from mucore.blocks.stopping import moment
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
    class_wise = bool(data.leaving)
    held_out = data.validation
    if class_wise:
        held_out = held_out[torch.isin(held_out.labels, torch.tensor(data.leaving))]

    # (1) one forward pass over a forget batch and a random retain batch; features on the unit
    #     sphere
    def loss(model: nn.Module, forget: Batch, retain: Batch) -> Tensor:
        features, logits = features_and_logits(model, torch.cat([forget.x, retain.x]))
        u, v = nn.functional.normalize(features, dim=1).split([len(forget), len(retain)])
        # (2) λ_UL · contrastive loss of the forgotten samples + λ_CE · cross-entropy of the
        #     retained ones
        unlearn = unlearning_loss(u, v, forget.y, retain.y, temperature=temperature, push=push)
        keep = nn.functional.cross_entropy(logits[len(forget) :], retain.y)
        return lambda_unlearn * unlearn + lambda_ce * keep

    # (3) until forgotten samples do no better than held-out ones, or held-out samples of forgotten
    #     classes no better than chance
    def stop(model: nn.Module, epoch: int) -> str | None:
        unseen = accuracy(model, held_out, run)
        if class_wise:
            reached, limit = unseen, 1 / data.classes
        else:
            reached, limit = accuracy(model, data.forget, run), unseen
        if reached <= limit:
            return f"accuracy {reached:.3f} is at most {limit:.3f} {moment(epoch)}"
        return None

    # (4) each forget batch meets several retain batches
    phase = Phase(
        data=Repeated(data.forget, repeats),
        beside=data.retain,
        batch_size=class_batch_size if class_wise else batch_size,
        loss=loss,
    )
    optimizer = Optimizer(lr=lr, momentum=momentum)
    return fit(model, [phase], run, epochs=epochs, optimizer=optimizer, bn=bn, stop=stop)


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
    with torch.autocast(u.device.type, enabled=False):
        s = u @ v.T / temperature
    others = (~same).sum(1)
    pull = s.masked_fill(same, 0.0).sum(1) / others.clamp(min=1)
    # A row without positives is filled with zeros before the logarithm: its gradient would be not a
    # number even where it is masked.
    positive = same.any(1)
    away = torch.logsumexp(s.masked_fill(~same & positive.unsqueeze(1), -torch.inf), 1)
    weight = len(y_v) / others.clamp(min=1) if push == "code" else torch.ones_like(away)
    return (torch.where(positive, weight * away, 0.0) - pull).mean()
