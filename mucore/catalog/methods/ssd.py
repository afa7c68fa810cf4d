"""Shrinks the weights that matter more for the forget set than for the training set, by Fisher
information. No training.

Every weight of the original gets two importances, one from the forget set and one from the whole
training set. Importance is the diagonal of the Fisher information, by default from squared
gradients of whole batches. A weight is selected if the first is more than α times the second.
Selected weights are multiplied by the ratio of second to first, so the most specialised shrink most
while shared knowledge should survive. The cost is little more than one pass of gradients over all
data, but nothing repairs the retain set afterwards. A low α wrecks the network, and a high one
selects nothing.

Differs: Nothing by default: batches are cut in the order of the official scripts, in 64 where whole
classes go and in 128 elsewhere. That order selects few weights. Shuffled batches, which no official
script has, average gradients away and select many.
"""

from __future__ import annotations

from mucore.catalog.cards import EVERY_TASK, Among, Between, Footprint, MethodCard
from mucore.catalog.scenarios import CLASS_WISE
from mucore.catalog.settings import batch, choice, real

# The official script for whole classes reads them class by class, in batches of 64.
SSD_CLASSES = dict.fromkeys(sorted(CLASS_WISE), {"batch_size": 64, "order": "by_class"})

CARD = MethodCard(
    id="ssd",
    title="SSD",
    family="influence",
    source="Foster et al., Selective Synaptic Dampening, AAAI 2024",
    code="if-loops/selective-synaptic-dampening src/ssd.py",
    reads=frozenset({"retain", "forget"}),
    tasks=EVERY_TASK,
    parameters=(
        real("alpha", 10.0, 0.01, 1e6, log=True)(
            "A weight is chosen when its forget importance is this many times its overall one."
        ),
        real("lam", 1.0, 0.0, 100.0)("Dampening constant λ."),
        choice("fisher", "batch", ("batch", "sample", "output_norm"))(
            "Square the mean gradient of a batch (official code) or of each sample (paper); or "
            "the gradient of the logits' squared norm, without labels (loss-free SSD, 2024)."
        ),
        batch(128),
        choice("order", "mixed", ("mixed", "by_class", "retain_then_forget", "shuffled"))(
            "Order in which batches are cut when their gradients are squared: retain set, then "
            "forget set, each mixed (official for samples), class by class (official for whole "
            "classes) or as in the data set; or both shuffled together."
        ),
        choice("selection", "alpha", ("alpha", "percentile"), omitted_when_default=True)(
            "Choose weights by alpha, or the ln(1 + 100 |D_f| / |D|) percent of them that matter "
            "most for the forget set compared with the retain set (adaptive SSD, Schoepf et al., "
            "2024)."
        ),
    ),
    search={
        # One α fits one network: on another training seed the same may select nothing. The
        # percentile selects as many weights on each.
        "selection": Among(("alpha", "percentile")),
        # Importance on all data is a mean that the forget set has its share in, so no ratio of the
        # two is above |D| / |D_f|, and a larger α selects nothing.
        "alpha": Between(1.0, "train / forget", log=True, when="selection == 'alpha'"),
        "lam": Among((0.1, 0.5, 1.0, 2.0)),
        "fisher": Among(("batch", "sample")),
        # squares of single samples do not know in which batch they were
        "order": Among(
            ("mixed", "by_class", "shuffled", "retain_then_forget"), when="fisher == 'batch'"
        ),
    },
    scenario_values=SSD_CLASSES,
    not_confinable="it dampens weights in every layer, by their importance.",
    footprint=Footprint(backward="2 * forget + retain"),
    storage="0 (one copy of the weights if the importance of the training set is kept)",
)
