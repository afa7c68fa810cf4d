"""Random labels, but only the half of the weights to which the forget loss is most sensitive may
move.

The gradient of the forget set's loss is summed at the original's weights. By default half of the
weights, those with the largest absolute sums, may move, and all others keep their exact values.
Each epoch passes over the forget set under newly drawn labels, then over the retain set under its
own. The mask confines the change to weights that act on the forget set, so other abilities should
suffer less than under plain relabelling. Too low a learning rate forgets next to nothing. Unsure
answers where Retrain is sure are a trace that membership inference by confidence can find.

Differs: Masked weights stay put under weight decay and momentum too; official code let them drift
until February 2026.
"""

from __future__ import annotations

from mucore.catalog import settings
from mucore.catalog.cards import EVERY_TASK, Among, Between, Footprint, MethodCard

CARD = MethodCard(
    id="salun",
    title="SalUn",
    family="sparsity",
    source="Fan et al., SalUn, ICLR 2024",
    code="OPTML-Group/Unlearn-Saliency Classification/unlearn/RL.py",
    reads=frozenset({"retain", "forget"}),
    tasks=EVERY_TASK,
    parameters=(
        settings.lr(0.013),
        settings.epochs(10, "the forget set and the retain set", scaled=True),
        settings.real("density", 0.5, 0.0, 1.0)("Share of the weights that may move."),
        *settings.sgd(256),
        settings.choice("label_pool", "all", ("all", "others"))(
            "Draw labels from all classes, the true one too, or only from the other, not "
            "forgotten ones."
        ),
        settings.choice("mode", "sequential", ("sequential", "mixed"))(
            "Forget pass then retain pass, or both sets shuffled together."
        ),
    ),
    search={
        "lr": Between(5e-4, 1e-1, log=True),
        "epochs": settings.RETAIN_EPOCHS,
        "density": Among((0.05, 0.1, 0.3, 0.5, 0.7, 0.9)),
        "label_pool": Among(("all", "others")),
        "batch_size": Among((64, 128, 256)),
    },
    paper_epochs=settings.MUBOX_EPOCHS,
    footprint=Footprint(backward="forget + epochs * (forget + retain)"),
    storage="one mask of the weights (MUBox: 0.09 GB for ResNet-18, an int64 mask)",
)
