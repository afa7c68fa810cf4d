"""L-CODEC: a Newton step for each forgotten sample, on the few weights that its loss depends on."""

from __future__ import annotations

from typing import Literal

import torch
from torch import nn

from mucore.blocks.channels import Channels, add, gather
from mucore.blocks.foci import foci
from mucore.blocks.subset_newton import (
    gradients_ahead,
    newton_step,
    noise_deviation,
    official_damping,
    secant,
)
from mucore.engine.data import UnlearningData
from mucore.engine.predict import accuracy
from mucore.engine.run import Run
from mucore.engine.state import is_finite
from mucore.training.records import named


def l_codec(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    l2_reg: float | None,
    perturbations: int,
    input_noise: float,
    cap: int,
    candidates: int | None,
    group: int,
    curvature: Literal["finite_difference", "fisher"],
    epsilon: float | None,
    delta: float,
    val_gap: float,
    validation_samples: int,
) -> nn.Module:
    """
    Paper: Mehta et al., Deep Unlearning via Randomized Conditionally Independent Hessians, CVPR
        2022
    Code: vsingh-group/LCODEC-deep-unlearning codec/, scrub/scrub_tools.py, scrub/grad_utils.py
    Reads: gradients and weights of the last two epochs, recorded; the forget set; a part of the
        validation set
    Differs: channels, candidates and validation samples are capped; a group of samples is one
        update; no mixed-up gradients (module names)
    """
    model.eval()
    channels = Channels(model)
    weights = dict(model.named_parameters())
    run.holds(weights, copies=2)
    record = data.record["final_epochs"]
    run.persistent(record)
    before = named(record, "gradient_before")
    last = named(record, "gradient_last")
    moved = {
        name: old - weights[name].detach().cpu()
        for name, old in named(record, "weights_before").items()
    }
    n = len(data.forget) + len(data.retain)
    damping = official_damping(n) if l2_reg is None else l2_reg
    sigma = noise_deviation(n, damping, epsilon, delta) if epsilon else 0.0

    check = data.validation.draw(validation_samples, run.rng("subset"))
    trusted = accuracy(model, check, run)
    undone = 0
    updates = data.forget.steps(group)
    for number, batch in enumerate(data.forget.batches(run, group, backward=True)):
        run.progress(f"update {number + 1} of {updates}", number / updates)
        first = int(batch.ids[0])
        # (1) the channels that the loss depends on when the images are perturbed, and the rows of
        #     weights behind them
        losses, values = channels.perturbed(
            batch, run.rng(f"perturb/{first}"), count=perturbations, noise=input_noise
        )
        here, ahead, step = gradients_ahead(model, batch)
        if not is_finite(losses, here):
            reason = f"the loss or its gradient was not finite at update {number + 1}"
            run.mark("diverged", f"{reason}, which was left out")
            break
        rows = channels.rows(foci(losses, values, cap, candidates=candidates))
        g = gather(here, rows)
        # (2) curvature of the training set along the last epoch, and of the samples along a step of
        #     gradient descent
        if curvature == "fisher":
            a = gather(last, rows)
            b = g
        else:
            a = secant(gather(before, rows) - gather(last, rows), gather(moved, rows))
            b = secant(g - gather(ahead, rows), gather(step, rows))
        # (3) w += H⁻¹ g · removed / left, and noise
        change = newton_step(g, a, b, removed=len(batch), n=n, damping=damping)
        noise = torch.randn(len(g), generator=run.rng(f"noise/{first}"), dtype=g.dtype)
        saved = {name: weights[name].detach().clone() for name in rows}
        add(weights, rows, change + sigma * noise)
        # (4) undone where the validation accuracy fell by more than `val_gap`
        reached = accuracy(model, check, run)
        if trusted - reached > val_gap:
            model.load_state_dict(saved, strict=False)
            undone += 1
        else:
            trusted = reached

    if run.status == "ok" and 0 < undone == updates:
        reason = "every update cost validation accuracy and was undone, so this is the original"
        run.mark("reverted", reason)
    run.diagnostics |= {
        "undone_share": undone / max(updates, 1),
        "noise_deviation": sigma,
        "damping": damping,
    }
    return model.eval()
