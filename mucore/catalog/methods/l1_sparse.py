"""Fine-tunes on the retain set while a penalty pulls all weights towards zero; the penalty fades
out over the epochs.

It is fine-tuning of the original with one more term in the loss: α times the sum of all absolute
weights. The penalty falls from epoch to epoch, so early ones thin the network out and later ones
regain accuracy. Weights that the retain set does not need come close to zero, and what they stored
of the forget set goes with them. Weights can also be pruned for good, in the given original or in
one trained for that purpose. The forget set is never read, so nothing aims at it. A small α is
plain fine-tuning, a large one costs accuracy, and whole classes tend to survive.

Differs: The original is given, so it is pruned after training unless asked otherwise. A sparse
original trains on to the end of the recipe from where it was put back, the official code as many
epochs again. The repository leaves alpha open; 5e-4 is AMUN's.
"""

from __future__ import annotations

from mucore.catalog import settings
from mucore.catalog.cards import EVERY_TASK, Among, Between, Footprint, MethodCard

CARD = MethodCard(
    id="l1_sparse",
    title="l1-sparse",
    family="sparsity",
    source="Jia, Liu, Ram et al., Model Sparsity Can Simplify Machine Unlearning, NeurIPS 2023",
    code="OPTML-Group/Unlearn-Sparse unlearn/FT.py (FT_prune)",
    reads=frozenset({"retain", "training_record"}),
    records=("omp", "imp", "synflow"),
    no_records_when={"pruning": ("magnitude",)},
    tasks=EVERY_TASK,
    parameters=(
        settings.lr(0.01),
        settings.epochs(10, "the retain set", scaled=True),
        settings.real("alpha", 5e-4, 1e-8, 0.1, log=True)(
            "Weight of the sum of all absolute weights. Few steps need more: alpha × lr × steps / "
            "(1 − momentum) is what counts."
        ),
        settings.integer("plain_epochs", 0, 0, 500, unit="epochs")(
            "How many of the last epochs go without a penalty."
        ),
        settings.real("prune", 0.0, 0.0, 0.999)(
            "Share of the convolution weights that is set to zero first and stays there; see "
            "pruning."
        ),
        *settings.sgd(256),
        settings.choice(
            "pruning",
            "magnitude",
            ("magnitude", "omp", "imp", "synflow"),
            omitted_when_default=True,
        )(
            "The smallest weights of the given original; or another original, trained with few "
            "weights: cut by magnitude (omp, official share 0.95), a fifth of the rest at a time "
            "(imp), or before training by SynFlow."
        ),
        settings.real("rewind", 0.044, 0.0, 0.99, unit="of training", omitted_when_default=True)(
            "The point in training, in whole epochs, to which omp and imp rewind the weights that "
            "they keep; official: epoch 8 of 182."
        ),
    ),
    search={
        "lr": Between(1e-3, 0.5, log=True),
        "epochs": settings.RETAIN_EPOCHS,
        # the papers' upper end is 1e-3; fewer steps need more
        "alpha": Between(1e-6, 1e-2, log=True),
        "prune": Among((0.0, 0.5, 0.8, 0.95)),
        "batch_size": Among((64, 128, 256)),
    },
    paper_epochs=settings.MUBOX_EPOCHS,
    not_confinable="it prunes weights of every layer.",
    confinable_when={"pruning": ("magnitude",), "prune": (0.0,)},
    footprint=Footprint(backward="epochs * retain"),
    storage="0 (one mask of the weights if pruned)",
    aliases=("l1-sparsity", "FT_prune"),
)
