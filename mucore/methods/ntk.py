"""NTK scrubbing: the shift of the weights that forgetting would bring if the network were linear in them."""

from __future__ import annotations

from functools import partial
from typing import Literal

import torch
from torch import Tensor, nn

from mucore.engine import curvature
from mucore.engine.data import Mixture, Samples, UnlearningData
from mucore.engine.importance import add_noise, fisher_of_predictions, noise_variance
from mucore.engine.run import Run, state_bytes


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
    Paper: Golatkar et al., Forgetting Outside the Box, ECCV 2020, NTK scrubbing with the trapezium trick
    Code: AdityaGolatkar/SelectiveForgetting Forgetting.ipynb, cells 29 to 60
    Reads: the forget set, the retain set (or a random part), the initial weights
    Differs: no Jacobian is stored: (JJᵀ + c)⁻¹ is applied as (JᵀJ + c)⁻¹ by conjugate gradients; one solve gives the shift itself

    With A for D and for the retain set, w(A) = -(J_AᵀJ_A + |A| μ)⁻¹ J_Aᵀ r_A, where r are the residuals and J the Jacobian of the logits.
    """
    base = (data.record["initial"]().to(run.device) if linearise_at == "initial" else model).eval()
    weights = dict(base.named_parameters())
    retain = data.retain if retain_samples is None else curvature.pick(Mixture((data.retain,)), retain_samples, run).sets[0]
    objective = curvature.cross_entropy_sum if residual == "softmax" else curvature.squared_sum
    zero = torch.zeros_like(curvature.to_vector(weights.values()))
    run.scratch(8 * state_bytes([zero]))

    def slope(samples: Samples) -> Tensor:  # Jᵀ r
        return curvature.total_over(samples, run, batch_size, lambda b: curvature.gradient(base, weights, b, objective), zero)

    def kernel(samples: Samples | Mixture, q: Tensor) -> Tensor:  # (JᵀJ + |A| μ) q
        product = partial(curvature.gauss_newton_product, base, weights, vector=q, inner=curvature.no_curvature)
        return curvature.total_over(samples, run, batch_size, product, zero) + len(samples) * mu * q

    # (1) w(D), the weights that a linear network would learn from all samples
    everything, forgotten = Mixture((retain, data.forget)), slope(data.forget)
    solve = partial(curvature.conjugate_gradients, iterations=iterations, tolerance=tolerance)
    tell = curvature.told(run, 2 * iterations)  # of both solutions together
    whole = solve(tell(partial(kernel, everything)), -(slope(retain) + forgotten))
    # (2) δ = w(retain) - w(D): subtract the equation of one from that of the other, then solve for the difference
    shift = solve(tell(partial(kernel, retain)), forgotten + kernel(data.forget, whole.x))
    run.diagnostics |= {"residual_all": whole.residual, "residual_shift": shift.residual, "shift_norm": shift.x.norm().item()}
    if not (whole.finite and shift.finite):
        run.status, run.stop_reason = "diverged", "the linear network's shift is not finite; the original's weights were left as they are"
        return model.eval()
    if not (whole.converged and shift.converged):
        run.note(f"the solves ended at residuals of {whole.residual:.2g} and {shift.residual:.2g}, not {tolerance:g}: the shift is rough")
    # (3) κ of the trapezium: δ as the true weights, further away than a linear network's, would need it
    if scale == "trapezium" and shift.x.any():
        start = curvature.to_vector(data.record["initial"]().to(run.device).parameters())
        moved = curvature.to_vector(model.parameters()).detach() - start.detach()
        error = moved - whole.x - shift.x
        kappa = 1 + 2 * abs(float(shift.x @ error)) / float(shift.x @ shift.x)
    run.diagnostics["kappa"] = kappa
    # (4) weights + κ δ, and the noise of Fisher forgetting on top if asked for
    curvature.shift(dict(model.named_parameters()), shift.x, kappa)
    if noise > 0:
        information = fisher_of_predictions(model, retain, run, batch_size=batch_size)
        add_noise(model, noise_variance(model, information, alpha=noise, power=0.5, forgotten=()), run.rng("noise"))
    return model.eval()
