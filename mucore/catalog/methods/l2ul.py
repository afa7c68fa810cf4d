"""Climbs the loss of the forget set alone, while adversarial images made of it and a penalty on
unimportant weights stand in for the retain set. Made for single images.

Of each forgotten image many adversarial ones are made, each steered to another class at random.
They lie where boundaries between the other classes are, so that training on them under these
classes keeps what the original knows. At the same time the cross-entropy of the forgotten images
goes up. Weights whose change would hardly move the outputs on these images are pulled back to the
original. It ends with the first step after which no forgotten image has its label, so forget
accuracy is 0 where Retrain's seldom is. The attack takes thousands of gradients for each image.

Differs: Importance by the paper's squared norm, in eval mode; the official code takes the norm, in
training mode. Forget batches are drawn, not cycled. The end is counted in steps, in the official
code in passes. Of the paper's two goals misclassification, not relabelling.
"""

from __future__ import annotations

from mucore.catalog import settings
from mucore.catalog.cards import Among, Between, Footprint, MethodCard

CARD = MethodCard(
    id="l2ul",
    title="L2UL",
    family="gradient_ascent",
    source="Cha et al., Learning to Unlearn, AAAI 2024",
    code="csm9493/L2UL main_unlearn_cifar10_mixed_label_resnet18.py, utils.py",
    reads=frozenset({"forget"}),
    tasks_reason="it steers each image to one other class and ends when none has its own, and "
    "attributes fall into no classes.",
    parameters=(
        settings.lr(1e-3),
        settings.integer("iterations", 2000, 1, 100_000, unit="steps", log=True)(
            "Steps at most; it ends with the first after which no forgotten sample has its label. "
            "Official: 1,000 passes at most, which are 2,000 steps for its 16 images."
        ),
        settings.momentum(),
        settings.decay(1e-4),
        settings.batch(32),
        settings.batch(256, "adversarial_batch_size", "adversarial images"),
        settings.integer("copies", 20, 1, 1000)(
            "Adversarial images of each forgotten one (for CIFAR-10; CIFAR-100 and ImageNet: 200)."
        ),
        settings.real("radius", 4.0, 1e-4, 100.0, log=True)(
            "How far they may lie from it, Euclidean, of pixels in 0..1."
        ),
        settings.real("attack_step", 0.1, 1e-4, 10.0, log=True)("Length of a step of the attack."),
        settings.integer("attack_steps", 100, 1, 1000)("Steps of the attack."),
        settings.real("reg_lambda", 1.0, 0.0, 1e4)(
            "Weight of the penalty that pulls unimportant weights back."
        ),
        settings.bn("train"),
    ),
    search={
        "lr": Between(1e-5, 1e-2, log=True),
        "copies": Among((1, 5, 20)),
        "attack_steps": Among((5, 20, 100)),
        "reg_lambda": Among((0.1, 1.0, 10.0)),
    },
    footprint=Footprint(backward="forget + copies * attack_steps * forget + 1"),
    storage="0 (while it runs, the adversarial images: 49 MB for 200 of CIFAR-10)",
    aliases=("Learning to Unlearn",),
)
