"""The gradients of First-order influence, multiplied by the inverse Hessian of the retain set: a
Newton step to where training without the forget set would end. Exact for a quadratic loss; next to
nothing for a deep network that fits everything.

Leaving out the forget set changes the training loss, and the inverse Hessian says how its minimum
moves in response. That Hessian, of the retain set and whatever replaces the forget set, is never
formed. Conjugate gradients use only products with vectors, by default those of the Gauss-Newton
matrix, which has no negative curvature and rests on samples near a boundary, read first. Weights
then move far where the retain loss is flat, as far as damping lets them, and little where it is
steep. LiSSA, the official code's series of products on random batches, is a choice that seldom
solves a deep network's system (status: unsolved). Many passes over retain data make it expensive.

Differs: All weights move, not the last six tensors; the Hessian is that of the sum of losses, not
of a batch; conjugate gradients on the Gauss-Newton matrix take the place of LiSSA, whose best
iterate counts, not its last. Above a residual of 1 % of the gradient the status is unsolved.
"""

from __future__ import annotations

from mucore.catalog.cards import EVERY_TASK, Among, Between, MethodCard
from mucore.catalog.methods.first_order import COUNTERPART, PARAM_SCOPE, TRUE_LABEL, UPDATES
from mucore.catalog.settings import batch, choice, integer, real

CARD = MethodCard(
    id="second_order",
    title="Second-order influence",
    family="influence",
    source="Warnecke et al., Machine Unlearning of Features and Labels, NDSS 2023",
    code="alewarne/MachineUnlearning Applications/Poisoning/unlearn/second_order.py",
    reads=frozenset({"retain", "forget"}),
    tasks=EVERY_TASK,
    parameters=(
        real("zeta", 1.0, 0.0, 1e6)("Multiplier of the step."),
        choice("solver", "cg_ggn", ("lissa", "cg_ggn", "cg_hessian"))(
            "Conjugate gradients on the Gauss-Newton matrix (never negative) or on the Hessian, "
            "or the official code's series."
        ),
        real("damping", 0.01953125, 1e-6, 100.0, log=True)(
            "Added to the Hessian of the mean loss. Official: 1e-4 · 2e5 on sums over batches of "
            "1024."
        ),
        real("scale", 195.3125, 1.0, 1e6, log=True)(
            "LiSSA only: more than half the largest eigenvalue of the Hessian. Official: 2e5 on "
            "sums over batches of 1024."
        ),
        integer("iterations", None, 1, 100_000, optional=True)(
            "Products at most, and where those that left samples out did not solve the system as "
            "many again; none: 50 for conjugate gradients, 100 passes over the data for LiSSA."
        ),
        integer("patience", 20, 1, 1000)(
            "LiSSA ends when its changes have not fallen for this long; its best iterate is taken."
        ),
        integer("repetitions", 1, 1, 20)("LiSSA runs whose mean is taken."),
        integer("hvp_samples", 5000, 1, 1_000_000, log=True)(
            "Conjugate gradients only: samples that stand for the Hessian, drawn once."
        ),
        batch(1024, "hvp_batch_size", "samples of a Hessian product"),
        choice("hessian_scale", "exact", ("exact", "batch_sum"))(
            "Invert the Hessian of the sum of losses, or of a batch's sum as the official code "
            "does: a step n/batch times larger."
        ),
        COUNTERPART,
        UPDATES,
        PARAM_SCOPE,
    ),
    search={
        "solver": Among(("cg_ggn", "cg_hessian")),
        "damping": Between(1e-3, 10.0, log=True),
        "zeta": Between(0.1, 100.0, log=True),
        "hvp_samples": Among((250, 500, 1000, 2000)),
        "iterations": Among((10, 20, 50, 100)),
    },
    scenario_values=TRUE_LABEL,
    not_confinable="its step is computed for the weights that param_scope names.",
    confinable_when={"param_scope": ("head",)},
    revision=2,
    aliases=("Second-order", "Second"),
)
