"""SCRUB with a checkpoint after every epoch. It goes back to the one whose error on the forget set
is nearest to the error on unseen samples of the same classes, so that forgetting does not give
itself away.

SCRUB runs in full while copies of the weights are kept, the original among them. The last of these
is tested on validation samples, weighted so that classes are as frequent as in the forget set. That
error is the target: Retrain has never seen the forget set and should do about as well on it as on
such samples. The kept weights whose forget error comes nearest are the result, so membership
inference finds neither too few errors nor too many. It can only choose among states that SCRUB
passed through, which undoes excess and adds no forgetting. It needs validation data and room for
the copies.

Differs: The original is among the checkpoints; official code lists its error but never saved it.
Otherwise as SCRUB.
"""

from __future__ import annotations

from mucore.catalog.cards import EVERY_TASK, Footprint, MethodCard
from mucore.catalog.methods import scrub
from mucore.catalog.scenarios import SAMPLE_WISE
from mucore.catalog.settings import MUBOX_EPOCHS, choice

CARD = MethodCard(
    id="scrub_rewind",
    title="SCRUB+R",
    family="teacher",
    source="Kurmanji et al., Towards Unbounded Machine Unlearning, NeurIPS 2023",
    code="meghdadk/SCRUB MIA_experiments.ipynb",
    reads=frozenset({"retain", "forget", "validation"}),
    tasks=EVERY_TASK,
    parameters=(
        *scrub.CARD.parameters,
        choice("granularity", "epoch", ("epoch", "half_epoch"))(
            "Keep a checkpoint after each epoch, or after each of its passes."
        ),
        choice("reference", "reweighted", ("reweighted", "filtered"))(
            "Unseen samples of the forget set's classes count as often as in the forget set, or "
            "each once (official code)."
        ),
    ),
    search=scrub.CARD.search,
    paper_epochs=MUBOX_EPOCHS,
    scenarios=SAMPLE_WISE,
    scenarios_reason="it goes back to the error of unseen samples of the same classes, and "
    "neither a wholly forgotten class nor a poisoned sample has such an error to reach.",
    not_confinable="its tiny noise goes on the weights of every layer.",
    confinable_when={"break_symmetry": ("bn_train", "min_first")},
    footprint=Footprint(
        forward="(1 + epochs) * forget + validation", backward="epochs * retain + msteps * forget"
    ),
    storage="0 (while it runs, one copy of the weights an epoch)",
    aliases=("SCRUB+R",),
)
