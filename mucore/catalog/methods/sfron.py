"""Ascends on forget samples, the well fitted ones weighted most, moving only weights that matter
more to them than to the retain set; descends on the retain set in between.

At the original, the diagonal Fisher information of all weights is estimated once for each of the
two sets. Weights with at least as much information for the forget set as for the retain set form
the mask of the ascent. By default one masked step precedes five free ones on the retain set, and
its strength falls to zero, so the end is repair alone. Small losses weigh most, which spares
samples that are forgotten already, and the mask should leave retained knowledge alone. The retain
steps make up most of the cost. Too much strength forgets far more than Retrain and lowers accuracy.

Differs: Batches come from endless shuffled streams, so all have the same size.
"""

from __future__ import annotations

from mucore.catalog import settings
from mucore.catalog.cards import EVERY_TASK, Among, Between, Footprint, MethodCard

CARD = MethodCard(
    id="sfron",
    title="SFRon",
    family="sparsity",
    source="Huang et al., Unified Gradient-Based Machine Unlearning with Remain Geometry "
    "Enhancement, NeurIPS 2024",
    code="K1nght/Unified-Unlearning-w-Remain-Geometry Classification/unlearn/sfron.py",
    reads=frozenset({"retain", "forget"}),
    tasks=EVERY_TASK,
    parameters=(
        settings.lr(0.01),
        settings.integer(
            "iterations", 1500, 1, 100_000, unit="steps", log=True, scales_with_epochs=True
        )("Steps on the retain set."),
        settings.integer("every", 5, 1, 1000)(
            "A forget step comes before each group of this many retain steps."
        ),
        settings.real("alpha", 25.0, 0.0, 1e4)("Strength of the ascent at the start."),
        settings.real("lam", 0.5, 0.0, 2.0)(
            "Power of 1/loss in a forget sample's weight; 0: all alike."
        ),
        settings.real("gamma", 1.0, 0.0, 1e3)(
            "A weight may ascend if its Fisher information for the forget set is this many times "
            "that for the retain set."
        ),
        settings.real("beta", 1.0, 0.0, 1.0)(
            "Share of each iteration that is kept (slow weights); 1: all, as in the official code."
        ),
        settings.choice("optimizer", "sgd", ("sgd", "adamw"))("AdamW with 2e-5 for transformers."),
        settings.momentum(),
        settings.decay(),
        settings.clip(7.0),
        settings.batch(128),
    ),
    search={
        "lr": Between(1e-3, 1e-1, log=True),
        "iterations": Between(50, 400, log=True),
        "alpha": Between(0.1, 1e3, log=True),
        "gamma": Among((0.1, 0.3, 1.0, 3.0)),
    },
    paper_epochs=settings.MUBOX_EPOCHS,
    footprint=Footprint(
        backward="forget + retain + iterations * batch_size + ceil(iterations / every) * "
        "min(batch_size, forget)"
    ),
    aliases=("SFR-on",),
)
