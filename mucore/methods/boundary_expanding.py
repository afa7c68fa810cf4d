"""Boundary expanding: the forget set moves to a shadow class, which then disappears."""

from __future__ import annotations

import math

import torch
from torch import nn

from mucore.blocks.stopping import moment
from mucore.engine.data import UnlearningData
from mucore.engine.features import classifier_layer, replace_layer
from mucore.engine.loop import BatchNorm, Optimizer, Phase, fit
from mucore.engine.predict import logits_of
from mucore.engine.run import Run


def boundary_expanding(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    lr: float,
    epochs: int,
    momentum: float,
    weight_decay: float,
    batch_size: int,
    stop_share: float | None,
    bn: BatchNorm,
) -> nn.Module:
    """
    Paper: Chen et al., Boundary Unlearning: Rapid Forgetting of Deep Networks via Shifting the
        Decision Boundary, CVPR 2023
    Code: TY-LEE-KR/Boundary-Unlearning-Code boundary_unlearning.py (a mirror of the authors' code)
    Reads: the forget set
    Differs: batch norm frozen, and the end once nearly all of the forget set is in the shadow
        class; the official code has neither

    Labels are not used. The last rows of the wider layer are pruned at the end, so the network that
    comes back has the original's layers.
    """
    # (1) widen the last layer by one row, a shadow class with a fresh weight and no bias
    head = classifier_layer(model)
    shadow = head.out_features
    wide = widened(head, run.rng("init"))
    replace_layer(model, head, wide)
    run.holds(wide)

    # (2) cross-entropy of every forgotten sample with the shadow class
    def arrived(model: nn.Module, epoch: int) -> str | None:
        hits = 0
        for _, logits in logits_of(model, data.forget, run, batch_size):
            hits += int((logits.argmax(1) == shadow).sum())
        share = hits / len(data.forget)
        run.diagnostics["shadow_share"] = share
        if stop_share is not None and share >= stop_share:
            return f"{share:.3f} of the forget set was in the shadow class {moment(epoch)}"
        return None

    relabelled = data.forget.with_labels(torch.full((len(data.forget),), shadow))
    phase = Phase(data=relabelled, batch_size=batch_size)
    optimizer = Optimizer(lr=lr, momentum=momentum, weight_decay=weight_decay)
    fit(
        model,
        [phase],
        run,
        epochs=epochs,
        optimizer=optimizer,
        bn=bn,
        stop=arrived if stop_share is not None else None,
    )
    # (3) prune the shadow class
    with torch.no_grad():
        head.weight.copy_(wide.weight[:shadow])
        if head.bias is not None:
            head.bias.copy_(wide.bias[:shadow])
    replace_layer(model, wide, head)
    return model.eval()


def widened(head: nn.Linear, generator: torch.Generator) -> nn.Linear:
    """The layer with one more row: bias zero, weight Xavier-normal as for the whole wide layer."""
    rows, width = head.out_features + 1, head.in_features
    wide = nn.utils.skip_init(
        nn.Linear,
        width,
        rows,
        bias=head.bias is not None,
        device=head.weight.device,
        dtype=head.weight.dtype,
    )
    with torch.no_grad():
        fresh = torch.randn(1, width, generator=generator) * math.sqrt(2 / (rows + width))
        wide.weight.copy_(torch.cat([head.weight, fresh.to(head.weight)]))
        if head.bias is not None:
            wide.bias.copy_(torch.cat([head.bias, torch.zeros(1).to(head.bias)]))
    return wide
