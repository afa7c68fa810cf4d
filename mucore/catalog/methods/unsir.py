"""Makes noise against what is to be forgotten, impairs the network by training on it, and repairs
it on the retain set. For whole classes the noise carries the label of a forgotten class and no
forgotten image is read. For samples the noise is driven away from their outputs and carries
retained labels.

Both forms start from the original, and learning nonsense is meant to overwrite what the weights
hold of the forgotten part. For whole classes, noise images are optimised for a high loss of the
original on that class. One epoch trains on this noise and up to 1,000 retained samples of each
class, another on those samples alone. For single samples, each forgotten batch gets fresh noise,
which is trained together with a retain batch. An epoch over the retain set ends this form. The rate
of the impairing steps is delicate: a high one lowers accuracy on retained data, and a low one
leaves the forget set intact.

Differs: The official class form uses 60 noise images, made in train mode, and calls every forgotten
class 0; here all are used.
"""

from __future__ import annotations

from mucore.catalog.cards import EVERY_TASK, Between, Footprint, MethodCard
from mucore.catalog.settings import batch, choice, integer, lr, real

CARD = MethodCard(
    id="unsir",
    title="UNSIR",
    family="relabelling",
    source="Tarun et al., Fast Yet Effective Machine Unlearning, TNNLS 2023; instance form of "
    "Choi and Na (MUFAC and MUCAC), 2023",
    code="vikram2000b/Fast-Machine-Unlearning; ndb796/MachineUnlearning 01_MUFAC",
    reads=frozenset({"retain", "forget"}),
    tasks=EVERY_TASK,
    parameters=(
        choice("form", "auto", ("auto", "class", "instance"))(
            "For whole classes or for samples; auto: the class form where whole classes go."
        ),
        integer("class_noise_steps", 40, 0, 1000)("Class form: steps that make the noise."),
        real("class_noise_lr", 0.1, 1e-4, 10.0, log=True)("Class form: rate of those steps."),
        real("penalty", 0.1, 0.0, 10.0)("Class form: weight of the noise's squared norm."),
        integer("noise_batches", 20, 1, 1000)("Class form: how often the noise batch is repeated."),
        choice("noise_use", "full", ("full", "official60"))(
            "Class form: use the whole noise batch, or as few images of it as the official code's "
            "slip does."
        ),
        integer("retain_per_class", 1000, 1, 1_000_000, unit="samples", log=True)(
            "Class form: retained samples of each class, at most."
        ),
        lr(0.02, name="impair_lr", help="Class form: learning rate (Adam) of the impairing pass."),
        lr(0.01, name="repair_lr", help="Class form: learning rate (Adam) of the repairing pass."),
        batch(256),
        integer("instance_epochs", 2, 0, 500, unit="epochs")(
            "Instance form: passes over the forget set; one over the retain set follows."
        ),
        integer("instance_noise_steps", 5, 0, 1000)("Instance form: steps that make the noise."),
        real("instance_noise_lr", 0.01, 1e-4, 10.0, log=True)(
            "Instance form: rate of those steps."
        ),
        lr(1e-3, name="instance_lr", help="Instance form: learning rate of SGD without momentum."),
        batch(64, "instance_batch_size"),
    ),
    search={
        "class_noise_steps": Between(20, 80, when="leaving > 0"),
        "impair_lr": Between(1e-4, 1e-1, log=True, when="leaving > 0"),
        "repair_lr": Between(1e-4, 1e-1, log=True, when="leaving > 0"),
        "instance_lr": Between(1e-4, 1e-1, log=True, when="leaving == 0"),
        "instance_epochs": Between(1, 5, when="leaving == 0"),
    },
    footprint=Footprint(
        backward="instance_epochs * ((1 + instance_noise_steps) * forget + ceil(forget / "
        "instance_batch_size) * min(instance_batch_size, retain)) + retain if form == 'instance' "
        "or not leaving else leaving * batch_size * (class_noise_steps + noise_batches) + 2 * "
        "min(retain, retain_per_class * (classes - leaving))"
    ),
)
