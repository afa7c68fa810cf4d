"""Finds for each forgotten sample a close adversarial image and trains on all data plus those
images, under the wrong classes that the original gives them. Made for random samples: to remove a
class or poison, leave its labels out (sets no_forget).

Projected gradient ascent searches a small ball around each forgotten image, and the radius doubles
until the original's prediction changes. The image found there is stored under the wrong class that
the original sees in it. Fine-tuning then runs on the retain set, the forget set under the labels it
has and these images. Two labels so close together lower the confidence on forgotten samples towards
that on unseen ones, while boundaries elsewhere hardly move. The aim is membership inference more
than accuracy. The search takes many gradients for each sample, and every epoch reads all data.

Differs: The attack's radius is bounded; a sample that never leaves its class gets its runner-up
label. The attack goes up the gradient of the normalised input, not of the pixels: another direction
where channels have different standard deviations.
"""

from __future__ import annotations

from mucore.catalog import settings
from mucore.catalog.cards import EVERY_TASK, Among, Between, Footprint, MethodCard

CARD = MethodCard(
    id="amun",
    title="AMUN",
    family="relabelling",
    source="Ebrahimpour-Boroojeny, Sundaram, Chandrasekaran, AMUN, ICML 2025",
    code="Ali-E/AMUN adversarial_unlearn.py, pgdl2_modified.py",
    reads=frozenset({"retain", "forget"}),
    tasks=EVERY_TASK,
    parameters=(
        settings.lr(0.01),
        settings.epochs(10, "the training set", scaled=True),
        settings.integer("decay_every", 1, 1, 500, unit="epochs")(
            "The rate falls to a tenth this often."
        ),
        *settings.sgd(128),
        settings.real("radius", 0.04, 1e-4, 10.0, log=True)(
            "First radius of the attack, Euclidean, of pixels in 0..1."
        ),
        settings.integer("attack_steps", 50, 1, 1000)("Steps of the attack at each radius."),
        settings.integer("doublings", 10, 0, 20)(
            "How often the radius may double. A guard of ours."
        ),
        settings.choice("sets", "all", ("all", "no_retain", "no_forget"))(
            "Train on retain, forget and adversarial images, or leave out one of the first two."
        ),
    ),
    search={
        "lr": Between(1e-4, 1e-1, log=True),
        "epochs": settings.RETAIN_EPOCHS,
        "decay_every": Among((1, 5)),
        "sets": Among(("all", "no_retain", "no_forget")),
        "attack_steps": Among((10, 20, 50)),
    },
    paper_epochs=settings.MUBOX_EPOCHS,
    footprint=Footprint(
        backward="3 * attack_steps * forget + epochs * ((retain if sets != 'no_retain' else 0) + "
        "(forget if sets != 'no_forget' else 0) + forget)"
    ),
    storage="0 (the forget set's adversarial images while it runs; 61 MB for 5,000 of CIFAR-10)",
)
