"""NTK scrubbing: shift the weights as forgetting would if the network were linear in them."""

from __future__ import annotations

from typing import Literal

from torch import nn

from mucore.blocks import curvature
from mucore.blocks.importance import add_noise, noise_variance
from mucore.blocks.linearised import Linearised
from mucore.blocks.prediction_fisher import fisher_of_predictions
from mucore.engine.data import Mixture, UnlearningData
from mucore.engine.run import Run
from mucore.engine.state import is_finite


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
    # (1) the network as it is, or as it began, and r: the derivative of its loss by each logit
    base = model
    if linearise_at == "initial":
        base = data.record["initial"]().to(run.device)
    network = Linearised(base.eval(), dict(base.named_parameters()), run, batch_size)
    retain = data.retain
    if retain_samples is not None:
        retain = curvature.pick(Mixture((retain,)), retain_samples, run).sets[0]
    everything = Mixture((retain, data.forget))
    softmax = residual == "softmax"
    objective = curvature.cross_entropy_sum if softmax else curvature.squared_sum
    r = network.residuals(everything, objective)
    if not is_finite(r):
        return run.give_up(model, "the original's predictions are not finite")
    # (2) α of D and of the retain set, whose rows come first
    whole, rest = network.solve(
        retain, data.forget, r, mu=mu, iterations=iterations, tolerance=tolerance
    )
    run.diagnostics |= {"residual_all": whole.residual, "residual_retain": rest.residual}
    # (3) δ = w(retain) - w(D)
    change = whole.x.clone()
    change[: len(rest.x)] -= rest.x
    shift = network.transposed(everything, change)
    run.diagnostics["shift_norm"] = shift.norm().item()
    if not is_finite(shift):
        return run.give_up(model, "the linear network's shift is not finite")
    if not (whole.converged and rest.converged):
        run.mark(
            "unsolved",
            f"the two systems were left at residuals of {whole.residual:.2g} and "
            f"{rest.residual:.2g}, above the tolerance of {tolerance:g}",
        )
    # (4) κ of the trapezium: δ as the true weights, further away than a linear network's, would
    #     need it
    if scale == "trapezium" and shift.any():
        initial = curvature.to_vector(data.record["initial"]().to(run.device).parameters())
        moved = curvature.to_vector(model.parameters()).detach() - initial.detach()
        learned = shift - network.transposed(everything, whole.x)  # w(retain)
        kappa = 1 + 2 * abs(float(shift @ (moved - learned))) / float(shift @ shift)
    run.diagnostics["kappa"] = kappa
    # (5) weights + κ δ, and the noise of Fisher forgetting on top if asked for
    curvature.shift(dict(model.named_parameters()), shift, kappa)
    if noise > 0:
        information = fisher_of_predictions(model, retain, run, batch_size=batch_size)
        variance = noise_variance(model, information, alpha=noise, power=0.5, forgotten=())
        add_noise(model, variance, run.rng("noise"))
    return model.eval()
