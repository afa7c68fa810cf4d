"""Moves the features of each forgotten sample to the nearest centroid of another class, while
cross-entropy holds the retain set. Stops when the forget set is predicted no better than held-out
data, or not at all where whole classes are forgotten.

Features are the inputs of the classifier, and their mean over the retained samples of a class,
taken at the original, is its centroid. The target of a forgotten sample is the closest of these by
cosine distance, its own class excepted. Adam pulls each forget batch to its targets, up to 40 times
by default, each time beside another retain batch that holds its classes. Forgotten samples thus
look like another class already in their features. It needs the retain set, and validation data to
know when to stop. Many retain batches make an epoch expensive, and pulled samples become wrong
where Retrain would often be right.

Differs: Targets are fixed for each sample and never a forgotten class; in the official code,
indices go astray. The target accuracy comes from validation data, the official one from test data.
At most 10 epochs also where classes go (official: 200). Centroids are means over the whole retain
set (official: over its first 50 batches). A forget batch meets as many retain batches as the
authors' ratio says, 40; the official loop asks for the ratio too late and takes one more, 41. The
number that they wrote down is taken here; the two differ only where the retain set has more than 40
batches.
"""

from __future__ import annotations

from mucore.catalog.cards import Among, Between, MethodCard
from mucore.catalog.settings import batch, bn, epochs, integer, lr, real, setting, switch

CARD = MethodCard(
    id="duck",
    title="DUCK",
    family="features",
    source="Cotogni et al., DUCK: Distance-based Unlearning via Centroid Kinematics, 2023",
    code="OcraM17/DUCK src/Unlearning_methods.py",
    reads=frozenset({"retain", "forget", "validation"}),
    tasks_reason="it moves features to the centroid of another class, and images with attributes "
    "fall into no classes.",
    parameters=(
        lr(1e-3),
        real("class_lr", 4e-4, 1e-6, 1.0, log=True)("Learning rate in class-wise scenarios."),
        epochs(10, "the forget set, at most", scaled=False),
        real("lambda_1", 1.0, 0.0, 100.0)("Weight of the distance to the target centroids."),
        real("lambda_2", 1.4, 0.0, 100.0)("Weight of the cross-entropy on the retain set."),
        real("temperature", 2.0, 0.1, 20.0)("Divides the logits of the retain set."),
        integer("retain_batches", 40, 1, 1000)(
            "Retain batches for each forget batch, at most one pass over the retain set; "
            "CIFAR-100 and TinyImageNet: 5."
        ),
        batch(1024),
        batch(256, "class_batch_size", "samples in class-wise scenarios"),
        real("class_stop", 0.01, 0.0, 1.0)(
            "Forget accuracy below which a class-wise run stops; other scenarios take the "
            "original's validation accuracy."
        ),
        setting("milestones", "ints", (25, 40))(
            "Epochs after which the rate is multiplied by rho."
        ),
        real("rho", 0.5, 0.0, 1.0)("Factor of the rate at each milestone."),
        switch("polish", False)(
            "Two more epochs with a tenth of the pull, as in the official code but not in the "
            "paper."
        ),
        bn("train"),
    ),
    search={
        "lr": Between(1e-5, 1e-2, log=True, when="leaving == 0"),
        "class_lr": Between(1e-5, 1e-2, log=True, when="leaving > 0"),
        "epochs": Between(1, 10),
        "lambda_1": Between(0.01, 5.0, log=True),
        "lambda_2": Between(0.1, 5.0, log=True),
        "retain_batches": Among((1, 2, 5, 10, 20)),
    },
    storage="C · d · 4 B (centroids)",
)
