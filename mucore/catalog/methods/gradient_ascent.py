"""Climbs the loss of the forget set in a few small steps. Nothing holds the retain set in place.

It takes the original and batches of the forget set, and no other data. Each step goes up the
gradient of the cross-entropy instead of down, so the network loses its fit to these samples. Batch
norm is frozen and gradients are clipped by default, because the loss has no upper limit and its
gradient grows as predictions fail. After each epoch the forget loss is measured, and the ascent
ends once it reaches a multiple of the loss of blind guessing. On well fitted samples gradients are
tiny, so a low rate changes nothing. A high rate soon ruins predictions on all classes.

Differs: Batch norm frozen, clipping and a loss limit by default; official code has none of them
(bn=train, the others none).
"""

from __future__ import annotations

from mucore.catalog.cards import EVERY_TASK, Among, Between, Footprint, MethodCard
from mucore.catalog.settings import bn, clip, epochs, lr, real, sgd

CARD = MethodCard(
    id="gradient_ascent",
    title="Gradient ascent",
    family="gradient_ascent",
    source="Baseline (NegGrad; Golatkar et al., CVPR 2020); settings of Unlearn-Sparse (Jia et "
    "al., NeurIPS 2023)",
    code="OPTML-Group/Unlearn-Sparse unlearn/GA.py",
    reads=frozenset({"forget"}),
    tasks=EVERY_TASK,
    parameters=(
        lr(1e-4),
        epochs(5, "the forget set", scaled=False),
        *sgd(256),
        real("stop_loss", 2.0, 0.1, 10.0, unit="× ln C", optional=True)(
            "Stop when the mean forget loss reaches this multiple of chance level; none: never. A "
            "guard of ours."
        ),
        clip(1.0),
        bn("frozen"),
    ),
    search={
        "lr": Between(1e-6, 1e-2, log=True),
        "epochs": Between(1, 10),
        "stop_loss": Among((1.0, 2.0, 3.0)),
        "bn": Among(("frozen", "train")),
    },
    footprint=Footprint(forward="epochs * forget if stop_loss else 0", backward="epochs * forget"),
    aliases=("GA", "NegGrad"),
)
