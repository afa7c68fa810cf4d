"""Gives the forget set random labels and trains on both sets.

The original trains on, and by default each epoch begins with a pass over the forget set. Whenever a
sample comes up there, a new label is drawn for it from all classes, the true one included.
Contradictory labels undo the link between image and class, so predictions on the forget set become
flat. A pass over the retain set with its true labels follows and repairs the rest. It needs no
record and no second network, but an epoch reads the whole training set. Flat predictions are a
trace in themselves, since Retrain is surer of most such samples; membership inference by confidence
notices.
"""

from __future__ import annotations

from mucore.catalog import settings
from mucore.catalog.cards import EVERY_TASK, Among, Between, Footprint, MethodCard

CARD = MethodCard(
    id="random_labels",
    title="Random labels",
    family="relabelling",
    source="Graves et al., AAAI 2021; Golatkar et al., CVPR 2020; settings of SalUn (Fan et al., "
    "ICLR 2024)",
    code="OPTML-Group/Unlearn-Saliency Classification/unlearn/RL.py",
    reads=frozenset({"retain", "forget"}),
    tasks=EVERY_TASK,
    parameters=(
        settings.lr(0.01),
        settings.epochs(10, "the forget set and the retain set", scaled=True),
        *settings.sgd(256),
        settings.choice(
            "mode", "sequential", ("sequential", "mixed_fixed", "mixed_fresh", "forget_only")
        )(
            "Forget then retain pass, labels of all classes; both mixed, wrong labels, fixed or "
            "fresh; or forget pass only."
        ),
    ),
    search={
        "lr": Between(1e-4, 1e-1, log=True),
        "epochs": settings.RETAIN_EPOCHS,
        "mode": Among(("sequential", "mixed_fixed", "mixed_fresh", "forget_only")),
        "batch_size": Among((64, 128, 256)),
    },
    paper_epochs=settings.MUBOX_EPOCHS,
    aliases=("RL", "Random labelling"),
    footprint=Footprint(backward="epochs * (forget + (0 if mode == 'forget_only' else retain))"),
)
