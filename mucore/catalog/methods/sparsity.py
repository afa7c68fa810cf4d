"""Methods that train a part of the weights, or fewer of them."""

from __future__ import annotations

from mucore.catalog.cards import MethodCard, Parameter
from mucore.catalog.methods.settings import MUBOX_EPOCHS, batch, decay, epochs, lr, momentum

CARDS = (
    MethodCard(
        id="finetune",
        title="Fine-tune",
        family="sparsity",
        source="Baseline; Golatkar et al., CVPR 2020; settings of Unlearn-Sparse (Jia et al., NeurIPS 2023)",
        code="OPTML-Group/Unlearn-Sparse unlearn/FT.py",
        summary="Trains on with the retain set only and hopes that what is not rehearsed is forgotten.",
        reads=frozenset({"retain"}),
        parameters=(lr(0.01), epochs(10, "the retain set", scaled=True), momentum(), decay(), batch(256)),
        paper_epochs=MUBOX_EPOCHS,
        aliases=("FT", "Fine-tuning"),
    ),
    MethodCard(
        id="salun",
        title="SalUn",
        family="sparsity",
        source="Fan et al., SalUn, ICLR 2024",
        code="OPTML-Group/Unlearn-Saliency Classification/unlearn/RL.py",
        summary="Random labels, but only the half of the weights moves that the forget loss is most sensitive to.",
        reads=frozenset({"retain", "forget"}),
        parameters=(
            lr(0.013),
            epochs(10, "the forget set and the retain set", scaled=True),
            Parameter(name="density", kind="float", default=0.5, low=0.0, high=1.0, help="Share of the weights that may move."),
            momentum(),
            decay(),
            batch(256),
            Parameter(
                name="label_pool",
                kind="choice",
                default="all",
                choices=("all", "others"),
                help="Draw labels from all classes, the true one too, or only from the other, not forgotten ones.",
            ),
            Parameter(
                name="mode",
                kind="choice",
                default="sequential",
                choices=("sequential", "mixed"),
                help="Forget pass then retain pass, or both sets shuffled together.",
            ),
        ),
        paper_epochs=MUBOX_EPOCHS,
        storage="one mask of the weights (MUBox: 0.09 GB for ResNet-18, an int64 mask)",
        differs="Masked weights stay put under weight decay and momentum too; official code let them drift until February 2026.",
    ),
)
