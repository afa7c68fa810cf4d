"""Methods that move forgotten samples in feature space."""

from __future__ import annotations

from mucore.catalog.cards import MethodCard, Parameter
from mucore.catalog.methods.settings import batch, bn, epochs, lr, momentum
from mucore.catalog.scenarios import SCENARIOS

CLASS_WISE = frozenset(card.id for card in SCENARIOS if card.class_wise)

CARDS = (
    MethodCard(
        id="duck",
        title="DUCK",
        family="features",
        source="Cotogni et al., DUCK: Distance-based Unlearning via Centroid Kinematics, 2023",
        code="OcraM17/DUCK src/Unlearning_methods.py",
        summary=(
            "Moves the features of each forgotten sample to the nearest centroid of another "
            "class, while cross-entropy holds the retain set. Stops when the forget set is "
            "predicted no better than held-out data, or not at all where classes go entirely."
        ),
        how=(
            "Features are the inputs of the classifier, and their mean over the retained samples "
            "of a class, taken at the original, is its centroid. The target of a forgotten sample "
            "is the closest of these by cosine distance, its own class excepted. Adam pulls each "
            "forget batch to its targets, up to 40 times by default, each time beside another "
            "retain batch that holds its classes. Forgotten samples so look like another class "
            "already in the features. It needs the retain set, and validation data to know when "
            "to stop. Many retain batches make an epoch expensive, and pulled samples become "
            "wrong where Retrain would often be right."
        ),
        reads=frozenset({"retain", "forget", "validation"}),
        tasks_reason="it moves features to the centroid of another class, and images with "
        "attributes fall into no classes.",
        parameters=(
            lr(1e-3),
            Parameter(
                name="class_lr",
                kind="float",
                default=4e-4,
                low=1e-6,
                high=1.0,
                log=True,
                help="Learning rate in class-wise scenarios.",
            ),
            epochs(10, "the forget set, at most", scaled=False),
            Parameter(
                name="lambda_1",
                kind="float",
                default=1.0,
                low=0.0,
                high=100.0,
                help="Weight of the distance to the target centroids.",
            ),
            Parameter(
                name="lambda_2",
                kind="float",
                default=1.4,
                low=0.0,
                high=100.0,
                help="Weight of the cross-entropy on the retain set.",
            ),
            Parameter(
                name="temperature",
                kind="float",
                default=2.0,
                low=0.1,
                high=20.0,
                help="Divides the logits of the retain set.",
            ),
            Parameter(
                name="retain_batches",
                kind="int",
                default=40,
                low=1,
                high=1000,
                help="Retain batches for each forget batch, at most one pass over the retain set; "
                "CIFAR-100 and TinyImageNet: 5.",
            ),
            batch(1024),
            batch(256, "class_batch_size", "samples in class-wise scenarios"),
            Parameter(
                name="class_stop",
                kind="float",
                default=0.01,
                low=0.0,
                high=1.0,
                help="Forget accuracy below which a class-wise run stops; other scenarios take "
                "the original's validation accuracy.",
            ),
            Parameter(
                name="milestones",
                kind="ints",
                default=(25, 40),
                help="Epochs after which the rate is multiplied by rho.",
            ),
            Parameter(
                name="rho",
                kind="float",
                default=0.5,
                low=0.0,
                high=1.0,
                help="Factor of the rate at each milestone.",
            ),
            Parameter(
                name="polish",
                kind="bool",
                default=False,
                help="Two more epochs with a tenth of the pull, as in the official code but not "
                "in the paper.",
            ),
            bn("train"),
        ),
        storage="C · d · 4 B (centroids)",
        differs=(
            "Targets are fixed for each sample and never a forgotten class; in the official code, "
            "indices go astray. The target accuracy comes from validation data, the official one "
            "from test data. At most 10 epochs also where classes go (official: 200). Centroids "
            "are means over the whole retain set (official: over its first 50 batches). A forget "
            "batch meets as many retain batches as the authors' ratio says, 40; the official loop "
            "asks for the ratio too late and takes one more, 41. The number that they wrote down "
            "is taken here; the two differ only where the retain set has more than 40 batches."
        ),
    ),
    MethodCard(
        id="contrastive",
        title="Contrastive unlearning",
        family="features",
        source="Lee et al., Contrastive Unlearning, IJCAI 2025",
        code="Hongkyu-Lee/Contrastive-Unlearning core/trainer/unlearn/unlearn.py",
        summary=(
            "Pushes the features of forgotten samples away from retained ones of their class and "
            "towards those of other classes, with cross-entropy on the retained samples. Stops "
            "when forgotten samples do no better than held-out ones, or held-out samples of "
            "forgotten classes no better than chance."
        ),
        how=(
            "A forget batch and a random retain batch pass through the original together, and "
            "their features are scaled to length one. Contrastive learning is turned around: a "
            "forgotten sample becomes less similar to retained ones of its class and more similar "
            "to all others. So it leaves its cluster and loses what training made it share with "
            "the class. Cross-entropy on the retain batch, the other term of the loss, keeps the "
            "retained clusters apart. It needs the retain set throughout, and validation data to "
            "know when to stop. That is checked after whole epochs only, so a large forget set "
            "can go too far within one."
        ),
        reads=frozenset({"retain", "forget", "validation"}),
        tasks_reason="it tells samples of one class from those of the others, and images with "
        "attributes fall into no classes.",
        parameters=(
            lr(1e-3),
            epochs(30, "the forget set, at most", scaled=False),
            Parameter(
                name="temperature",
                kind="float",
                default=0.7,
                low=0.01,
                high=20.0,
                log=True,
                help="Temperature τ of similarities.",
            ),
            Parameter(
                name="lambda_unlearn",
                kind="float",
                default=3.0,
                low=0.0,
                high=100.0,
                help="Weight of the contrastive loss.",
            ),
            Parameter(
                name="lambda_ce",
                kind="float",
                default=1.0,
                low=0.0,
                high=100.0,
                help="Weight of the cross-entropy on the retain set.",
            ),
            Parameter(
                name="repeats",
                kind="int",
                default=4,
                low=1,
                high=100,
                help="Retain batches ω that each forget batch meets.",
            ),
            momentum(),
            batch(128),
            batch(64, "class_batch_size", "samples in class-wise scenarios"),
            Parameter(
                name="push",
                kind="choice",
                default="paper",
                choices=("paper", "code"),
                help="The push from the own class counts once (paper) or as often as there are "
                "retained samples for each pull (code).",
            ),
            bn("train"),
        ),
        differs=(
            "Normalised features of the network as it is; the official network has a projection "
            "head. Stops on validation data. Retain batches come from shuffled passes, not drawn "
            "with replacement."
        ),
        aliases=("CU", "contrastive_unlearning"),
    ),
    MethodCard(
        id="scar",
        title="SCAR",
        family="features",
        source="Bonato et al., Is Retain Set All You Need in Machine Unlearning?, ECCV 2024",
        code="jbonato1/SCAR src/Unlearning_methods.py",
        summary=(
            "Moves the features of each forgotten sample to the nearest other class by "
            "Mahalanobis distance, while the original's outputs on stand-in images hold the rest. "
            "Classes that are forgotten already stop moving. Stops below an accuracy target."
        ),
        how=(
            "From the original's features, mean and covariance of every kept class are computed "
            "over the retain set. Mahalanobis distance takes the shape of these clusters into "
            "account, and each forgotten sample gets its target once, at the start. A student "
            "lowers this distance and, on other images, its divergence from the frozen original. "
            "So forgotten samples end in foreign clusters while other answers should stay. The "
            "retain set provides those images by default; made-up ones can take their place but "
            "say less about real ones. Validation data are needed to stop, and moved samples "
            "become wrong where Retrain would often be right."
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
                help="A class below this forget accuracy stops moving; TinyImageNet: 0.4. "
                "Class-wise runs do without.",
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
                late=True,
                help="Move the forget set, or (SCAR-self) made-up images that the original takes "
                "for a forgotten class: wants textures.",
            ),
        ),
        storage="C · (d + d²) · 4 B (class statistics) and 10,000 surrogate images",
        differs=(
            "The official surrogates are ImageNet images, which are not at hand: the retain set "
            "stands in (the form with retain data), or made-up images. The stop rule is asked "
            "once an epoch and on validation data, in the self-forget form on those images, where "
            "the official code reads the forget set and the test set."
        ),
    ),
)
