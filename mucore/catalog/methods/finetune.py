"""Goes on training on the retain set alone, in the hope that what is not rehearsed is forgotten.

The original goes on training with ordinary cross-entropy, as if the forget set had never existed.
It relies on catastrophic forgetting: weights that served only the missing samples are no longer
held in place and drift. Nothing pushes against the forget set, which is never read. A network that
already fits the retain set has small gradients, so it drifts little and most of the influence
stays. A high learning rate forgets more, but then it is retraining in disguise. Needing nothing but
the retain set and some epochs, it is the baseline that others should beat.
"""

from __future__ import annotations

from mucore.catalog.cards import EVERY_TASK, Among, Between, Footprint, MethodCard
from mucore.catalog.settings import MUBOX_EPOCHS, RETAIN_EPOCHS, epochs, lr, sgd

CARD = MethodCard(
    id="finetune",
    title="Fine-tune",
    family="sparsity",
    source="Baseline; Golatkar et al., CVPR 2020; settings of Unlearn-Sparse (Jia et al., NeurIPS "
    "2023)",
    code="OPTML-Group/Unlearn-Sparse unlearn/FT.py",
    reads=frozenset({"retain"}),
    tasks=EVERY_TASK,
    parameters=(lr(0.01), epochs(10, "the retain set", scaled=True), *sgd(256)),
    search={
        "lr": Between(1e-4, 0.5, log=True),
        "epochs": RETAIN_EPOCHS,
        "batch_size": Among((64, 128, 256)),
    },
    paper_epochs=MUBOX_EPOCHS,
    aliases=("FT", "Fine-tuning"),
    footprint=Footprint(backward="epochs * retain"),
)
