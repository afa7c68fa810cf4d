"""Methods that train a part of the weights, or fewer of them."""

from __future__ import annotations

from dataclasses import replace

from mucore.catalog.cards import EVERY_TASK, MethodCard, Parameter
from mucore.catalog.methods.settings import (
    MUBOX_EPOCHS,
    batch,
    bn,
    clip,
    decay,
    epochs,
    lr,
    momentum,
)
from mucore.catalog.scenarios import CLASS_WISE, POISONED

# PGU's settings in the official depoisoning experiments.
_DEPOISON = {"variant": "depoison", "lr": 0.1, "lr_end": 0.05, "offset": 0.1, "retained_var": 0.95}
# And where classes go: the batches of its script for them, and an end of ours.
_CLASSES = {"batch_size": 100, "class_stop": "target"}


def _method_of(third: str, default: str) -> Parameter:
    return Parameter(
        name=third,
        kind="choice",
        default=default,
        choices=("nothing", "finetune", "neggrad_plus", "salun"),
        help=f"How the {third} third by memorisation is forgotten.",
    )


def _rate_of(third: str, default: float) -> Parameter:
    return Parameter(
        name=f"{third}_lr",
        kind="float",
        default=default,
        low=1e-6,
        high=1.0,
        log=True,
        help=f"Learning rate for the {third} third.",
    )


def _epochs_of(third: str, default: int) -> Parameter:
    return Parameter(
        name=f"{third}_epochs",
        kind="int",
        default=default,
        low=0,
        high=500,
        unit="epochs",
        scales_with_epochs=True,
        help=f"Passes over the retain set for the {third} third.",
    )


CARDS = (
    MethodCard(
        id="finetune",
        title="Fine-tune",
        family="sparsity",
        source="Baseline; Golatkar et al., CVPR 2020; settings of Unlearn-Sparse (Jia et al., "
        "NeurIPS 2023)",
        code="OPTML-Group/Unlearn-Sparse unlearn/FT.py",
        summary="Goes on training with the retain set only, in the hope that what is not "
        "rehearsed is forgotten.",
        how=(
            "The original goes on training with ordinary cross-entropy, as if the forget set had "
            "never existed. It relies on catastrophic forgetting: weights that served only the "
            "missing samples are no longer held in place and drift. Nothing pushes against the "
            "forget set, which is never read. A network that already fits the retain set has "
            "small gradients, so it drifts little and most of the influence stays. A high "
            "learning rate forgets more, but then it is retraining in disguise. Needing nothing "
            "but the retain set and some epochs, it is the baseline that others should beat."
        ),
        reads=frozenset({"retain"}),
        tasks=EVERY_TASK,
        parameters=(
            lr(0.01),
            epochs(10, "the retain set", scaled=True),
            momentum(),
            decay(),
            batch(256),
        ),
        paper_epochs=MUBOX_EPOCHS,
        aliases=("FT", "Fine-tuning"),
    ),
    MethodCard(
        id="salun",
        title="SalUn",
        family="sparsity",
        source="Fan et al., SalUn, ICLR 2024",
        code="OPTML-Group/Unlearn-Saliency Classification/unlearn/RL.py",
        summary="Random labels, but only the half of the weights moves that the forget loss is "
        "most sensitive to.",
        how=(
            "The gradient of the forget set's loss is summed at the original's weights. By "
            "default half of the weights, those with the largest absolute sums, may move, and all "
            "others keep their exact values. Each epoch passes over the forget set under labels "
            "drawn anew, then over the retain set under its own. The mask confines the change to "
            "weights that act on the forget set, so other abilities should suffer less than under "
            "plain relabelling. Too low a learning rate forgets next to nothing. Unsure answers "
            "where Retrain is sure are a trace that membership inference by confidence can find."
        ),
        reads=frozenset({"retain", "forget"}),
        tasks=EVERY_TASK,
        parameters=(
            lr(0.013),
            epochs(10, "the forget set and the retain set", scaled=True),
            Parameter(
                name="density",
                kind="float",
                default=0.5,
                low=0.0,
                high=1.0,
                help="Share of the weights that may move.",
            ),
            momentum(),
            decay(),
            batch(256),
            Parameter(
                name="label_pool",
                kind="choice",
                default="all",
                choices=("all", "others"),
                help="Draw labels from all classes, the true one too, or only from the other, not "
                "forgotten ones.",
            ),
            Parameter(
                name="mode",
                kind="choice",
                default="sequential",
                choices=("sequential", "mixed"),
                help="Forget pass then retain pass, or both sets shuffled together.",
            ),
        ),
        paper_epochs=MUBOX_EPOCHS,
        storage="one mask of the weights (MUBox: 0.09 GB for ResNet-18, an int64 mask)",
        differs="Masked weights stay put under weight decay and momentum too; official code let "
        "them drift until February 2026.",
    ),
    MethodCard(
        id="l1_sparse",
        title="l1-sparse",
        family="sparsity",
        source="Jia, Liu, Ram et al., Model Sparsity Can Simplify Machine Unlearning, NeurIPS 2023",
        code="OPTML-Group/Unlearn-Sparse unlearn/FT.py (FT_prune)",
        summary="Fine-tunes on the retain set while a penalty pulls all weights towards zero; the "
        "penalty fades out over the epochs.",
        how=(
            "It is fine-tuning of the original with one more term in the loss: α times the sum of "
            "all absolute weights. The penalty falls from epoch to epoch, so early ones thin the "
            "network out and later ones regain accuracy. Weights that the retain set does not "
            "need come close to zero, and what they stored of the forget set goes with them. "
            "Weights can also be pruned for good, in the given original or in one trained for "
            "that purpose. The forget set is never read, so nothing aims at it. A small α is "
            "plain fine-tuning, a large one costs accuracy, and whole classes tend to survive."
        ),
        reads=frozenset({"retain", "training_record"}),
        records=("omp", "imp", "synflow"),
        elsewhere={"pruning": ("magnitude",)},
        tasks=EVERY_TASK,
        parameters=(
            lr(0.01),
            epochs(10, "the retain set", scaled=True),
            Parameter(
                name="alpha",
                kind="float",
                default=5e-4,
                low=1e-8,
                high=0.1,
                log=True,
                help="Weight of the sum of all absolute weights. Few steps need more: alpha × lr "
                "× steps / (1 − momentum) is what counts.",
            ),
            Parameter(
                name="plain_epochs",
                kind="int",
                default=0,
                low=0,
                high=500,
                unit="epochs",
                help="How many of the last epochs go without a penalty.",
            ),
            Parameter(
                name="prune",
                kind="float",
                default=0.0,
                low=0.0,
                high=0.999,
                help="Share of the convolution weights that is set to zero first and stays there; "
                "see pruning.",
            ),
            momentum(),
            decay(),
            batch(256),
            Parameter(
                name="pruning",
                kind="choice",
                default="magnitude",
                choices=("magnitude", "omp", "imp", "synflow"),
                late=True,
                help=(
                    "The smallest weights of the given original; or another original, trained "
                    "with few weights: cut by magnitude (omp, official share 0.95), a fifth of "
                    "the rest at a time (imp), or before training by SynFlow."
                ),
            ),
            Parameter(
                name="rewind",
                kind="float",
                default=0.044,
                low=0.0,
                high=0.99,
                unit="of training",
                late=True,
                help="When the kept weights of omp and imp were what they go on from, in whole "
                "epochs; official: epoch 8 of 182.",
            ),
        ),
        paper_epochs=MUBOX_EPOCHS,
        own_layers="it prunes weights of every layer.",
        confined={"pruning": ("magnitude",), "prune": (0.0,)},
        storage="0 (one mask of the weights if pruned)",
        differs=(
            "The original is given, so it is pruned after training unless asked otherwise. A "
            "sparse original trains on to the end of the recipe from where it was put back, the "
            "official code as many epochs again. The repository leaves alpha open; 5e-4 is AMUN's."
        ),
        aliases=("l1-sparsity", "FT_prune"),
    ),
    MethodCard(
        id="cf_k",
        title="CF-k",
        family="sparsity",
        source="Goel, Prabhu, Kumaraguru, Towards Adversarial Evaluations for Inexact Machine "
        "Unlearning, 2022",
        code="shash42/Evaluating-Inexact-Unlearning src/methods.py",
        summary="Goes on training the last layers alone, with the retain set only. What earlier "
        "layers learned from the forget set stays.",
        how=(
            "All of the original is frozen but its last block and the classifier, or as many "
            "blocks or layers as asked for. Frozen batch norms keep their statistics. The free "
            "part trains with cross-entropy on the retain set, and the forget set is never read. "
            "Late layers turn features into classes, so they should be the first to lose what is "
            "no longer rehearsed, and few layers train quickly. On a well fitted network they "
            "hardly move, so as a rule it forgets no more than fine-tuning of all layers."
        ),
        reads=frozenset({"retain"}),
        tasks=EVERY_TASK,
        parameters=(
            lr(0.01),
            epochs(10, "the retain set", scaled=True),
            Parameter(
                name="k_unit",
                kind="choice",
                default="block",
                choices=("block", "layer"),
                help="Count blocks of the network besides its classifier, or convolutions and "
                "linear layers.",
            ),
            Parameter(
                name="k",
                kind="int",
                default=1,
                low=1,
                high=200,
                help="How many of the last blocks or layers are trained.",
            ),
            momentum(),
            decay(),
            batch(256),
            clip(None),
            bn("train"),
        ),
        paper_epochs=MUBOX_EPOCHS,
        own_layers="it trains the last k layers or blocks, whichever those are.",
        confined={"k_unit": ("layer",), "k": (1,)},
        differs="Frozen batch norms keep their statistics; official code lets them drift, and "
        "restarts its rate from 0.1 again and again.",
        aliases=("CF-k",),
    ),
    MethodCard(
        id="eu_k",
        title="EU-k",
        family="sparsity",
        source="Goel, Prabhu, Kumaraguru, Towards Adversarial Evaluations for Inexact Machine "
        "Unlearning, 2022",
        code="shash42/Evaluating-Inexact-Unlearning src/methods.py",
        summary=(
            "Puts the last layers back to where training began and trains them anew on the retain "
            "set, the others frozen. Those layers have forgotten exactly; the early ones have not."
        ),
        how=(
            "The last block of the original and its classifier, or as many blocks or layers as "
            "asked for, return to their initial weights. The seed of the training gives these "
            "back; drawing new ones is a choice. The frozen front serves as a feature extractor, "
            "and the reset part learns from the retain set at a rate that falls along a cosine. "
            "No forgotten sample ever reaches this part, so only the features can carry "
            "influence. More layers forget more and bring the cost nearer to that of retraining. "
            "Random samples are often predicted as before, because the features were fitted to "
            "them."
        ),
        reads=frozenset({"retain", "training_record"}),
        tasks=EVERY_TASK,
        records=("initial",),
        elsewhere={"reset_from": ("kaiming",)},
        parameters=(
            lr(0.1),
            epochs(50, "the retain set", scaled=True),
            Parameter(
                name="k_unit",
                kind="choice",
                default="block",
                choices=("block", "layer"),
                help="Count blocks of the network besides its classifier, or convolutions and "
                "linear layers.",
            ),
            Parameter(
                name="k",
                kind="int",
                default=1,
                low=1,
                high=200,
                help="How many of the last blocks or layers start anew.",
            ),
            Parameter(
                name="reset_from",
                kind="choice",
                default="theta_init",
                choices=("theta_init", "kaiming"),
                help="Start from the original's initial weights (pretrained ones where it had "
                "them), or from newly drawn ones.",
            ),
            Parameter(
                name="schedule",
                kind="choice",
                default="cosine",
                choices=("constant", "cosine", "onecycle"),
                help="How the learning rate moves.",
            ),
            momentum(),
            decay(),
            batch(256),
            clip(None),
        ),
        paper_epochs=MUBOX_EPOCHS,
        own_layers="it trains the last k layers or blocks anew, whichever those are.",
        confined={"k_unit": ("layer",), "k": (1,)},
        storage="0 with the seed of the initial weights, else one model",
        differs="Norms of the last layers start anew too. Official code trains as long as the "
        "original did, its rate restarted many times.",
        aliases=("EU-k",),
    ),
    MethodCard(
        id="rum",
        title="RUM",
        family="sparsity",
        source="Zhao et al., What Makes Unlearning Hard and What to Do About It, NeurIPS 2024",
        code="kairanzhao/RUM main_rum.py",
        summary=(
            "Sorts the forget set by how memorised each sample seems and splits it in three. The "
            "least memorised third is left alone, the middle one is forgotten by fine-tuning, the "
            "most memorised one by SalUn, in this order."
        ),
        how=(
            "Each forgotten sample gets a score, by default the higher the less sure the original "
            "is of its label. Samples that fit the general pattern would be predicted alike "
            "without them, so there is little to forget, while memorised ones need real effort. "
            "Each group therefore gets a treatment of its own strength, and samples whose turn is "
            "still to come count as retained. The retain set is needed, and some other scores "
            "read validation data or a record of training. The score only stands in for true "
            "memorisation, which would take many retrained networks. Later steps can undo what "
            "earlier ones reached, and their costs add up."
        ),
        reads=frozenset({"retain", "forget", "training_record"}),
        records=("learning_events",),
        elsewhere={"proxy": ("confidence", "curvature", "heldout_retrain")},
        tasks=EVERY_TASK,
        parameters=(
            Parameter(
                name="proxy",
                kind="choice",
                default="confidence",
                choices=("confidence", "curvature", "learning_events", "heldout_retrain"),
                help=(
                    "What stands for memorisation: a low confidence of the original, a sharply "
                    "bent loss around the image, a low mean confidence through training, or "
                    "answers that change when the validation set is trained on."
                ),
            ),
            Parameter(
                name="order",
                kind="choice",
                default="low_to_high",
                choices=("low_to_high", "high_to_low"),
                help="Which third goes first; those still to come are retained until then.",
            ),
            _method_of("low", "nothing"),
            _rate_of("low", 0.01),
            _epochs_of("low", 5),
            _method_of("medium", "finetune"),
            _rate_of("medium", 0.1),
            _epochs_of("medium", 10),
            _method_of("high", "salun"),
            _rate_of("high", 0.1),
            _epochs_of("high", 5),
            Parameter(
                name="retain_weight",
                kind="float",
                default=0.97,
                low=0.0,
                high=1.0,
                help="Weight of the retain loss in the steps by NegGrad+.",
            ),
            momentum(),
            decay(),
            batch(256),
            replace(
                lr(
                    0.1,
                    name="heldout_lr",
                    help="Learning rate on the validation set (heldout_retrain).",
                ),
                late=True,
            ),
            Parameter(
                name="heldout_epochs",
                kind="int",
                default=None,
                low=0,
                high=500,
                unit="epochs",
                optional=True,
                late=True,
                help="Passes over the validation set, at most (heldout_retrain); none: as many as "
                "the original was trained for.",
            ),
        ),
        paper_epochs=30,
        storage="one score a sample",
        differs="Scores by proxies; held-out data are the validation set; images augmented. Other "
        "settings of a step are its own method's.",
        aliases=("RUM",),
    ),
    MethodCard(
        id="pgu",
        title="PGU",
        family="sparsity",
        source="Hoang et al., Learn to Unlearn for Deep Neural Networks (projected gradient "
        "unlearning), WACV 2024",
        code="hnanhtuan/projected_gradient_unlearning utils/unlearn_utils.py",
        summary=(
            "Makes the true class of the forget set unlikely, moving weights only in directions "
            "that the inputs of the retain set hardly use. Stops when the forget set is predicted "
            "worse than unseen data."
        ),
        how=(
            "A record holds the second moments of each layer's inputs over the training set, and "
            "those of the forget set are subtracted. The leading directions of what remains are "
            "those that retained images use; by default they cover 90 percent of the singular "
            "values' sum. The original trains on the forget set alone, and each gradient loses "
            "its part in these directions. Outputs on retained images so change little, although "
            "none of them is read. Validation data are needed to stop, and the record grows with "
            "the square of a layer's inputs. Protecting too much leaves no room to forget, and "
            "too little costs accuracy."
        ),
        reads=frozenset({"forget", "validation", "training_record"}),
        tasks=EVERY_TASK,
        records=("layer_moments",),
        parameters=(
            lr(0.05, help="Learning rate at the start."),
            lr(0.01, name="lr_end", help="Learning rate at the end; it falls exponentially."),
            epochs(100, "the forget set, at most", scaled=False),
            Parameter(
                name="retained_var",
                kind="float",
                default=0.9,
                low=0.0,
                high=1.0,
                help="Share of the singular values of a layer's inputs that is protected; 1: the "
                "layer does not move.",
            ),
            Parameter(
                name="offset",
                kind="float",
                default=0.05,
                low=1e-3,
                high=1.0,
                help="Bounds the loss: it is at most minus its logarithm.",
            ),
            Parameter(
                name="entropy_weight",
                kind="float",
                default=0.2,
                low=0.0,
                high=10.0,
                help="Reward for a flat prediction.",
            ),
            decay(0.0),
            batch(128),
            Parameter(
                name="class_stop",
                kind="choice",
                default="validation",
                choices=("target", "validation", "retain"),
                help=(
                    "Where whole classes go: the set whose accuracy may fall by 5 points "
                    "(official: the retain set), asked after every epoch; target: the validation "
                    "set, or a forget accuracy of 1 %, asked every fifth epoch of 500 samples of "
                    "each."
                ),
            ),
            Parameter(
                name="variant",
                kind="choice",
                default="forget",
                choices=("forget", "depoison"),
                help=(
                    "What the official code does to forget, or to remove poison: there the "
                    "prediction over the other classes is made sharp, protected directions are "
                    "mixed at a tenth of the rate, and it ends when accuracy has fallen by 5 "
                    "points."
                ),
                choice_scenarios={
                    "depoison": (
                        POISONED,
                        "nothing is poisoned there, so the labels of the forget set are right.",
                    )
                },
                late=True,
            ),
        ),
        scenario_values=dict.fromkeys(sorted(POISONED), _DEPOISON)
        | dict.fromkeys(sorted(CLASS_WISE), _CLASSES),
        own_layers="it goes in directions that are computed for every layer.",
        storage="Σ d² · 8 bytes over the layers, d weights of one output: 0.72 GB for ResNet-18",
        differs=(
            "Moments with each layer's own stride and one transform for both sets, negative "
            "eigenvalues at zero, where the official code has stride 1, augmentation in one of "
            "the sets, and their absolute values. Depoisoning ends by validation accuracy, where "
            "the official code reads the test set, and its mixing of protected directions is "
            "applied to the weights, not kept beside them. Where whole classes go, the only "
            "official end before the last epoch is a fall of 5 points on what is kept, which "
            "projection prevents: here (class_stop=target) it also ends at a forget accuracy of 1 "
            "%, and looks every fifth epoch at 500 samples of each set. A hundred passes over a "
            "class cost most of a Retrain as short as that of the preset standard all the same."
        ),
        aliases=("Projected gradient unlearning",),
    ),
    MethodCard(
        id="sfron",
        title="SFRon",
        family="sparsity",
        source="Huang et al., Unified Gradient-Based Machine Unlearning with Remain Geometry "
        "Enhancement, NeurIPS 2024",
        code="K1nght/Unified-Unlearning-w-Remain-Geometry Classification/unlearn/sfron.py",
        summary=(
            "Ascends on forget samples, the well fitted ones weighted most, moving only weights "
            "that matter more to them than to the retain set; descends on the retain set in "
            "between."
        ),
        how=(
            "At the original, the diagonal Fisher information of all weights is estimated once "
            "for each of the two sets. Weights with at least as much information for the forget "
            "set as for the retain set form the mask of the ascent. By default one masked step "
            "precedes five free ones on the retain set, and its strength falls to zero, so the "
            "end is repair alone. Small losses weigh most, which spares samples that are "
            "forgotten already, and the mask should leave retained knowledge alone. The retain "
            "steps make up most of the cost. Too much strength forgets far more than Retrain and "
            "lowers accuracy."
        ),
        reads=frozenset({"retain", "forget"}),
        tasks=EVERY_TASK,
        parameters=(
            lr(0.01),
            Parameter(
                name="iterations",
                kind="int",
                default=1500,
                low=1,
                high=100_000,
                log=True,
                unit="steps",
                scales_with_epochs=True,
                help="Steps on the retain set.",
            ),
            Parameter(
                name="every",
                kind="int",
                default=5,
                low=1,
                high=1000,
                help="A forget step comes before every so many retain steps.",
            ),
            Parameter(
                name="alpha",
                kind="float",
                default=25.0,
                low=0.0,
                high=1e4,
                help="Strength of the ascent at the start.",
            ),
            Parameter(
                name="lam",
                kind="float",
                default=0.5,
                low=0.0,
                high=2.0,
                help="Power of 1/loss in a forget sample's weight; 0: all alike.",
            ),
            Parameter(
                name="gamma",
                kind="float",
                default=1.0,
                low=0.0,
                high=1e3,
                help="A weight may ascend if its Fisher information for the forget set is this "
                "many times that for the retain set.",
            ),
            Parameter(
                name="beta",
                kind="float",
                default=1.0,
                low=0.0,
                high=1.0,
                help="Share of each iteration that is kept (slow weights); 1: all, as in the "
                "official code.",
            ),
            Parameter(
                name="optimizer",
                kind="choice",
                default="sgd",
                choices=("sgd", "adamw"),
                help="AdamW with 2e-5 for transformers.",
            ),
            momentum(),
            decay(),
            clip(7.0),
            batch(128),
        ),
        paper_epochs=MUBOX_EPOCHS,
        differs="Batches come from endless shuffled streams, so all have the same size.",
        aliases=("SFR-on",),
    ),
)
