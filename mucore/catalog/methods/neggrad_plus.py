"""Descends on the retain set and ascends on the forget set in one step, the retain loss weighted
far higher.

Starting from the original, each step takes one batch of the retain set and one of the forget set,
which is cycled beside it. By default the loss is the cross-entropy on the former times 0.99, less
that on the latter times 0.01. Ascent makes the forgotten labels unlikely, and descent at the same
time restores what this costs on other samples. The forget loss stops pushing at twice the loss of
blind guessing by default, since it would grow without end. All depends on the weight: too little
ascent is plain fine-tuning, too much lowers accuracy everywhere. The cost is a few epochs over the
retain set.

Differs: Unequal batch sizes still step; the forget loss is capped by default.
"""

from __future__ import annotations

from mucore.catalog import settings
from mucore.catalog.cards import EVERY_TASK, Among, Between, Footprint, MethodCard

CARD = MethodCard(
    id="neggrad_plus",
    title="NegGrad+",
    family="gradient_ascent",
    source="Kurmanji et al., Towards Unbounded Machine Unlearning, NeurIPS 2023",
    code="meghdadk/SCRUB helper/loops.py",
    reads=frozenset({"retain", "forget"}),
    tasks=EVERY_TASK,
    parameters=(
        settings.lr(0.01),
        settings.epochs(5, "the retain set", scaled=True),
        settings.real("retain_weight", 0.99, 0.0, 1.0)(
            "Weight a of the retain loss; the forget loss gets 1 − a."
        ),
        *settings.sgd(128),
        settings.choice("bn_forward", "two", ("two", "concat"))(
            "One forward pass for each batch, or one for both together, which mixes batch-norm "
            "statistics."
        ),
        settings.real("forget_loss_cap", 2.0, 0.1, 100.0, unit="× ln C", optional=True)(
            "The forget loss stops pushing above this multiple of chance level. A guard of ours."
        ),
    ),
    search={
        "lr": Between(1e-4, 3e-1, log=True),
        "epochs": settings.RETAIN_EPOCHS,
        "retain_weight": Among((0.5, 0.7, 0.9, 0.95, 0.99, 0.999, 0.9999)),
        "batch_size": Among((64, 128, 256)),
    },
    paper_epochs=settings.MUBOX_EPOCHS,
    footprint=Footprint(
        backward="epochs * (retain + ceil(retain / batch_size) * min(batch_size, forget))"
    ),
)
