"""Puts the last layers back to where training began and trains them again on the retain set, with
the others frozen. Those layers have forgotten exactly; the early ones have not.

The last block of the original and its classifier, or as many blocks or layers as asked for, return
to their initial weights. The seed of the training gives these back; drawing new ones is a choice.
The frozen front serves as a feature extractor, and the reset part learns from the retain set at a
rate that falls along a cosine. No forgotten sample ever reaches this part, so only the features can
carry influence. More layers forget more and bring the cost nearer to that of retraining. Random
samples are often predicted as before, because the features were fitted to them.

Differs: Norms of the last layers are reset too. Official code trains as long as the original did,
its rate restarted many times.
"""

from __future__ import annotations

from mucore.catalog import settings
from mucore.catalog.cards import EVERY_TASK, Among, Between, Footprint, MethodCard

CARD = MethodCard(
    id="eu_k",
    title="EU-k",
    family="sparsity",
    source="Goel, Prabhu, Kumaraguru, Towards Adversarial Evaluations for Inexact Machine "
    "Unlearning, 2022",
    code="shash42/Evaluating-Inexact-Unlearning src/methods.py",
    reads=frozenset({"retain", "training_record"}),
    tasks=EVERY_TASK,
    records=("initial",),
    no_records_when={"reset_from": ("kaiming",)},
    parameters=(
        settings.lr(0.1),
        settings.epochs(50, "the retain set", scaled=True),
        settings.choice("k_unit", "block", ("block", "layer"))(
            "Count blocks of the network besides its classifier, or convolutions and linear layers."
        ),
        settings.integer("k", 1, 1, 200)(
            "How many of the last blocks or layers are reset and trained again."
        ),
        settings.choice("reset_from", "theta_init", ("theta_init", "kaiming"))(
            "Start from the original's initial weights (pretrained ones where it had them), or "
            "from newly drawn ones."
        ),
        settings.choice("schedule", "cosine", ("constant", "cosine", "onecycle"))(
            "How the learning rate moves."
        ),
        *settings.sgd(256),
        settings.clip(None),
    ),
    search={
        "lr": Between(1e-3, 0.5, log=True),
        "epochs": settings.RETAIN_EPOCHS,
        "k": Between(1, 3),
        "batch_size": Among((64, 128, 256)),
    },
    paper_epochs=settings.MUBOX_EPOCHS,
    not_confinable="it trains the last k layers or blocks again, whichever those are.",
    confinable_when={"k_unit": ("layer",), "k": (1,)},
    footprint=Footprint(backward="epochs * retain"),
    storage="0 with the seed of the initial weights, else one model",
    aliases=("EU-k",),
)
