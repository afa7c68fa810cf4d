"""Second-order influence update: a Newton step to the sum of losses without the forget set."""

from __future__ import annotations

from typing import Literal

from torch import nn

from mucore.blocks import curvature, solvers
from mucore.blocks.curvature import Counterpart, Scope, replacement_gradient, weights_in
from mucore.blocks.inverse_hessian import inverse_times
from mucore.engine.data import Mixture, UnlearningData
from mucore.engine.run import Run
from mucore.engine.state import is_finite


def second_order(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    zeta: float,
    solver: Literal["lissa", "cg_ggn", "cg_hessian"],
    damping: float,
    scale: float,
    iterations: int | None,
    patience: int,
    repetitions: int,
    hvp_samples: int,
    hvp_batch_size: int,
    hessian_scale: Literal["exact", "batch_sum"],
    counterpart: Counterpart,
    steps: int,
    param_scope: Scope,
) -> nn.Module:
    """
    Paper: Warnecke et al., Machine Unlearning of Features and Labels, NDSS 2023, second-order
        update
    Code: alewarne/MachineUnlearning Applications/Poisoning/unlearn/second_order.py (TensorFlow)
    Reads: the forget set and the retain set
    Differs: all weights move; the Hessian is that of the sum of losses, not of a batch; conjugate
        gradients beside LiSSA

    Exact at the minimum of a quadratic loss. The Hessian belongs to the corrected data: the retain
    set and what replaces the forget set.
    """
    model.eval()
    weights = weights_in(model, param_scope)
    run.holds(weights, copies=6)
    replaced = curvature.counterpart_of(counterpart, data, run)
    corrected = Mixture((data.retain, replaced))
    # The regulariser belongs to the sum of losses over all of the training set, forget set
    # included.
    ridge = data.recipe.weight_decay * (len(data.retain) + len(data.forget)) / len(corrected)
    objective = curvature.cross_entropy_sum
    for step in range(steps):
        # (1) v = the gradient summed over what replaces the forget set, minus that summed over the
        #     forget set
        v = replacement_gradient(
            model,
            weights,
            data.forget,
            replaced,
            run,
            batch_size=hvp_batch_size,
            objective=objective,
        )
        if is_finite(v) and not v.any():
            break
        # (2) x = (mean Hessian + damping)⁻¹ v
        found = inverse_times(
            model,
            weights,
            corrected,
            v,
            run,
            objective=objective,
            solver=solver,
            damping=damping,
            ridge=ridge,
            scale=scale,
            iterations=iterations,
            patience=patience,
            repetitions=repetitions,
            samples=hvp_samples,
            batch_size=hvp_batch_size,
        )
        run.diagnostics |= {
            "solver_iterations": found.iterations,
            "solver_residual": found.residual,
        }
        # No iterate of a series was better than no step at all. Conjugate gradients lower the
        # quadratic model at any residual.
        useless = solver == "lissa" and not found.residual <= 1
        if useless or not is_finite(found.x):
            reason = f"{solver} diverged in step {step + 1}; the weights before it were kept"
            run.mark("diverged", reason)
            break
        if not found.converged:
            run.mark(
                "unsolved",
                f"{solver} ended step {step + 1} at a residual of {found.residual:.2g} of the "
                f"gradient, above the tolerance of {solvers.TOLERANCE:g}: it is not the inverse "
                "Hessian's",
            )
        # (3) one step: the sum of losses has a Hessian N times the mean's
        n = len(corrected) if hessian_scale == "exact" else hvp_batch_size
        curvature.shift(weights, found.x, -zeta / n)
        run.stepped(model)
    return model
