"""References: what methods are compared with."""

from __future__ import annotations

from mucore.catalog.cards import EVERY_TASK, MethodCard, Parameter

ORIGINAL = MethodCard(
    id="original",
    title="Original",
    family="reference",
    source="The trained model before any unlearning.",
    summary="The model trained on all data. Every method starts from a copy of it.",
    reads=frozenset(),
    tasks=EVERY_TASK,
)

CARDS = (
    MethodCard(
        id="retrain",
        title="Retrain",
        family="reference",
        source="Gold standard of exact unlearning; recipe of the original model",
        summary=(
            "Trains a new model on the retain set alone, with the recipe of the original for the same number of epochs. "
            "Its result is what every other method tries to reach at a lower price."
        ),
        reads=frozenset({"retain"}),
        tasks=EVERY_TASK,
        parameters=(
            Parameter(
                name="init_policy",
                kind="choice",
                default="same_init",
                choices=("same_init", "fresh"),
                help="Start from the original's initial weights (keeps weight distances comparable) or from fresh ones.",
            ),
        ),
        aliases=("Retrained", "Retrain from scratch"),
    ),
)
