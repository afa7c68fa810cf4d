"""A student learns the outputs of a random network on the forget set and those of the original on a
part of the retain set.

The student starts as the original and has two teachers: the frozen original, and a network with
random weights. Forgotten images and by default 30 percent of the retain set are shuffled together,
without their labels. On each image the student lowers its divergence from the teacher in charge of
it. It thus learns to answer like an untrained network where it should forget, and like itself
elsewhere. A single epoch with Adam is the authors' choice and makes it cheap. Its answers on the
forget set become less certain than Retrain's, and membership inference by confidence or entropy can
pick this up.
"""

from __future__ import annotations

from mucore.catalog.cards import EVERY_TASK, Among, Between, Footprint, MethodCard
from mucore.catalog.settings import MUBOX_EPOCHS, batch, bn, choice, epochs, lr, real

CARD = MethodCard(
    id="bad_teacher",
    title="Bad teacher",
    family="teacher",
    source="Chundawat et al., Can Bad Teaching Induce Forgetting?, AAAI 2023",
    code="vikram2000b/bad-teaching-unlearning unlearn.py",
    reads=frozenset({"retain", "forget"}),
    tasks=EVERY_TASK,
    parameters=(
        lr(1e-4),
        epochs(1, "the forget set and the chosen part of the retain set", scaled=True),
        real("retain_fraction", 0.3, 0.0, 1.0)("Share of the retain set that is used."),
        real("temperature", 1.0, 0.1, 20.0)("Distillation temperature."),
        batch(256),
        choice("reduction", "element_mean", ("element_mean", "batchmean"))(
            "Mean over samples and classes (official code) or over samples."
        ),
        choice("teacher", "random_net", ("random_net", "uniform"))(
            "What the incompetent teacher says: a random network's outputs, or 1/C."
        ),
        bn("train"),
    ),
    search={
        "lr": Between(1e-5, 1e-2, log=True),
        "epochs": Between(1, 10),
        "retain_fraction": Among((0.03, 0.1, 0.3, 1.0)),
        "temperature": Among((1.0, 2.0, 4.0)),
        "batch_size": Among((64, 128, 256)),
    },
    paper_epochs=MUBOX_EPOCHS,
    aliases=("Bad-T", "bad_t"),
    footprint=Footprint(backward="epochs * (forget + retain_fraction * retain)"),
)
