"""Treats the network as linear in its weights, works out how the solution would move without the
forget set, and moves the weights that way, stretched because a real network has moved further than
a linear one.

Around the original, the network is replaced by its linear approximation, whose Jacobian defines the
neural tangent kernel. For a linear model, training is a system of equations, so the solutions with
and without the forget set can be compared. Each logit of each sample gives one equation; few are
solved exactly by Cholesky, many by conjugate gradients without a Jacobian. The difference of both
solutions is added to the weights, stretched by how far training really went from the initial
weights. A random part of the retain set, 500 samples by default, stands for all of it. Where the
linear picture fits badly, little is forgotten, and the two solves can cost as much as retraining.

Differs: Nothing is stored. Above 4,000 logits no Jacobian or kernel is formed either: two solves by
conjugate gradients with products of the kernel, preconditioned by a Nyström sketch. Batch norm
trained as usual, weights not pulled to their start, no pretraining: the originals are those of
every other method.
"""

from __future__ import annotations

from mucore.catalog.cards import EVERY_TASK, Among, Between, Footprint, MethodCard
from mucore.catalog.settings import batch, choice, integer, real

_LEAST = (
    "used if classes * (used := forget + (kept := min(retain, retain_samples or retain))) <= 4000 "
    "and classes * used * weights <= 2 ** 30 else 53 * used + 2 * kept"
)

CARD = MethodCard(
    id="ntk",
    title="NTK scrubbing",
    family="influence",
    source="Golatkar et al., Forgetting Outside the Box, ECCV 2020",
    code="AdityaGolatkar/SelectiveForgetting Forgetting.ipynb",
    reads=frozenset({"retain", "forget", "training_record"}),
    tasks=EVERY_TASK,
    records=("initial",),
    no_records_when={"scale": ("fixed",), "linearise_at": ("trained",)},
    parameters=(
        real("mu", 0.1, 1e-6, 1e3, log=True)(
            "Ridge, a sample; the authors' pull to the initial weights."
        ),
        choice("scale", "trapezium", ("trapezium", "fixed"))(
            "Stretch the shift by the authors' trapezium rule, or by kappa."
        ),
        real("kappa", 1.0, 0.0, 1e4)("Stretch with scale fixed."),
        choice("linearise_at", "trained", ("trained", "initial"))(
            "Where the network is taken as linear. Official: the trained weights."
        ),
        choice("residual", "softmax", ("softmax", "squared"))(
            "Residuals: softmax minus one-hot, or logits minus one-hot."
        ),
        real("noise", 0.0, 0.0, 1e-2)(
            "Fisher forgetting with this alpha on top; the official notebook also shows 1e-9."
        ),
        integer("retain_samples", 500, 1, 1_000_000, log=True, optional=True)(
            "Retain samples that are linearised, drawn once; none: all. The authors' whole "
            "training set had 500."
        ),
        integer("iterations", 300, 1, 10_000, log=True)(
            "Conjugate gradients, for more than 4,000 logits or a Jacobian above 1 GiB: steps of "
            "each of two solves at most."
        ),
        real("tolerance", 1e-2, 1e-12, 0.5, log=True)(
            "Residual of the kernel's system, relative to its right-hand side, at which a solve "
            "ends; unsolved above it."
        ),
        batch(256),
    ),
    search={
        "mu": Between(0.01, 10.0, log=True),
        # by the trapezium rule 17 trials moved forget accuracy by two points at most
        "scale": Among(("fixed",)),
        "kappa": Between(10.0, 1000.0, log=True, when="scale == 'fixed'"),
        "retain_samples": Among((100, 200, 500)),
        "iterations": Among((10, 20, 30)),
    },
    not_confinable="it moves all weights at once, by the gradients of the whole network.",
    # the residuals, and without a kernel the 50 products of the sketch, two of each system, and one
    # for the shift
    footprint=Footprint(forward=_LEAST, backward=_LEAST),
    storage="Jacobians on disk, 2 · weights · samples · classes · 4 bytes (MUBox: 36 GB)",
    revision=2,
    aliases=("NTK",),
)
