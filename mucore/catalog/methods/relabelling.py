"""Methods that train on other labels for the forget set."""

from __future__ import annotations

from mucore.catalog.cards import MethodCard, Parameter
from mucore.catalog.methods.settings import MUBOX_EPOCHS, batch, bn, decay, epochs, lr, momentum

CARDS = (
    MethodCard(
        id="random_labels",
        title="Random labels",
        family="relabelling",
        source="Graves et al., AAAI 2021; Golatkar et al., CVPR 2020; settings of SalUn (Fan et al., ICLR 2024)",
        code="OPTML-Group/Unlearn-Saliency Classification/unlearn/RL.py",
        summary="Gives the forget set random labels and trains on both sets.",
        reads=frozenset({"retain", "forget"}),
        parameters=(
            lr(0.01),
            epochs(10, "the forget set and the retain set", scaled=True),
            momentum(),
            decay(),
            batch(256),
            Parameter(
                name="mode",
                kind="choice",
                default="sequential",
                choices=("sequential", "mixed_fixed", "mixed_fresh", "forget_only"),
                help="Forget then retain pass, labels of all classes; both mixed, wrong labels, fixed or fresh; or forget pass only.",
            ),
        ),
        paper_epochs=MUBOX_EPOCHS,
        aliases=("RL", "Random labelling"),
    ),
    MethodCard(
        id="pseudo_labels",
        title="Pseudo-labels",
        family="relabelling",
        source="Chen et al., Machine Unlearning via Null Space Calibration, IJCAI 2024, first step; baseline of Are We Truly Forgetting?",
        summary="Gives each forgotten sample the label that the original finds second most likely, and trains on the forget set alone.",
        reads=frozenset({"forget"}),
        parameters=(lr(1e-4), epochs(10, "the forget set", scaled=False), momentum(), decay(), batch(128), bn("frozen")),
        differs="In class-wise scenarios no new label is a forgotten class; the official helper allows that. Rates are not in the paper.",
        aliases=("PL",),
    ),
)
