"""Makes the true class of the forget set unlikely, moving weights only in directions that the
inputs of the retain set hardly use. Stops when the forget set is predicted worse than unseen data.

A record holds the second moments of each layer's inputs over the training set, and those of the
forget set are subtracted. The leading directions of what remains are those that retained images
use; by default they cover 90 percent of the singular values' sum. The original trains on the forget
set alone, and each gradient loses its part in these directions. Outputs on retained images thus
change little, although none of them is read. Validation data are needed to stop, and the record
grows with the square of a layer's inputs. Protecting too much leaves no room to forget, and too
little costs accuracy.

Differs: Moments with each layer's own stride and one transform for both sets, negative eigenvalues
at zero, where the official code has stride 1, augmentation in one of the sets, and their absolute
values. Depoisoning ends by validation accuracy, where the official code reads the test set, and its
mixing of protected directions is applied to the weights, not kept beside them. Where whole classes
go, the only official end before the last epoch is a fall of 5 points on what is kept, which
projection prevents: here (class_stop=target) it also ends at a forget accuracy of 1 %, and looks
every fifth epoch at 500 samples of each set. A hundred passes over a class cost most of a Retrain
as short as that of the preset standard all the same.
"""

from __future__ import annotations

from mucore.catalog.cards import EVERY_TASK, Among, Between, MethodCard
from mucore.catalog.scenarios import CLASS_WISE, POISONED
from mucore.catalog.settings import batch, choice, decay, epochs, lr, real

# PGU's settings in the official depoisoning experiments.
_DEPOISON = {"variant": "depoison", "lr": 0.1, "lr_end": 0.05, "offset": 0.1, "retained_var": 0.95}
# And where classes go: the batches of its script for them, and an end of ours.
_CLASSES = {"batch_size": 100, "class_stop": "target"}

CARD = MethodCard(
    id="pgu",
    title="PGU",
    family="sparsity",
    source="Hoang et al., Learn to Unlearn for Deep Neural Networks (projected gradient "
    "unlearning), WACV 2024",
    code="hnanhtuan/projected_gradient_unlearning utils/unlearn_utils.py",
    reads=frozenset({"forget", "validation", "training_record"}),
    tasks=EVERY_TASK,
    records=("layer_moments",),
    parameters=(
        lr(0.05, help="Learning rate at the start."),
        lr(0.01, name="lr_end", help="Learning rate at the end; it falls exponentially."),
        epochs(100, "the forget set, at most", scaled=False),
        real("retained_var", 0.9, 0.0, 1.0)(
            "Share of the singular values of a layer's inputs that is protected; 1: the layer "
            "does not move."
        ),
        real("offset", 0.05, 1e-3, 1.0)("Bounds the loss: it is at most minus its logarithm."),
        real("entropy_weight", 0.2, 0.0, 10.0)("Reward for a flat prediction."),
        decay(0.0),
        batch(128),
        choice("class_stop", "validation", ("target", "validation", "retain"))(
            "Where whole classes go: the set whose accuracy may fall by 5 points (official: the "
            "retain set), asked after every epoch; target: the validation set, or a forget "
            "accuracy of 1 %, asked every fifth epoch of 500 samples of each."
        ),
        choice(
            "variant",
            "forget",
            ("forget", "depoison"),
            choice_scenarios={
                "depoison": (
                    POISONED,
                    "nothing is poisoned there, so the labels of the forget set are right.",
                )
            },
            omitted_when_default=True,
        )(
            "What the official code does to forget, or to remove poison: there the prediction "
            "over the other classes is made sharp, protected directions are mixed at a tenth of "
            "the rate, and it ends when accuracy has fallen by 5 points."
        ),
    ),
    search={
        "lr": Between(1e-3, 0.5, log=True),
        "lr_end": Between(1e-3, 0.5, log=True),
        "epochs": Between(10, 100, log=True),
        "retained_var": Between(0.8, 0.99),
        "entropy_weight": Among((0.0, 0.1, 0.2, 0.5)),
        "batch_size": Among((128,)),
        "class_stop": Among(("validation",), when="leaving > 0"),
    },
    scenario_values=dict.fromkeys(sorted(POISONED), _DEPOISON)
    | dict.fromkeys(sorted(CLASS_WISE), _CLASSES),
    not_confinable="it goes in directions that are computed for every layer.",
    storage="Σ d² · 4 bytes over the layers, d weights of one output: 0.37 GB for ResNet-18",
    aliases=("Projected gradient unlearning",),
)
