"""L-CODEC: a Newton step for each forgotten sample, on the few weights that its loss depends on."""

from __future__ import annotations

from typing import Literal

import torch
from torch import nn

from mucore.blocks.channels import Slots, add, gather
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
from mucore.engine.run import Run, state_bytes
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
    Differs: slots, candidates and validation samples are capped; a group of samples is one update;
        no mixed-up gradients (module names)
    """
    record, slots, weights = (
        data.record["final_epochs"],
        Slots(model.eval()),
        dict(model.named_parameters()),
    )
    run.persistent(state_bytes(record.values()))
    run.scratch(2 * state_bytes(weights.values()))
    before, last = named(record, "gradient_before"), named(record, "gradient_last")
    moved = {
        name: old - weights[name].detach().cpu()
        for name, old in named(record, "weights_before").items()
    }
    check = data.validation[
        torch.randperm(len(data.validation), generator=run.rng("subset"))[:validation_samples]
    ]
    trusted, undone, total, n = (
        accuracy(model, check, run),
        0,
        data.forget.steps(group),
        len(data.forget) + len(data.retain),
    )
    damping = official_damping(n) if l2_reg is None else l2_reg
    sigma = noise_deviation(n, damping, epsilon, delta) if epsilon else 0.0
    for number, batch in enumerate(data.forget.batches(run, group, backward=True)):
        run.progress(f"update {number + 1} of {total}", number / total)
        # (1) the slots that the loss depends on when the images are perturbed, and the rows of
        #     weights behind them
        losses, values = slots.perturbed(
            batch, run.rng(f"perturb/{int(batch.ids[0])}"), count=perturbations, noise=input_noise
        )
        here, ahead, step = gradients_ahead(model, batch)
        if not (losses.isfinite().all() and all(g.isfinite().all() for g in here.values())):
            run.status, run.stop_reason = (
                "diverged",
                (
                    f"the loss or its gradient was not finite at update {number + 1}, which was "
                    "left out"
                ),
            )
            break
        g = gather(here, rows := slots.rows(foci(losses, values, cap, candidates=candidates)))
        # (2) curvature of the training set along the last epoch, and of the samples along a step of
        #     gradient descent
        if curvature == "fisher":
            a, b = gather(last, rows), g
        else:
            a, b = (
                secant(gather(x, rows) - gather(y, rows), gather(z, rows))
                for x, y, z in ((before, last, moved), (here, ahead, step))
            )
        # (3) w += H⁻¹ g · removed / left, and noise
        change = newton_step(g, a, b, removed=len(batch), n=n, damping=damping)
        change += sigma * torch.randn(
            len(g), generator=run.rng(f"noise/{int(batch.ids[0])}"), dtype=g.dtype
        )
        saved = {name: weights[name].detach().clone() for name in rows}
        add(weights, rows, change)
        # (4) undone where the validation accuracy fell by more than `val_gap`
        if trusted - (now := accuracy(model, check, run)) > val_gap:
            undone += 1
            model.load_state_dict(saved, strict=False)
        else:
            trusted = now
    if run.status == "ok" and 0 < undone == total:
        run.status, run.stop_reason = (
            "reverted",
            "every update cost validation accuracy and was undone, so this is the original",
        )
    run.diagnostics |= {
        "undone_share": undone / max(total, 1),
        "noise_deviation": sigma,
        "damping": damping,
    }
    return model.eval()
