"""Sorts the forget set by how memorised each sample seems and splits it in three. The least
memorised third is left alone, the middle one is forgotten by fine-tuning, the most memorised one by
SalUn, in this order.

Each forgotten sample gets a score, by default the higher the less sure the original is of its
label. Samples that fit the general pattern would be predicted alike without them, so there is
little to forget, while memorised ones need real effort. Each group therefore gets a treatment of
its own strength, and samples whose turn is still to come count as retained. The retain set is
needed, and some other scores read validation data or a record of training. The score only stands in
for true memorisation, which would take many retrained networks. Later steps can undo what earlier
ones reached, and their costs add up.

Differs: Scores by proxies; held-out data are the validation set; images augmented. Other settings
of a step are its own method's.
"""

from __future__ import annotations

from mucore.catalog.cards import EVERY_TASK, Among, Between, Footprint, MethodCard, Parameter
from mucore.catalog.settings import choice, integer, lr, real, sgd


def _method_of(third: str, default: str) -> Parameter:
    return choice(third, default, ("nothing", "finetune", "neggrad_plus", "salun"))(
        f"How the {third} third by memorisation is forgotten."
    )


def _rate_of(third: str, default: float) -> Parameter:
    return real(f"{third}_lr", default, 1e-6, 1.0, log=True)(
        f"Learning rate for the {third} third."
    )


def _epochs_of(third: str, default: int) -> Parameter:
    return integer(f"{third}_epochs", default, 0, 500, unit="epochs", scales_with_epochs=True)(
        f"Passes over the retain set for the {third} third."
    )


CARD = MethodCard(
    id="rum",
    title="RUM",
    family="sparsity",
    source="Zhao et al., What Makes Unlearning Hard and What to Do About It, NeurIPS 2024",
    code="kairanzhao/RUM main_rum.py",
    reads=frozenset({"retain", "forget", "training_record"}),
    records=("learning_events",),
    no_records_when={"proxy": ("confidence", "curvature", "heldout_retrain")},
    tasks=EVERY_TASK,
    parameters=(
        choice(
            "proxy", "confidence", ("confidence", "curvature", "learning_events", "heldout_retrain")
        )(
            "What stands for memorisation: a low confidence of the original, a sharply bent loss "
            "around the image, a low mean confidence through training, or answers that change "
            "when the validation set is trained on."
        ),
        choice("order", "low_to_high", ("low_to_high", "high_to_low"))(
            "Which third goes first; those still to come are retained until then."
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
        real("retain_weight", 0.97, 0.0, 1.0)(
            "Weight of the retain loss in the steps by NegGrad+."
        ),
        *sgd(256),
        lr(
            0.1,
            name="heldout_lr",
            help="Learning rate on the validation set (heldout_retrain).",
            omitted_when_default=True,
        ),
        integer(
            "heldout_epochs", None, 0, 500, unit="epochs", optional=True, omitted_when_default=True
        )(
            "Passes over the validation set, at most (heldout_retrain); none: as many as the "
            "original was trained for."
        ),
    ),
    search={
        "low": Among(("nothing", "finetune")),
        "medium_lr": Between(1e-4, 0.1, log=True),
        "medium_epochs": Between(1, 2),
        "high": Among(("salun", "neggrad_plus")),
        "high_lr": Between(1e-3, 0.1, log=True),
        "high_epochs": Between(1, 2),
    },
    paper_epochs=30,
    footprint=Footprint(
        forward=(
            "forget if proxy == 'confidence' else 2 * forget if proxy == 'heldout_retrain' else 0"
        ),
        backward="(11 * forget if proxy == 'curvature' else (heldout_epochs or recipe_epochs) * "
        "validation if proxy == 'heldout_retrain' else 0) + retain * ((low_epochs if low != "
        "'nothing' else 0) + (medium_epochs if medium != 'nothing' else 0) + (high_epochs if high "
        "!= 'nothing' else 0)) + forget",
    ),
    storage="one score a sample",
    aliases=("RUM",),
)
