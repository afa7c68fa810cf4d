"""The card of SCAR; the function is in mucore/methods/scar.py."""

from __future__ import annotations

from mucore.catalog.cards import Among, Between, Footprint, MethodCard, Parameter
from mucore.catalog.methods._settings import batch, bn, epochs, lr
from mucore.catalog.scenarios import CLASS_WISE

CARD = MethodCard(
    id="scar",
    title="SCAR",
    family="features",
    source="Bonato et al., Is Retain Set All You Need in Machine Unlearning?, ECCV 2024",
    year=2024,
    code="jbonato1/SCAR src/Unlearning_methods.py",
    summary=(
        "Moves the features of each forgotten sample to the nearest other class by "
        "Mahalanobis distance, while the original's outputs on stand-in images hold the rest. "
        "Classes that are forgotten already stop moving. Stops below an accuracy target."
    ),
    how=(
        "From the original's features, mean and covariance of every kept class are computed over "
        "the retain set. Mahalanobis distance takes the shape of these clusters into account, and "
        "each forgotten sample gets its target once, at the start. A student lowers this distance "
        "and, on other images, its divergence from the frozen original. Forgotten samples thus "
        "end up in foreign clusters while other answers should stay. The retain set provides "
        "those images by default; made-up ones can take their place but say less about real ones. "
        "Validation data are needed to stop, and moved samples become wrong where Retrain would "
        "often be right."
    ),
    reads=frozenset({"retain", "forget", "validation"}),
    tasks_reason="it moves features to the cluster of another class, and images with "
    "attributes fall into no classes.",
    parameters=(
        lr(5e-4),
        epochs(30, "the forget set, at most", scaled=False),
        Parameter(
            name="lambda_1",
            kind="float",
            default=1.0,
            low=0.0,
            high=100.0,
            help="Weight of the distance to the target class.",
        ),
        Parameter(
            name="lambda_2",
            kind="float",
            default=5.0,
            low=0.0,
            high=100.0,
            help="Weight of the distillation.",
        ),
        Parameter(
            name="temperature",
            kind="float",
            default=1.0,
            low=0.1,
            high=20.0,
            help="Divides the original's logits alone.",
        ),
        Parameter(
            name="delta",
            kind="float",
            default=0.5,
            low=0.01,
            high=2.0,
            help="Power to which features are raised (Tukey).",
        ),
        Parameter(
            name="gamma_1",
            kind="float",
            default=3.0,
            low=0.0,
            high=100.0,
            help="Shrinkage of the covariance's diagonal.",
        ),
        Parameter(
            name="gamma_2",
            kind="float",
            default=3.0,
            low=0.0,
            high=100.0,
            help="Shrinkage of the covariance's other entries.",
        ),
        Parameter(
            name="surrogate",
            kind="choice",
            default="retain",
            choices=("retain", "noise", "textures"),
            help=(
                "What the original is distilled on: the retain set, or 10,000 made-up images "
                "of noise or of clouds of several sizes (the retain set then gives class "
                "statistics alone)."
            ),
        ),
        Parameter(
            name="surrogate_batches",
            kind="int",
            default=5,
            low=1,
            high=1000,
            help="Stand-in batches for each forget batch.",
        ),
        Parameter(
            name="class_surrogate_batches",
            kind="int",
            default=1,
            low=1,
            high=1000,
            help="The same in class-wise scenarios.",
        ),
        batch(1024),
        Parameter(
            name="class_stop",
            kind="float",
            default=0.01,
            low=0.0,
            high=1.0,
            help="Forget accuracy below which a class-wise run stops.",
        ),
        Parameter(
            name="margin",
            kind="float",
            default=0.015,
            low=0.0,
            high=1.0,
            help="Other scenarios stop this far below the original's validation accuracy.",
        ),
        Parameter(
            name="still_known",
            kind="float",
            default=0.8,
            low=0.0,
            high=1.0,
            help="A class below this forget accuracy stops moving; TinyImageNet: 0.4. Class-wise "
            "runs do without it.",
        ),
        bn("train"),
        Parameter(
            name="form",
            kind="choice",
            default="forget_set",
            choices=("forget_set", "self"),
            choice_scenarios={
                "self": (
                    CLASS_WISE,
                    "made-up images can stand for a whole class, not for single samples.",
                )
            },
            omitted_when_default=True,
            help="Move the forget set, or (SCAR-self) made-up images that the original takes "
            "for a forgotten class: wants textures.",
        ),
    ),
    search={
        "lr": Between(1e-5, 1e-2, log=True),
        "epochs": Between(1, 30, log=True),
        "lambda_2": Between(0.05, 10.0, log=True),
        "delta": Among((0.1, 0.25, 0.5, 1.0)),
        "surrogate_batches": Among((1, 3, 5), when="leaving == 0"),
        "class_surrogate_batches": Among((1, 3, 5), when="leaving > 0"),
    },
    footprint=Footprint(
        stops=True,
        scratch=(
            "(said if (said := 4 * classes * (retain if surrogate == 'retain' else "
            "10_000)) <= state else 0) + (0 if said <= state and surrogate == 'retain' "
            "else state) + 4 * features * (forget + 3 * (members := retain / classes) + "
            "min(classes - leaving, forget) * (2 + min(2 + members, features)))"
        ),
        optimizer="2",
        graph="2 * batch_size",
        forward="retain + forget + epochs * forget + (0 if leaving else validation)",
        backward=(
            "epochs * (class_surrogate_batches if leaving else surrogate_batches) * "
            "(forget + ceil(forget / batch_size) * min(batch_size, retain))"
        ),
    ),
    storage="C · (d + d²) · 4 B (class statistics) and 10,000 surrogate images",
    differs=(
        "The official surrogates are ImageNet images, which are not at hand: the retain set "
        "stands in (the form with retain data), or made-up images. The stop rule is asked "
        "once an epoch and on validation data, in the self-forget form on those images, where "
        "the official code reads the forget set and the test set."
    ),
)
