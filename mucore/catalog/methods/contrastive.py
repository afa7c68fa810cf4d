"""Pushes the features of forgotten samples away from retained ones of their class and towards those
of other classes, with cross-entropy on the retained samples. Stops when forgotten samples do no
better than held-out ones, or held-out samples of forgotten classes no better than chance.

A forget batch and a random retain batch pass through the original together, and their features are
scaled to length one. Contrastive learning is turned around: a forgotten sample becomes less similar
to retained ones of its class and more similar to all others. It thus leaves its cluster and loses
what training made it share with the class. Cross-entropy on the retain batch, the other term of the
loss, keeps the retained clusters apart. It needs the retain set throughout, and validation data to
know when to stop. That is checked after whole epochs only, so a large forget set can go too far
within one.

Differs: Normalised features of the network as it is; the official network has a projection head.
Stops on validation data. Retain batches come from shuffled passes, not drawn with replacement.
"""

from __future__ import annotations

from mucore.catalog.cards import Between, MethodCard
from mucore.catalog.settings import batch, bn, choice, epochs, integer, lr, momentum, real

CARD = MethodCard(
    id="contrastive",
    title="Contrastive unlearning",
    family="features",
    source="Lee et al., Contrastive Unlearning, IJCAI 2025",
    code="Hongkyu-Lee/Contrastive-Unlearning core/trainer/unlearn/unlearn.py",
    reads=frozenset({"retain", "forget", "validation"}),
    tasks_reason="it tells samples of one class from those of the others, and images with "
    "attributes fall into no classes.",
    parameters=(
        lr(1e-3),
        epochs(30, "the forget set, at most", scaled=False),
        real("temperature", 0.7, 0.01, 20.0, log=True)("Temperature τ of similarities."),
        real("lambda_unlearn", 3.0, 0.0, 100.0)("Weight of the contrastive loss."),
        real("lambda_ce", 1.0, 0.0, 100.0)("Weight of the cross-entropy on the retain set."),
        integer("repeats", 4, 1, 100)("Retain batches ω that each forget batch meets."),
        momentum(),
        batch(128),
        batch(64, "class_batch_size", "samples in class-wise scenarios"),
        choice("push", "paper", ("paper", "code"))(
            "The push from the own class counts once (paper) or as often as there are retained "
            "samples for each pull (code)."
        ),
        bn("train"),
    ),
    search={
        "lr": Between(1e-4, 1e-2, log=True),
        "temperature": Between(0.1, 1.0),
        "lambda_unlearn": Between(0.5, 10.0, log=True),
        "lambda_ce": Between(0.2, 10.0, log=True),
        "repeats": Between(1, 8),
    },
    aliases=("CU", "contrastive_unlearning"),
)
