"""Goes on training only the last layers, on the retain set alone. What earlier layers learned from
the forget set stays.

All of the original is frozen but its last block and the classifier, or as many blocks or layers as
asked for. Frozen batch norms keep their statistics. The free part trains with cross-entropy on the
retain set, and the forget set is never read. Late layers turn features into classes, so they should
be the first to lose what is no longer rehearsed, and few layers train quickly. On a well fitted
network they hardly move, so as a rule it forgets no more than fine-tuning of all layers.

Differs: Frozen batch norms keep their statistics; official code lets them drift, and restarts its
rate from 0.1 again and again.
"""

from __future__ import annotations

from mucore.catalog import settings
from mucore.catalog.cards import EVERY_TASK, Among, Between, Footprint, MethodCard

CARD = MethodCard(
    id="cf_k",
    title="CF-k",
    family="sparsity",
    source="Goel, Prabhu, Kumaraguru, Towards Adversarial Evaluations for Inexact Machine "
    "Unlearning, 2022",
    code="shash42/Evaluating-Inexact-Unlearning src/methods.py",
    reads=frozenset({"retain"}),
    tasks=EVERY_TASK,
    parameters=(
        settings.lr(0.01),
        settings.epochs(10, "the retain set", scaled=True),
        settings.choice("k_unit", "block", ("block", "layer"))(
            "Count blocks of the network besides its classifier, or convolutions and linear layers."
        ),
        settings.integer("k", 1, 1, 200)("How many of the last blocks or layers are trained."),
        *settings.sgd(256),
        settings.clip(None),
        settings.bn("train"),
    ),
    search={
        "lr": Between(1e-4, 0.5, log=True),
        "epochs": settings.RETAIN_EPOCHS,
        "k": Between(1, 4),
        "batch_size": Among((64, 128, 256)),
    },
    paper_epochs=settings.MUBOX_EPOCHS,
    not_confinable="it trains the last k layers or blocks, whichever those are.",
    confinable_when={"k_unit": ("layer",), "k": (1,)},
    footprint=Footprint(backward="epochs * retain"),
    aliases=("CF-k",),
)
