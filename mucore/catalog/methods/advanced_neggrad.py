"""Descends on a retain batch and ascends on a forget batch in the same step, both at full weight.

From the original, it makes a few epochs over the retain set, with forget batches cycled beside it.
The loss of each step is the mean cross-entropy on the retain batch minus that on the forget batch.
What both batches would change alike cancels out, so a step mainly follows what sets the forget set
apart. Momentum and weight decay are off by default, and the forget loss stops counting at twice the
loss of blind guessing. No small weight tames the ascent, so it soon dominates: more epochs or a
higher rate cost accuracy on all data.

Differs: Unequal batch sizes still step; the forget loss is capped by default; batches of 128,
official code 64.
"""

from __future__ import annotations

from mucore.catalog import settings
from mucore.catalog.cards import EVERY_TASK, Among, Between, Footprint, MethodCard

CARD = MethodCard(
    id="advanced_neggrad",
    title="Advanced NegGrad",
    family="gradient_ascent",
    source="Choi and Na, Towards Machine Unlearning Benchmarks, 2023 (MUFAC, MUCAC)",
    code="ndb796/MachineUnlearning 01_MUFAC",
    reads=frozenset({"retain", "forget"}),
    tasks=EVERY_TASK,
    parameters=(
        settings.lr(1e-3),
        settings.epochs(2, "the retain set", scaled=True),
        settings.momentum(0.0),
        settings.decay(0.0),
        settings.batch(128),
        settings.choice("bn_forward", "two", ("two", "concat"))(
            "One forward pass for each batch, or one for both together, which mixes batch-norm "
            "statistics."
        ),
        settings.real("forget_loss_cap", 2.0, 0.1, 100.0, unit="× ln C", optional=True)(
            "The forget loss stops pushing above this multiple of chance level. A guard of ours."
        ),
        settings.switch("skip_unequal", False)(
            "Skip steps whose two batches differ in size, as the official code does: a small "
            "forget set then does nothing at all."
        ),
    ),
    search={
        "lr": Between(1e-5, 1e-1, log=True),
        "epochs": settings.RETAIN_EPOCHS,
        "momentum": Among((0.0, 0.9)),
        "batch_size": Among((64, 128, 256)),
    },
    paper_epochs=settings.MUBOX_EPOCHS,
    footprint=Footprint(
        backward="epochs * (retain + ceil(retain / batch_size) * min(batch_size, forget))"
    ),
    aliases=("AdvNegGrad",),
)
