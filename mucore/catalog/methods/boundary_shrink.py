"""Gives each forgotten sample the label of the nearest other class, found by one adversarial step,
and trains on the forget set alone.

One signed gradient step (FGSM) on the pixels of each forgotten image raises the original's loss.
The class that the original sees there lies just across the decision boundary; if it is not allowed,
the runner-up class serves. The original trains on the unchanged images with these labels, so the
region of the forgotten class shrinks into its neighbours. Neither retain set nor record is needed,
and a few short epochs make it very cheap. It is designed for whole classes. If part of a class
goes, the retained part crosses the boundary too, and random samples of all classes hardly change.

Differs: Batch norm frozen and runner-up labels for failed attacks by default; the official code has
neither.
"""

from __future__ import annotations

from mucore.catalog.cards import Among, Between, Footprint, MethodCard
from mucore.catalog.settings import batch, bn, choice, decay, epochs, lr, momentum, real

CARD = MethodCard(
    id="boundary_shrink",
    title="Boundary shrink",
    family="relabelling",
    source="Chen et al., Boundary Unlearning, CVPR 2023",
    code="TY-LEE-KR/Boundary-Unlearning-Code boundary_unlearning.py (a mirror)",
    reads=frozenset({"forget"}),
    tasks_reason="it moves a sample to the one class that lies nearest across a boundary, and "
    "attributes have a boundary each.",
    parameters=(
        real("epsilon", 0.1, 0.0, 1.0, unit="of the pixel range")(
            "Size of the adversarial step at each pixel."
        ),
        lr(1e-5),
        epochs(10, "the forget set", scaled=False),
        momentum(),
        decay(0.0),
        batch(64),
        choice("on_fail", "runner_up", ("runner_up", "keep"))(
            "Where the step does not cross a boundary: the original's runner-up class, or the "
            "true label (official code)."
        ),
        choice("extra", "plain", ("plain", "curvature", "weights"))(
            "Optional terms of the official code: keep the loss's curvature, or weigh samples by "
            "how clearly they crossed."
        ),
        bn("frozen"),
    ),
    search={
        "epsilon": Among((4 / 255, 8 / 255, 0.1)),
        "lr": Between(1e-6, 1e-2, log=True),
        "epochs": Between(5, 20),
        "bn": Among(("frozen", "train")),
    },
    footprint=Footprint(forward="forget", backward="(1 + epochs) * forget"),
    aliases=("BS", "Boundary-S"),
)
