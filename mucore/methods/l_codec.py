"""L-CODEC: a Newton step for each forgotten sample, on the few weights that its loss depends on."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from mucore.blocks.channels import Channels, add, gather, put, taken
from mucore.blocks.foci import foci
from mucore.blocks.subset_newton import (
    gradient,
    gradient_at,
    newton_step,
    noise_deviation,
    official_damping,
    secant,
    step_ahead,
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
        update; no mixed-up gradients (module names); upstream uses one sampled gradient twice
    """
    model.eval()
    channels = Channels(model)
    weights = dict(model.named_parameters())
    record = data.record["final_epochs"]
    run.persistent(record)
    before = named(record, "gradient_before")
    last = named(record, "gradient_last")
    weights_before = named(record, "weights_before")
    start: dict[str, Tensor] = {}  # the original's own of what has changed since
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
        run.count_reads("perturbed", perturbations * len(batch), backward=False)
        losses, values = channels.perturbed(
            batch, run, run.rng(f"perturb/{first}"), count=perturbations, noise=input_noise
        )
        here = gradient(model, batch)
        if not is_finite(losses, here):
            reason = f"the loss or its gradient was not finite at update {number + 1}"
            run.mark("diverged", f"{reason}, which was left out")
            break
        rows = channels.rows(foci(losses, values, cap, run, candidates=candidates))
        g = gather(here, rows)
        # (2) curvature of the training set along the last epoch, and of the samples along a step of
        #     gradient descent
        if curvature == "fisher":
            run.holds(here, start, values)
            a = gather(last, rows)
            b = g
        else:
            moved = gather(weights_before, rows) - gather(weights | start, rows)
            a = secant(gather(before, rows) - gather(last, rows), moved)
            there = step_ahead(model, here)
            run.count_reads("ahead", len(batch), backward=True)
            ahead = gradient_at(model, batch, there, rows)
            run.holds(there, ahead, start, values)
            b = secant(g - gather(ahead, rows), gather(weights, rows) - gather(there, rows))
        # (3) w += H⁻¹ g · removed / left, and noise
        change = newton_step(g, a, b, removed=len(batch), n=n, damping=damping)
        noise = torch.randn(len(g), generator=run.rng(f"noise/{first}"), dtype=g.dtype)
        start |= {name: weights[name].detach().clone() for name in rows.keys() - start.keys()}
        saved = taken(weights, rows)
        add(weights, rows, change + sigma * noise)
        # (4) undone where the validation accuracy fell by more than `val_gap`
        reached = accuracy(model, check, run)
        if trusted - reached > val_gap:
            put(weights, rows, saved)
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
