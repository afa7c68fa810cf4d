"""Adds noise to every weight: the less a weight matters to the predictions on the retain set, the
more noise it gets (inverse Fisher information). A class that goes entirely also loses its row of
the classifier.

At the original, the Fisher information of its predictions for retained samples is estimated, one
number for each weight. A weight with little information hardly affects those predictions, so it can
bear much noise. Normal noise with a variance inverse to the information, up to a limit, is added
once; classifier, biases and batch norms get more. What weights knew about the forget set alone
should drown in it, although that set is never read. A well fitted network has almost no
information: then the limit alone rules, and accuracy falls for retained samples too. The estimate
takes gradients of single samples over the retain set.

Differs: The classifier is found by its place, not by its shape. Predictions with the last
thousandth of the variance are skipped. Several draws of the noise are several unlearning seeds.
"""

from __future__ import annotations

from mucore.catalog.cards import EVERY_TASK, Among, Between, Footprint, MethodCard
from mucore.catalog.settings import batch, choice, real

CARD = MethodCard(
    id="fisher",
    title="Fisher forgetting",
    family="influence",
    source="Golatkar et al., Eternal Sunshine of the Spotless Net, CVPR 2020",
    code="AdityaGolatkar/SelectiveForgetting Forgetting.ipynb",
    reads=frozenset({"retain"}),
    tasks=EVERY_TASK,
    parameters=(
        real("alpha", 1e-6, 1e-12, 1e-2, log=True)(
            "Scale of the noise's variance. A factor of ten decides between no effect and ruin. "
            "Official: 1e-6."
        ),
        choice("power", "half", ("half", "quarter"))(
            "Power of 1/F in the standard deviation: one half in the code, one quarter in the "
            "paper."
        ),
        real("coverage", 0.999, 0.0, 1.0)(
            "Share of the predictions' variance that is differentiated; 1: every class of every "
            "sample, many times slower."
        ),
        batch(128),
    ),
    search={"alpha": Between(1e-10, 1e-5, log=True), "power": Among(("half", "quarter"))},
    not_confinable="it adds noise to the weights of every layer.",
    footprint=Footprint(
        forward="2 * retain if coverage < 1 else retain",
        backward="retain * min(classes, 4) if coverage < 1 else retain * classes",
    ),
    aliases=("Fisher", "FF"),
)
