"""Retaining and forgetting, the latter as random labels on the forget set, bargain over each step:
it goes along the bisector of their gradients, whatever their sizes. When the forget set is used up,
the epoch ends with plain steps on the retain set.

Starting from the original, each step takes two gradients: of the loss on a retain batch, and of
that on a forget batch under random labels. The Nash bargaining solution weighs them so that each
loss falls, to first order, in proportion to the length of its gradient. So neither side drowns the
other, and no weight between the two has to be chosen. The joint gradient is cut to length one by
default, and only opposite gradients have no solution. Each of these steps costs two backward
passes. Steps of limited length move a well fitted network little, so a short run can forget next to
nothing.

Differs: The symmetric solution of the bargain; the official formula fails for orthogonal gradients
and then takes fixed weights.
"""

from __future__ import annotations

from mucore.catalog import settings
from mucore.catalog.cards import EVERY_TASK, Among, Between, Footprint, MethodCard

CARD = MethodCard(
    id="munba",
    title="MUNBa",
    family="relabelling",
    source="Wu et al., MUNBa: Machine Unlearning via Nash Bargaining, ICCV 2025",
    code="JingWu321/MUNBa Classification/unlearn/MUNBa.py",
    reads=frozenset({"retain", "forget"}),
    tasks=EVERY_TASK,
    parameters=(
        settings.lr(0.01),
        settings.epochs(10, "the retain set", scaled=True),
        *settings.sgd(256),
        settings.real("step_norm", 1.0, 1e-6, 1e6, log=True, optional=True)(
            "Largest norm of a bargained gradient, which is √2 uncut; none: uncut."
        ),
        settings.bn("train"),
    ),
    search={
        "lr": Between(1e-3, 1e-1, log=True),
        "epochs": settings.RETAIN_EPOCHS,
        "batch_size": Among((64, 128, 256)),
        "bn": Among(("frozen", "train")),
    },
    paper_epochs=settings.MUBOX_EPOCHS,
    not_confinable="it weighs gradients of the whole network against each other.",
    footprint=Footprint(backward="epochs * (retain + forget)"),
)
