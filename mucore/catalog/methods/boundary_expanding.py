"""Adds a shadow class to the output layer, trains the forget set alone towards it, and removes it
again.

The classifier gets one more row with random weights and no bias: a class that no image has. All
weights of the original train towards it on forgotten images, until nearly all land there or the
epochs are over. Their features thus leave the old class without being pushed into any particular
other one. After the extra row is cut off, another of the old classes should win. Neither labels nor
retain data nor a record are needed. The forgotten class can come back with the cut, because the
extra row took up the change, and retained images of that class follow.

Differs: Batch norm frozen, and an early end, by default; the official code has neither.
"""

from __future__ import annotations

from mucore.catalog.cards import Among, Between, Footprint, MethodCard
from mucore.catalog.settings import batch, bn, decay, epochs, lr, momentum, real

CARD = MethodCard(
    id="boundary_expanding",
    title="Boundary expanding",
    family="relabelling",
    source="Chen et al., Boundary Unlearning, CVPR 2023",
    code="TY-LEE-KR/Boundary-Unlearning-Code boundary_unlearning.py (a mirror)",
    reads=frozenset({"forget"}),
    tasks_reason="its shadow class takes the place of a sample's class, and an attribute has no "
    "class beside yes and no.",
    parameters=(
        lr(1e-5),
        epochs(10, "the forget set", scaled=False),
        momentum(),
        decay(0.0),
        batch(64),
        real("stop_share", 0.99, 0.0, 1.0, optional=True)(
            "Stop when this share of the forget set is in the shadow class; none: never. A guard "
            "of ours."
        ),
        bn("frozen"),
    ),
    search={
        "lr": Between(1e-6, 1e-2, log=True),
        "epochs": Between(5, 20),
        "bn": Among(("frozen", "train")),
    },
    footprint=Footprint(forward="epochs * forget if stop_share else 0", backward="epochs * forget"),
    aliases=("BE", "Boundary-E"),
)
