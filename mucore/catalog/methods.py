"""The roster of unlearning methods: one table that a person can read in one scroll.

Default values are the authors' (preset `authors`), as far as their paper or official code states them; `help` says where it does not.
A card's `revision` is part of the cache key: raise it whenever the function behind it can give another result.
"""

from __future__ import annotations

from mucore.catalog.cards import MethodCard, Parameter

# In display order; the dashboard colours by family (dashboard/theme.py).
FAMILIES = {
    "reference": "References",
    "exact": "Exact",
    "gradient_ascent": "Gradient ascent",
    "influence": "Influence and Fisher information",
    "teacher": "Teacher and student",
    "relabelling": "Relabelling and boundary",
    "sparsity": "Sparsity, masks, projection",
    "features": "Features and centroids",
    "competition": "Competition",
}

MUBOX_EPOCHS = 200  # MUBox trains 200 epochs; the defaults below were run on such models


def _lr(default: float, low: float = 1e-6, high: float = 1.0) -> Parameter:
    return Parameter(name="lr", kind="float", default=default, low=low, high=high, log=True, help="Learning rate.")


def _epochs(default: int, over: str, *, scaled: bool) -> Parameter:
    return Parameter(
        name="epochs", kind="int", default=default, low=0, high=500, help=f"Passes over {over}.", unit="epochs", scales_with_epochs=scaled
    )


def _batch(default: int, name: str = "batch_size", of: str = "samples") -> Parameter:
    return Parameter(name=name, kind="int", default=default, low=1, high=4096, log=True, help=f"Batch size, in {of}.")


def _momentum(default: float = 0.9) -> Parameter:
    return Parameter(name="momentum", kind="float", default=default, low=0.0, high=0.999, help="Momentum of SGD.")


def _decay(default: float = 5e-4) -> Parameter:
    return Parameter(name="weight_decay", kind="float", default=default, low=0.0, high=1.0, help="Weight decay of the optimiser.")


def _clip(default: float | None) -> Parameter:
    return Parameter(
        name="grad_clip",
        kind="float",
        default=default,
        low=1e-6,
        high=1e6,
        log=True,
        optional=True,
        help="Largest gradient norm; none: no clipping.",
    )


def _bn(default: str) -> Parameter:
    return Parameter(
        name="bn",
        kind="choice",
        default=default,
        choices=("train", "frozen"),
        help="Batch norm: batch statistics, or the original's running ones.",
    )


ORIGINAL = MethodCard(
    id="original",
    title="Original",
    family="reference",
    source="The trained model before any unlearning.",
    summary="The model trained on all data. Every method starts from a copy of it.",
    reads=frozenset(),
)

METHODS: tuple[MethodCard, ...] = (
    MethodCard(
        id="retrain",
        title="Retrain",
        family="reference",
        source="Gold standard of exact unlearning; recipe of the original model",
        summary=(
            "Trains a new model on the retain set alone, with the recipe of the original for the same number of epochs. "
            "Its result is what every other method tries to reach at a lower price."
        ),
        reads=frozenset({"retain"}),
        parameters=(
            Parameter(
                name="init_policy",
                kind="choice",
                default="same_init",
                choices=("same_init", "fresh"),
                help="Start from the original's initial weights (keeps weight distances comparable) or from fresh ones.",
            ),
        ),
        aliases=("Retrained", "Retrain from scratch"),
    ),
    MethodCard(
        id="finetune",
        title="Fine-tune",
        family="sparsity",
        source="Baseline; Golatkar et al., CVPR 2020; settings of Unlearn-Sparse (Jia et al., NeurIPS 2023)",
        code="OPTML-Group/Unlearn-Sparse unlearn/FT.py",
        summary="Trains on with the retain set only and hopes that what is not rehearsed is forgotten.",
        reads=frozenset({"retain"}),
        parameters=(_lr(0.01), _epochs(10, "the retain set", scaled=True), _momentum(), _decay(), _batch(256)),
        paper_epochs=MUBOX_EPOCHS,
        aliases=("FT", "Fine-tuning"),
    ),
    MethodCard(
        id="gradient_ascent",
        title="Gradient ascent",
        family="gradient_ascent",
        source="Baseline (NegGrad); settings of Unlearn-Sparse (Jia et al., NeurIPS 2023)",
        code="OPTML-Group/Unlearn-Sparse unlearn/GA.py",
        summary="Climbs the loss of the forget set, a few small steps. Nothing holds the retain set in place.",
        reads=frozenset({"forget"}),
        parameters=(
            _lr(1e-4),
            _epochs(5, "the forget set", scaled=False),
            _momentum(),
            _decay(),
            _batch(256),
            Parameter(
                name="stop_loss",
                kind="float",
                default=2.0,
                low=0.1,
                high=10.0,
                optional=True,
                unit="× ln C",
                help="Stop when the mean forget loss reaches this multiple of chance level; none: never. A guard of ours.",
            ),
            _clip(1.0),
            _bn("frozen"),
        ),
        differs="Batch norm frozen, clipping and a loss limit by default; official code has none of them (bn=train, the others none).",
        aliases=("GA", "NegGrad"),
    ),
    MethodCard(
        id="neggrad_plus",
        title="NegGrad+",
        family="gradient_ascent",
        source="Kurmanji et al., Towards Unbounded Machine Unlearning, NeurIPS 2023",
        code="meghdadk/SCRUB helper/loops.py",
        summary="Descends on the retain set and ascends on the forget set in one step, the retain loss weighted far higher.",
        reads=frozenset({"retain", "forget"}),
        parameters=(
            _lr(0.01),
            _epochs(5, "the retain set", scaled=True),
            Parameter(
                name="retain_weight",
                kind="float",
                default=0.99,
                low=0.0,
                high=1.0,
                help="Weight a of the retain loss; the forget loss gets 1 − a.",
            ),
            _momentum(),
            _decay(),
            _batch(128),
            Parameter(
                name="bn_forward",
                kind="choice",
                default="two",
                choices=("two", "concat"),
                help="One forward pass for each batch, or one for both together, which mixes batch-norm statistics.",
            ),
            Parameter(
                name="forget_loss_cap",
                kind="float",
                default=2.0,
                low=0.1,
                high=100.0,
                optional=True,
                unit="× ln C",
                help="The forget loss stops pushing above this multiple of chance level. A guard of ours.",
            ),
        ),
        paper_epochs=MUBOX_EPOCHS,
        differs="Unequal batch sizes still step; the forget loss is capped by default.",
    ),
    MethodCard(
        id="random_labels",
        title="Random labels",
        family="relabelling",
        source="Graves et al., AAAI 2021; Golatkar et al., CVPR 2020; settings of SalUn (Fan et al., ICLR 2024)",
        code="OPTML-Group/Unlearn-Saliency Classification/unlearn/RL.py",
        summary="Gives the forget set random labels and trains on both sets.",
        reads=frozenset({"retain", "forget"}),
        parameters=(
            _lr(0.01),
            _epochs(10, "the forget set and the retain set", scaled=True),
            _momentum(),
            _decay(),
            _batch(256),
            Parameter(
                name="mode",
                kind="choice",
                default="sequential",
                choices=("sequential", "mixed_fixed", "mixed_fresh", "forget_only"),
                help="Forget then retain pass, labels of all classes; both mixed, wrong labels, fixed or fresh; or forget pass only.",
            ),
        ),
        paper_epochs=MUBOX_EPOCHS,
        aliases=("RL", "Random labelling"),
    ),
    MethodCard(
        id="pseudo_labels",
        title="Pseudo-labels",
        family="relabelling",
        source="Chen et al., Machine Unlearning via Null Space Calibration, IJCAI 2024, first step; baseline of Are We Truly Forgetting?",
        summary="Gives each forgotten sample the label that the original finds second most likely, and trains on the forget set alone.",
        reads=frozenset({"forget"}),
        parameters=(_lr(1e-4), _epochs(10, "the forget set", scaled=False), _momentum(), _decay(), _batch(128), _bn("frozen")),
        differs="In class-wise scenarios no new label is a forgotten class; the official helper allows that. Rates are not in the paper.",
        aliases=("PL",),
    ),
    MethodCard(
        id="scrub",
        title="SCRUB",
        family="teacher",
        source="Kurmanji et al., Towards Unbounded Machine Unlearning, NeurIPS 2023",
        code="meghdadk/SCRUB thirdparty/repdistiller/helper/loops.py",
        summary=(
            "A student starts as a copy of the original. It runs away from it on the forget set and back to it on the retain set, in turn; "
            "the last epochs only go back."
        ),
        reads=frozenset({"retain", "forget"}),
        parameters=(
            _lr(5e-4),
            _epochs(5, "the retain set", scaled=True),
            Parameter(
                name="msteps",
                kind="int",
                default=3,
                low=0,
                high=100,
                unit="epochs",
                scales_with_epochs=True,
                help="How many of the first epochs begin with a pass that maximises the distance on the forget set.",
            ),
            Parameter(
                name="alpha", kind="float", default=0.5, low=0.0, high=10.0, help="Weight of the distillation loss on the retain set."
            ),
            Parameter(name="gamma", kind="float", default=1.0, low=0.0, high=100.0, help="Weight of the cross-entropy on the retain set."),
            Parameter(name="temperature", kind="float", default=4.0, low=0.1, high=20.0, help="Distillation temperature."),
            _momentum(),
            _decay(),
            _batch(128, "retain_batch_size", "retain samples"),
            _batch(64, "forget_batch_size", "forget samples"),
            Parameter(name="milestones", kind="ints", default=(3, 5, 9), help="Epochs after which the rate is multiplied by rho."),
            Parameter(name="rho", kind="float", default=0.1, low=0.0, high=1.0, help="Factor of the rate at each milestone."),
            _clip(10.0),
            Parameter(
                name="break_symmetry",
                kind="choice",
                default="bn_train",
                choices=("bn_train", "min_first", "tiny_noise"),
                help="At the start student and teacher agree and the gradient is zero; what makes them differ.",
            ),
        ),
        paper_epochs=MUBOX_EPOCHS,
        differs="Gradients are clipped at norm 10; the clip option of the official code has no effect there.",
    ),
    MethodCard(
        id="salun",
        title="SalUn",
        family="sparsity",
        source="Fan et al., SalUn, ICLR 2024",
        code="OPTML-Group/Unlearn-Saliency Classification/unlearn/RL.py",
        summary="Random labels, but only the half of the weights moves that the forget loss is most sensitive to.",
        reads=frozenset({"retain", "forget"}),
        parameters=(
            _lr(0.013),
            _epochs(10, "the forget set and the retain set", scaled=True),
            Parameter(name="density", kind="float", default=0.5, low=0.0, high=1.0, help="Share of the weights that may move."),
            _momentum(),
            _decay(),
            _batch(256),
            Parameter(
                name="label_pool",
                kind="choice",
                default="all",
                choices=("all", "others"),
                help="Draw labels from all classes, the true one too, or only from the other, not forgotten ones.",
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
        differs="Masked weights stay put under weight decay and momentum too; official code let them drift until February 2026.",
    ),
    MethodCard(
        id="ssd",
        title="SSD",
        family="influence",
        source="Foster et al., Selective Synaptic Dampening, AAAI 2024",
        code="if-loops/selective-synaptic-dampening src/ssd.py",
        summary="Shrinks the weights that matter more for the forget set than for the training set, by Fisher information. No training.",
        reads=frozenset({"retain", "forget"}),
        parameters=(
            Parameter(
                name="alpha",
                kind="float",
                default=10.0,
                low=0.01,
                high=1e6,
                log=True,
                help="A weight is chosen when its forget importance is this many times its overall one.",
            ),
            Parameter(name="lam", kind="float", default=1.0, low=0.0, high=100.0, help="Dampening constant λ."),
            Parameter(
                name="fisher",
                kind="choice",
                default="batch",
                choices=("batch", "sample"),
                help="Square the mean gradient of a batch (official code) or of each sample (paper).",
            ),
            _batch(128),
            Parameter(
                name="order",
                kind="choice",
                default="shuffled",
                choices=("shuffled", "retain_then_forget"),
                help="Order of the training set when squaring batch gradients; it decides whether the selection is capped.",
            ),
        ),
        storage="0 (one copy of the weights if the importance of the training set is kept)",
    ),
    MethodCard(
        id="bad_teacher",
        title="Bad teacher",
        family="teacher",
        source="Chundawat et al., Can Bad Teaching Induce Forgetting?, AAAI 2023",
        code="vikram2000b/bad-teaching-unlearning unlearn.py",
        summary="A student learns the outputs of a random network on the forget set and those of the original on a part of the retain set.",
        reads=frozenset({"retain", "forget"}),
        parameters=(
            _lr(1e-4),
            _epochs(1, "the forget set and the chosen part of the retain set", scaled=True),
            Parameter(name="retain_fraction", kind="float", default=0.3, low=0.0, high=1.0, help="Share of the retain set that is used."),
            Parameter(name="temperature", kind="float", default=1.0, low=0.1, high=20.0, help="Distillation temperature."),
            _batch(256),
            Parameter(
                name="reduction",
                kind="choice",
                default="element_mean",
                choices=("element_mean", "batchmean"),
                help="Mean over samples and classes (official code) or over samples.",
            ),
            Parameter(
                name="teacher",
                kind="choice",
                default="random_net",
                choices=("random_net", "uniform"),
                help="What the incompetent teacher says: a random network's outputs, or 1/C.",
            ),
            _bn("train"),
        ),
        paper_epochs=MUBOX_EPOCHS,
        aliases=("Bad-T", "bad_t"),
    ),
)
