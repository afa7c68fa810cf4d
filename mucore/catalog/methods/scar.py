"""Moves the features of each forgotten sample to the nearest other class by Mahalanobis distance,
while the original's outputs on stand-in images hold the rest. Classes that are forgotten already
stop moving. Stops below an accuracy target.

From the original's features, mean and covariance of every kept class are computed over the retain
set. Mahalanobis distance takes the shape of these clusters into account, and each forgotten sample
gets its target once, at the start. A student lowers this distance and, on other images, its
divergence from the frozen original. Forgotten samples thus end up in foreign clusters while other
answers should stay. The retain set provides those images by default; made-up ones can take their
place but say less about real ones. Validation data are needed to stop, and moved samples become
wrong where Retrain would often be right.

Differs: The official surrogates are ImageNet images, which are not at hand: the retain set stands
in (the form with retain data), or made-up images. The stop rule is asked once an epoch and on
validation data, in the self-forget form on those images, where the official code reads the forget
set and the test set.
"""

from __future__ import annotations

from mucore.catalog.cards import Among, Between, MethodCard
from mucore.catalog.scenarios import CLASS_WISE
from mucore.catalog.settings import batch, bn, choice, epochs, integer, lr, real

CARD = MethodCard(
    id="scar",
    title="SCAR",
    family="features",
    source="Bonato et al., Is Retain Set All You Need in Machine Unlearning?, ECCV 2024",
    code="jbonato1/SCAR src/Unlearning_methods.py",
    reads=frozenset({"retain", "forget", "validation"}),
    tasks_reason="it moves features to the cluster of another class, and images with attributes "
    "fall into no classes.",
    parameters=(
        lr(5e-4),
        epochs(30, "the forget set, at most", scaled=False),
        real("lambda_1", 1.0, 0.0, 100.0)("Weight of the distance to the target class."),
        real("lambda_2", 5.0, 0.0, 100.0)("Weight of the distillation."),
        real("temperature", 1.0, 0.1, 20.0)("Divides the original's logits alone."),
        real("delta", 0.5, 0.01, 2.0)("Power to which features are raised (Tukey)."),
        real("gamma_1", 3.0, 0.0, 100.0)("Shrinkage of the covariance's diagonal."),
        real("gamma_2", 3.0, 0.0, 100.0)("Shrinkage of the covariance's other entries."),
        choice("surrogate", "retain", ("retain", "noise", "textures"))(
            "What the original is distilled on: the retain set, or 10,000 made-up images of noise "
            "or of clouds of several sizes (the retain set then gives class statistics alone)."
        ),
        integer("surrogate_batches", 5, 1, 1000)("Stand-in batches for each forget batch."),
        integer("class_surrogate_batches", 1, 1, 1000)("The same in class-wise scenarios."),
        batch(1024),
        real("class_stop", 0.01, 0.0, 1.0)("Forget accuracy below which a class-wise run stops."),
        real("margin", 0.015, 0.0, 1.0)(
            "Other scenarios stop this far below the original's validation accuracy."
        ),
        real("still_known", 0.8, 0.0, 1.0)(
            "A class below this forget accuracy stops moving; TinyImageNet: 0.4. Class-wise runs "
            "do without it."
        ),
        bn("train"),
        choice(
            "form",
            "forget_set",
            ("forget_set", "self"),
            choice_scenarios={
                "self": (
                    CLASS_WISE,
                    "made-up images can stand for a whole class, not for single samples.",
                )
            },
            omitted_when_default=True,
        )(
            "Move the forget set, or (SCAR-self) made-up images that the original takes for a "
            "forgotten class: wants textures."
        ),
    ),
    search={
        "lr": Between(1e-5, 1e-2, log=True),
        "epochs": Between(1, 30, log=True),
        "lambda_2": Between(0.05, 10.0, log=True),
        "delta": Among((0.1, 0.25, 0.5, 1.0)),
        "surrogate_batches": Among((1, 3, 5), when="leaving == 0"),
        "class_surrogate_batches": Among((1, 3, 5), when="leaving > 0"),
    },
    storage="C · (d + d²) · 4 B (class statistics) and 10,000 surrogate images",
)
