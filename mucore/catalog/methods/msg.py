"""Masked small gradients. Re-initialises the convolution weights on which the gradients of retain
and forget set agree, then fine-tunes on the retain set with smaller gradients for the other
convolution weights.

At the original, gradients are summed over the forget set and over as many random samples of the
retain set. In each convolution, the 30 percent of weights on which the sums differ least are
redrawn at random by default. Both sets pull these weights alike, so what they hold of the forget
set is wiped out and only the retain set teaches them again. Kept convolution weights learn at a
tenth of the pace, so the repair happens where knowledge was lost. Classifier and batch norm train
at full pace. The reset hits all knowledge: few epochs at a low rate leave accuracy low, while a
whole class may survive.

Differs: The gradients that choose weights come from eval mode; sources do not say.
"""

from __future__ import annotations

from mucore.catalog import settings
from mucore.catalog.cards import EVERY_TASK, Among, Between, Footprint, MethodCard

CARD = MethodCard(
    id="msg",
    title="MSG",
    family="competition",
    source="NeurIPS 2023 machine unlearning challenge, write-up 459200 (Lee, Bae, Kim; Kookmin "
    "University), third place",
    code="xcadet/deepunlearn munl/unlearning/kgltop2.py (third-party port)",
    reads=frozenset({"retain", "forget"}),
    tasks=EVERY_TASK,
    parameters=(
        settings.lr(1e-3),
        settings.epochs(5, "the retain set", scaled=True),
        settings.real("share", 0.3, 0.0, 1.0)("Share of the convolution weights that are redrawn."),
        settings.real("kept_factor", 0.1, 0.0, 1.0)(
            "What multiplies the gradients of the convolution weights that were kept."
        ),
        settings.choice("ranking", "layer", ("layer", "network"))(
            "Rank gradients within each layer (the port) or over the whole network (the write-up)."
        ),
        *settings.sgd(64),
    ),
    search={
        "lr": Between(1e-4, 1e-1, log=True),
        "epochs": settings.RETAIN_EPOCHS,
        "share": Between(0.05, 0.9),
        "kept_factor": Among((0.05, 0.1, 0.3, 1.0)),
    },
    paper_epochs=settings.MUBOX_EPOCHS,
    not_confinable="it redraws weights of convolutions, and the classifier has none.",
    footprint=Footprint(backward="2 * forget + epochs * retain"),
    storage="0 (one mask of the convolution weights while it runs)",
    aliases=("Kookmin",),
)
