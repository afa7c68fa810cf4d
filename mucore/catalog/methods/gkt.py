"""A fresh student learns from the original on images that a generator makes up where both disagree.
A gate throws away what the original takes for a forgotten class, so that the student never hears of
it. No data are read.

The original is the frozen teacher, while generator and student have random weights at first. The
generator turns noise into images and learns to find those on which the two networks disagree.
Images are dropped if the teacher gives a forgotten class more than a small probability. On the
others the student learns the teacher's outputs and attention maps, so knowledge of the forgotten
classes has no way across. Only the numbers of these classes must be known. The student needs
thousands of batches, often far more than retraining costs, stays far less accurate, and forgotten
classes can leak in after a while.

Differs: The student's batch norm trains (a slip in the official notebook leaves it in eval mode);
stopping and the choice of the student need no data (the official notebook reads test data); rates
are constant; a batch that the gate throws away counts.
"""

from __future__ import annotations

from mucore.catalog.cards import Among, Between, Footprint, MethodCard
from mucore.catalog.scenarios import CLASS_WISE
from mucore.catalog.settings import batch, clip, integer, lr, real

CARD = MethodCard(
    id="gkt",
    title="GKT",
    family="teacher",
    source="Chundawat et al., Zero-Shot Machine Unlearning, IEEE TIFS 2023",
    code="ayu987/zero-shot-unlearning",
    reads=frozenset(),
    tasks_reason="it forgets whole classes, and attributes have none.",
    parameters=(
        integer("batches", 4000, 1, 100_000, log=True)(
            "Batches of noise, each for all steps of generator and student. Official: 4,000, here "
            "not scaled to the recipe, because a fresh student reads no data and learns as slowly "
            "whatever the original took. That is the paper's price: where all images pass the "
            "gate, 94 times the work of a Retrain on 9,000 images with the preset standard, and "
            "the generator's own on top."
        ),
        lr(1e-3),
        real("epsilon", 0.01, 1e-6, 1.0, log=True)(
            "Largest probability of a forgotten class with which an image passes the gate."
        ),
        real("beta", 250.0, 0.0, 1e5)("Weight of the distance between attention maps."),
        integer("generator_steps", 1, 0, 100)("Steps of the generator for each batch."),
        integer("student_steps", 10, 1, 100)("Steps of the student for each batch."),
        integer("latent", 128, 1, 4096, log=True)("Size of the generator's input."),
        batch(256),
        integer("check_every", 50, 1, 10_000, log=True)(
            "Batches between two looks at the student."
        ),
        real("leak", 2.0, 0.1, 100.0, unit="× 1/C")(
            "Stops when the student's mean probability of a forgotten class is above this "
            "multiple of chance."
        ),
        clip(5.0),
    ),
    search={
        "batches": Between(5, 60),
        "batch_size": Among((32, 64, 128)),
        "epsilon": Between(1e-4, 0.1, log=True),
        "beta": Among((5.0, 50.0, 250.0)),
    },
    scenarios=CLASS_WISE,
    scenarios_reason="its gate knows only which classes go, and sees no sample of them, so it "
    "cannot forget a part of a class. Choose whole classes.",
    not_confinable="it trains a fresh network.",
    footprint=Footprint(
        forward="batch_size * (batches + 2 * ceil(batches / check_every))",
        backward="batches * batch_size * (2 * generator_steps + student_steps)",
    ),
    storage="0 (student and generator, about 50 MB, exist only while it runs)",
    aliases=("zero_shot",),
)
