"""For each forgotten sample, finds the few channels that its loss depends on when the image is
perturbed, takes a Newton step on their weights, adds noise, and goes back if the validation
accuracy suffers.

The forget set is taken out of the original in small groups, one update each. Noisy copies of a
group's images show how the loss varies, and a test of conditional dependence picks the channels
whose activations explain it. Only the weights of these channels move, towards where training
without the group would have ended. The curvature for this step comes from gradients of the last two
epochs of training, which must be on record, and from a small step ahead. Gaussian noise then hides
what the step leaves behind. Errors and noise add up over the groups, so accuracy suffers, and each
group costs many forward passes.

Differs: 100 perturbed images, 10 of the 100 likeliest channels and groups of 10 samples by default,
where the official code takes 1,000 images, any number of channels and single samples and costs
several retrainings. The noise is that of one sample, as in the official code, also where a group
has ten.
"""

from __future__ import annotations

from mucore.catalog.cards import EVERY_TASK, Among, Between, Footprint, MethodCard
from mucore.catalog.settings import batch, choice, integer, real

CARD = MethodCard(
    id="l_codec",
    title="L-CODEC",
    family="influence",
    source="Mehta et al., Deep Unlearning via Randomized Conditionally Independent Hessians, CVPR "
    "2022",
    code="vsingh-group/LCODEC-deep-unlearning",
    reads=frozenset({"forget", "validation", "training_record"}),
    tasks=EVERY_TASK,
    records=("final_epochs",),
    parameters=(
        real("l2_reg", None, 1e-4, 1e3, log=True, optional=True)(
            "Damping λ of the Hessian; the noise grows with 1 / (n² λ³). Official: 0.01 for the "
            "50,000 images of CIFAR; none: 0.01 · (50,000 / n)^⅔, which gives the same noise for "
            "n."
        ),
        integer("perturbations", 100, 10, 5000)("Perturbed images a sample. Official: 1,000."),
        real("input_noise", 0.1, 1e-3, 2.0)(
            "Standard deviation of the perturbation, in normalised pixels."
        ),
        integer("cap", 10, 1, 1000, unit="channels")(
            "Most channels an update. Official: no limit."
        ),
        integer("candidates", 100, 1, 100_000, unit="channels", optional=True)(
            "Choose only among this many channels, those that tell most on their own; none: all. "
            "Official: all."
        ),
        batch(10, "group", "samples an update"),
        choice("curvature", "finite_difference", ("finite_difference", "fisher"))(
            "Where the curvature comes from: differences of gradients, or their outer products."
        ),
        real("epsilon", 0.1, 1e-6, 1e6, log=True, optional=True)(
            "Privacy parameter of the noise: smaller is noisier; none: no noise."
        ),
        real("delta", 0.01, 1e-12, 0.5, log=True)("The other privacy parameter of the noise."),
        real("val_gap", 0.05, 0.0, 1.0)(
            "An update is undone if the validation accuracy falls by more than this."
        ),
        integer("validation_samples", 250, 1, 1_000_000, unit="samples")(
            "Validation samples that are asked after each update."
        ),
    ),
    search={
        "l2_reg": Between(1e-4, 0.1, log=True),
        "epsilon": Among((0.1, None)),
        "cap": Among((10, 50, 200)),
        "perturbations": Among((50, 100, 250)),
    },
    not_confinable="it picks the channels that it changes, in any layer.",
    footprint=Footprint(
        forward="perturbations * forget + (1 + ceil(forget / group)) * min(validation_samples, "
        "validation)",
        backward="forget * (2 if curvature == 'finite_difference' else 1)",
    ),
    storage="0 as MUBox counts it; 4 vectors of weights (one of them the original's own)",
    aliases=("LCODEC", "L-FOCI"),
)
