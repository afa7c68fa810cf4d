"""The model trained on all data. Every method starts from a copy of it.

The original has learned the whole training set, the forget set included. Methods that edit weights
receive a copy each, so none of them sees what another did. Its results show where unlearning
starts: it usually predicts the forget set as well as any other training data. Membership inference
can often tell that set from unseen images, and good unlearning ends this advantage. Results that
stay near these, and not near Retrain's, mean that hardly anything was forgotten.
"""

from __future__ import annotations

from mucore.catalog.cards import EVERY_TASK, MethodCard

CARD = MethodCard(
    id="original",
    title="Original",
    family="reference",
    source="The trained model before any unlearning.",
    reads=frozenset(),
    tasks=EVERY_TASK,
)
