"""Trains a new model on the retain set alone, with the recipe of the original for the same number
of epochs. Its result is what every other method tries to reach at a lower price.

It begins with initial weights, by default the very ones that the original began with. Training then
runs as it did before, with fewer steps an epoch, because the forget set is missing from the data.
No forgotten sample enters any gradient, so there is no influence to remove and unlearning is exact.
It still predicts many forgotten samples correctly where similar ones remain, because it
generalises: zero accuracy on the forget set is no aim in itself. The price is a whole training for
each request, and another seed gives slightly different numbers.
"""

from __future__ import annotations

from mucore.catalog.cards import EVERY_TASK, Footprint, MethodCard
from mucore.catalog.settings import choice

CARD = MethodCard(
    id="retrain",
    title="Retrain",
    family="reference",
    source="Gold standard of exact unlearning; recipe of the original model",
    reads=frozenset({"retain"}),
    tasks=EVERY_TASK,
    parameters=(
        choice("init_policy", "same_init", ("same_init", "fresh"))(
            "Start from the original's initial weights (keeps weight distances comparable) or "
            "from fresh ones."
        ),
    ),
    aliases=("Retrained", "Retrain from scratch"),
    footprint=Footprint(backward="recipe_epochs * retain"),
)
