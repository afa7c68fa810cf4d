"""One step up the summed gradients of the forget set, and down those of what replaces it, if
anything does. Where the original fits that set perfectly and nothing replaces it, there is next to
no step.

Influence functions ask how the weights would move if a sample counted less in training. Here the
Hessian is left out, and a sample's gradient stands for its influence. The gradients of the forget
set are summed at the original's weights, and the weights move along this sum, scaled by τ. Against
poisoning, the same images with their true labels are the counterpart, and the step leads from the
wrong labels to these. It needs no retain data and no record, only a pass over the forget set. One
straight step cannot follow a curved loss, and τ has to fit the size of the forget set.

Differs: All weights move, not the last six tensors; the given samples are forgotten, not training
points that the model gets wrong. A masked trigger comes with the true label: the paper masks
features of samples whose labels are right.
"""

from __future__ import annotations

from mucore.catalog.cards import EVERY_TASK, Among, Between, Footprint, MethodCard
from mucore.catalog.scenarios import POISONED
from mucore.catalog.settings import batch, choice, integer, real

# The forget set's place is taken by nothing, by other labels, by the flat target, or by what it was
# before it was poisoned.
COUNTERPART = choice(
    "counterpart",
    "delete",
    ("delete", "random_label", "soft_uniform", "true_label", "feature_mask"),
    choice_scenarios={
        "true_label": (POISONED, "only poisoned samples have a true label other than their own."),
        "feature_mask": (
            frozenset({"backdoor"}),
            "there is no trigger on the images that could be masked.",
        ),
    },
)(
    "What takes the forget set's place: nothing, the same images under other labels, or under the "
    "flat target 1/C; of poisoned samples the same images under their true labels, or the images "
    "with the training mean under the trigger, under their true labels."
)
# as in the official poisoning experiment
TRUE_LABEL = dict.fromkeys(sorted(POISONED), {"counterpart": "true_label"})
PARAM_SCOPE = choice("param_scope", "all", ("all", "last_block", "head", "last_six_tensors"))(
    "Which weights move. The official code moves the last six tensors."
)
UPDATES = integer("steps", 1, 0, 100)("How often the update is repeated, recomputed each time.")

CARD = MethodCard(
    id="first_order",
    title="First-order influence",
    family="influence",
    source="Warnecke et al., Machine Unlearning of Features and Labels, NDSS 2023",
    code="alewarne/MachineUnlearning Applications/Poisoning/unlearn/first_order.py",
    reads=frozenset({"forget"}),
    tasks=EVERY_TASK,
    parameters=(
        real("tau", 2e-5, 1e-9, 10.0, log=True)(
            "Rate on the sum of gradients: it goes with the size of the forget set and with how "
            "well the original fits it. Official: 2e-5, for corrected labels. MUBox, on originals "
            "of 200 epochs: 0.04, all classes and class-wise 0.08."
        ),
        COUNTERPART,
        UPDATES,
        PARAM_SCOPE,
        batch(256),
    ),
    search={
        "tau": Between(1e-5, 3e-2, log=True),
        "steps": Among((1, 5, 10)),
        "param_scope": Among(("all", "last_block", "head")),
    },
    scenario_values=TRUE_LABEL,
    not_confinable="its step is computed for the weights that param_scope names.",
    confinable_when={"param_scope": ("head",)},
    footprint=Footprint(backward="steps * forget * (1 if counterpart == 'delete' else 2)"),
    aliases=("First-order", "First"),
)
