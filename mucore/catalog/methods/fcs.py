"""Forget, contrast, strengthen. First makes the predictions on the forget set uniform. Then, in
turn, makes each forgotten sample equally like every retained one and repairs with a pass over the
retain set.

It starts from the original, and its first pass takes away all certainty about the forget set,
without using its labels. In each contrast round, a softmax runs over the inner products of a
forgotten sample's logits with those of a retain batch. The loss asks for equal shares, so a
forgotten sample should resemble no class more than another. The epoch on the retain set that
follows restores what suffered, and these epochs make up most of the cost. They also outweigh the
short forget passes: random samples are often predicted as well afterwards as before.

Differs: Where the forget set has more batches than the retain set, the contrast round cycles the
latter instead of ending early.
"""

from __future__ import annotations

from mucore.catalog import settings
from mucore.catalog.cards import EVERY_TASK, Between, Footprint, MethodCard

CARD = MethodCard(
    id="fcs",
    title="FCS",
    family="competition",
    source="NeurIPS 2023 machine unlearning challenge, write-up 458721 (fanchuan), first in the "
    "organisers' final ranking",
    code="xcadet/deepunlearn munl/unlearning/kgltop1.py (third-party port)",
    reads=frozenset({"retain", "forget"}),
    tasks=EVERY_TASK,
    parameters=(
        settings.lr(4e-3, help="Learning rate of the passes over the retain set."),
        settings.lr(
            5e-3, name="forget_lr", help="Learning rate of the first pass over the forget set."
        ),
        settings.lr(
            3e-4,
            name="contrast_lr",
            help="First learning rate of the contrast rounds; it falls along a cosine.",
        ),
        settings.epochs(8, "the retain set, each after a contrast round", scaled=True),
        settings.real("temperature", 1.15, 0.01, 100.0, log=True)("Divides the inner products."),
        settings.momentum(),
        settings.decay(1e-2),
        settings.batch(256, of="retain samples"),
        settings.batch(64, "forget_batch_size", "forget samples"),
    ),
    search={
        "lr": Between(1e-4, 1e-1, log=True),
        "forget_lr": Between(1e-4, 1e-1, log=True),
        "contrast_lr": Between(1e-5, 1e-1, log=True),
        "epochs": settings.RETAIN_EPOCHS,
        "temperature": Between(0.5, 5.0),
    },
    paper_epochs=settings.MUBOX_EPOCHS,
    footprint=Footprint(
        backward="forget + epochs * (forget + ceil(forget / forget_batch_size) * min(batch_size, "
        "retain) + retain)"
    ),
    aliases=("Fanchuan", "Forget-Contrast-Strengthen"),
)
