"""Gives each forgotten sample the label that the original finds second most likely, and trains on
the forget set alone. With the null-space projection (UNSC) weights move only in directions that the
inputs of the kept classes do not use.

The new label of a forgotten image is the original's best class other than the true one and those
that go. The original then trains on these labels with batch norm frozen by default. The new class
usually lies just across the decision boundary, so a small shift should do and the rest stay as it
is. Without the null-space option nothing protects the retain set; with it, some retained samples of
each class must be read. The last layers can do most of the work, so features may still tell the
forgotten class. Random samples of all classes pull many boundaries at once and cost much accuracy.

Differs: In class-wise scenarios no new label is a forgotten class; the official helper allows that.
Rates of the first step alone are not in the paper. Null space: inputs are cut with each layer's own
stride, and the share grows by 0.03 / C a class.
"""

from __future__ import annotations

from mucore.catalog import settings
from mucore.catalog.cards import EVERY_TASK, Among, Between, Footprint, MethodCard

CARD = MethodCard(
    id="pseudo_labels",
    title="Pseudo-labels",
    family="relabelling",
    source="Chen et al., Machine Unlearning via Null Space Calibration (UNSC), IJCAI 2024; first "
    "step alone: Are We Truly Forgetting?",
    code="HQC-ML/UNSC utils.py and notebooks",
    reads=frozenset({"forget"}),
    tasks=EVERY_TASK,
    parameters=(
        settings.lr(1e-4),
        settings.epochs(10, "the forget set", scaled=False),
        *settings.sgd(128),
        settings.bn("frozen"),
        settings.choice("projection", "off", ("off", "null_space"), omitted_when_default=True)(
            "Labels alone, or UNSC: weights move outside the inputs of the kept classes, with a "
            "rate, epochs and batches of their own and neither momentum nor decay. Reads a few "
            "samples of each class of the retain set."
        ),
        settings.real("energy", 0.97, 0.0, 1.0, omitted_when_default=True)(
            "Null space: share of the energy of a layer's inputs that the first class protects; "
            "it rises to 1 over the classes."
        ),
        settings.integer(
            "basis_samples", 125, 1, 100_000, unit="samples", log=True, omitted_when_default=True
        )("Null space: retained samples of each class that the protected directions come from."),
        settings.lr(
            0.04, name="null_lr", help="Null space: learning rate.", omitted_when_default=True
        ),
        settings.epochs(
            25,
            "the forget set with the null space",
            scaled=False,
            name="null_epochs",
            omitted_when_default=True,
        ),
        settings.batch(
            512, "null_batch_size", "samples with the null space", omitted_when_default=True
        ),
        settings.switch("nesterov", False, omitted_when_default=True)(
            "Nesterov's momentum in place of plain; the null space has none."
        ),
    ),
    search={
        "lr": Between(1e-6, 1e-1, log=True),
        "epochs": Between(1, 25),
        "bn": Among(("frozen", "train")),
    },
    not_confinable="its null space is computed for every layer, and training within it moves them "
    "all.",
    confinable_when={"projection": ("off",)},
    footprint=Footprint(
        forward="forget + (0 if projection == 'off' else classes * basis_samples)",
        backward="forget * (epochs if projection == 'off' else null_epochs)",
    ),
    storage="0 (null space: one basis a layer while it runs, 0.1 to 0.5 GB for ResNet-18)",
    aliases=("PL",),
)
