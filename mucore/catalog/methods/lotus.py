"""Learns the original's own predictions with Gumbel noise: one drawn class on a part of the retain
set, smooth probabilities on the forget set, the smoother the further its accuracy lies above that
on held-out data. Stops when it falls below.

Teacher and student both begin as the original, and true labels serve only to measure accuracy. On
30 percent of the retain set, by default, the student learns classes drawn at random from the
teacher's predictions. On the forget set it learns those predictions with random noise, at a
temperature that flattens them. The temperature grows with the gap between forget accuracy and the
teacher's validation accuracy; the latter counts as zero where whole classes go. A network that
never saw the forget set would show no gap, so smoothing ends where the gap closes. If the original
generalises well, the gap is small and hardly anything is forgotten.

Differs: None in the algorithm; every draw comes from the run's own streams.
"""

from __future__ import annotations

from mucore.catalog.cards import EVERY_TASK, Among, Between, Footprint, MethodCard
from mucore.catalog.settings import MUBOX_EPOCHS, batch, bn, decay, epochs, lr, real

CARD = MethodCard(
    id="lotus",
    title="LoTUS",
    family="teacher",
    source="Spartalis et al., LoTUS: Large-Scale Machine Unlearning with a Taste of Uncertainty, "
    "CVPR 2025",
    code="cspartalis/LoTUS src/unlearning_methods/lotus_class.py",
    reads=frozenset({"retain", "forget", "validation"}),
    tasks=EVERY_TASK,
    parameters=(
        lr(1e-4),
        epochs(10, "the forget set and the chosen part of the retain set", scaled=True),
        real("alpha", 8.0, 0.0, 100.0)(
            "The temperature is exp(α · excess accuracy); 8 on CIFAR-10, 2 elsewhere."
        ),
        real("tolerance", 0.01, 0.0, 1.0)("Stops this far below the target accuracy."),
        real("retain_fraction", 0.3, 0.0, 1.0)("Share of the retain set that is used."),
        decay(),
        batch(128),
        bn("train"),
    ),
    search={
        "lr": Between(1e-5, 1e-2, log=True),
        "epochs": Between(1, 10),
        "alpha": Among((1.0, 2.0, 4.0, 8.0, 16.0)),
        "retain_fraction": Among((0.03, 0.1, 0.3, 1.0)),
    },
    paper_epochs=MUBOX_EPOCHS,
    footprint=Footprint(
        forward="epochs * forget + (0 if leaving else validation)",
        backward="epochs * (forget + retain_fraction * retain)",
    ),
)
