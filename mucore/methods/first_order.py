"""First-order influence update: one step along the gradients of what is to be forgotten."""

from __future__ import annotations

from torch import nn

from mucore.blocks.curvature import (
    Counterpart,
    Scope,
    counterpart_of,
    cross_entropy_sum,
    replacement_gradient,
    shift,
    weights_in,
)
from mucore.engine.data import UnlearningData
from mucore.engine.run import Run
from mucore.engine.state import is_finite


def first_order(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    tau: float,
    counterpart: Counterpart,
    steps: int,
    param_scope: Scope,
    batch_size: int,
) -> nn.Module:
    """
    Paper: Warnecke et al., Machine Unlearning of Features and Labels, NDSS 2023, first-order update
    Code: alewarne/MachineUnlearning Applications/Poisoning/unlearn/first_order.py (TensorFlow)
    Reads: the forget set
    Differs: all weights move; the samples to forget are the ones given, not training points that
        the model misclassifies

    Gradients are summed over samples, not averaged, so `tau` goes with the size of the forget set.
    Where the original fits the forget set perfectly its gradients vanish, and so does the step.
    """
    model.eval()
    weights = weights_in(model, param_scope)
    run.holds(weights)  # v
    # (1) Z̃, which takes the place of the forget set Z
    replaced = counterpart_of(counterpart, data, run)
    for step in range(steps):
        run.progress(f"step {step + 1} of {steps}", step / steps)
        # (2) v = the gradient summed over Z̃ minus that summed over Z; eval mode, plain images
        v = replacement_gradient(
            model,
            weights,
            data.forget,
            replaced,
            run,
            batch_size=batch_size,
            objective=cross_entropy_sum,
        )
        if not is_finite(v):
            reason = f"the gradient of step {step + 1} is not finite"
            run.mark("diverged", f"{reason}; the weights before it were kept")
            break
        run.diagnostics["gradient_norm"] = v.norm().item()
        # (3) one step: weights - tau · v
        shift(weights, v, -tau)
        run.stepped(model)
    return model
