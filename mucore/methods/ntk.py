"""NTK scrubbing: the shift of the weights that forgetting would bring if the network were linear in
them.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import nn

from mucore.blocks import curvature
from mucore.blocks.importance import add_noise, fisher_of_predictions, noise_variance
from mucore.blocks.linearised import Linearised
from mucore.engine.data import Mixture, UnlearningData
from mucore.engine.run import Run


def ntk(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    mu: float,
    scale: Literal["trapezium", "fixed"],
    kappa: float,
    linearise_at: Literal["trained", "initial"],
    residual: Literal["softmax", "squared"],
    noise: float,
    retain_samples: int | None,
    iterations: int,
    tolerance: float,
    batch_size: int,
) -> nn.Module:
    """
    Paper: Golatkar et al., Forgetting Outside the Box, ECCV 2020, NTK scrubbing with the trapezium
        trick
    Code: AdityaGolatkar/SelectiveForgetting Forgetting.ipynb, cells 29 to 60
    Reads: the forget set, the retain set (or a random part), the initial weights
    Differs: the two systems of the kernel are solved by Cholesky where it is small, else by
        conjugate gradients without any Jacobian

    With A for D and for the retain set, w(A) = -J_Aᵀ α with (J_A J_Aᵀ + |A| μ) α = r_A, where r are
    the residuals and J the Jacobian of the logits: one equation for each logit of each sample.
    Residuals of these systems are what `tolerance` is about.
    """
    base = (data.record["initial"]().to(run.device) if linearise_at == "initial" else model).eval()
    weights = dict(base.named_parameters())
    retain = (
        data.retain
        if retain_samples is None
        else curvature.pick(Mixture((data.retain,)), retain_samples, run).sets[0]
    )
    everything, network = Mixture((retain, data.forget)), Linearised(base, weights, run, batch_size)
    r = network.residuals(
        everything, curvature.cross_entropy_sum if residual == "softmax" else curvature.squared_sum
    )
    if not torch.isfinite(r).all():
        run.status, run.stop_reason = (
            "diverged",
            "the original's predictions are not finite; its weights were left as they are",
        )
        return model.eval()
    # (1) α of D and of the retain set, whose rows come first
    whole, rest = network.solve(
        retain, data.forget, r, mu=mu, iterations=iterations, tolerance=tolerance
    )
    run.diagnostics |= {"residual_all": whole.residual, "residual_retain": rest.residual}
    # (2) δ = w(retain) - w(D)
    change = whole.x.clone()
    change[: len(rest.x)] -= rest.x
    shift = network.transposed(everything, change)
    run.diagnostics["shift_norm"] = shift.norm().item()
    if not torch.isfinite(shift).all():
        run.status, run.stop_reason = (
            "diverged",
            (
                "the linear network's shift is not finite; the original's weights were left as "
                "they are"
            ),
        )
        return model.eval()
    if not (whole.converged and rest.converged):
        run.status = "unsolved"
        residuals = f"{whole.residual:.2g} and {rest.residual:.2g}"
        run.stop_reason = (
            f"the two systems were left at residuals of {residuals}, above the "
            f"tolerance of {tolerance:g}"
        )
    # (3) κ of the trapezium: δ as the true weights, further away than a linear network's, would
    #     need it
    if scale == "trapezium" and shift.any():
        start = curvature.to_vector(data.record["initial"]().to(run.device).parameters())
        moved = curvature.to_vector(model.parameters()).detach() - start.detach()
        learned = shift - network.transposed(everything, whole.x)  # w(retain)
        kappa = 1 + 2 * abs(float(shift @ (moved - learned))) / float(shift @ shift)
    run.diagnostics["kappa"] = kappa
    # (4) weights + κ δ, and the noise of Fisher forgetting on top if asked for
    curvature.shift(dict(model.named_parameters()), shift, kappa)
    if noise > 0:
        information = fisher_of_predictions(model, retain, run, batch_size=batch_size)
        add_noise(
            model,
            noise_variance(model, information, alpha=noise, power=0.5, forgotten=()),
            run.rng("noise"),
        )
    return model.eval()
