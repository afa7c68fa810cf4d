"""Trains on the forget set alone towards what the original says about it with the true class struck
out, so that probability goes to the other classes in the proportions in which the original believes
in them.

Teacher and student begin as the same network, and the teacher stays frozen. For a forgotten image,
the teacher's logits of its own class and of every class that goes are struck out before the
softmax. The student lowers its divergence from what remains, with batch norm frozen by default.
Relations between the other classes should change little, which protects the retain set without
reading it. A frozen second network and the forget set are all it needs. It is made for whole
classes: random samples lose correct predictions that Retrain would mostly keep, and accuracy
elsewhere falls with them.

Differs: Batch norm is frozen by default (the official flag disable_bn). Class-wise, every forgotten
class is struck out.
"""

from __future__ import annotations

from mucore.catalog.cards import Among, Between, Footprint, MethodCard
from mucore.catalog.settings import batch, bn, epochs, lr, momentum

CARD = MethodCard(
    id="delete",
    title="DELETE",
    family="teacher",
    source="Zhou et al., Decoupled Distillation to Erase, CVPR 2025",
    code="shaaaaron/DELETE method/delete.py",
    reads=frozenset({"forget"}),
    tasks_reason="its teacher leaves out the right answer, and of two answers that leaves the "
    "other with certainty. Choose random_labels, which says the same.",
    parameters=(
        lr(1e-4),
        epochs(20, "the forget set", scaled=False),
        momentum(),
        batch(128),
        bn("frozen"),
    ),
    search={
        "lr": Between(1e-6, 1e-1, log=True),
        "epochs": Between(5, 20),
        "bn": Among(("frozen", "train")),
    },
    footprint=Footprint(backward="epochs * forget"),
    storage="|D_f| · C · 4 B (logits of the original)",
)
