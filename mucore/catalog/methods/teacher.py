"""Methods in which a student learns from teachers."""

from __future__ import annotations

from mucore.catalog.cards import MethodCard, Parameter
from mucore.catalog.methods.settings import MUBOX_EPOCHS, batch, bn, clip, decay, epochs, lr, momentum

CARDS = (
    MethodCard(
        id="scrub",
        title="SCRUB",
        family="teacher",
        source="Kurmanji et al., Towards Unbounded Machine Unlearning, NeurIPS 2023",
        code="meghdadk/SCRUB thirdparty/repdistiller/helper/loops.py",
        summary=(
            "A student starts as a copy of the original. It runs away from it on the forget set and back to it on the retain set, in turn; "
            "the last epochs only go back."
        ),
        reads=frozenset({"retain", "forget"}),
        parameters=(
            lr(5e-4),
            epochs(5, "the retain set", scaled=True),
            Parameter(
                name="msteps",
                kind="int",
                default=3,
                low=0,
                high=100,
                unit="epochs",
                scales_with_epochs=True,
                help="How many of the first epochs begin with a pass that maximises the distance on the forget set.",
            ),
            Parameter(
                name="alpha", kind="float", default=0.5, low=0.0, high=10.0, help="Weight of the distillation loss on the retain set."
            ),
            Parameter(name="gamma", kind="float", default=1.0, low=0.0, high=100.0, help="Weight of the cross-entropy on the retain set."),
            Parameter(name="temperature", kind="float", default=4.0, low=0.1, high=20.0, help="Distillation temperature."),
            momentum(),
            decay(),
            batch(128, "retain_batch_size", "retain samples"),
            batch(64, "forget_batch_size", "forget samples"),
            Parameter(name="milestones", kind="ints", default=(3, 5, 9), help="Epochs after which the rate is multiplied by rho."),
            Parameter(name="rho", kind="float", default=0.1, low=0.0, high=1.0, help="Factor of the rate at each milestone."),
            clip(10.0),
            Parameter(
                name="break_symmetry",
                kind="choice",
                default="bn_train",
                choices=("bn_train", "min_first", "tiny_noise"),
                help="At the start student and teacher agree and the gradient is zero; what makes them differ.",
            ),
        ),
        paper_epochs=MUBOX_EPOCHS,
        differs="Gradients are clipped at norm 10; the clip option of the official code has no effect there.",
    ),
    MethodCard(
        id="bad_teacher",
        title="Bad teacher",
        family="teacher",
        source="Chundawat et al., Can Bad Teaching Induce Forgetting?, AAAI 2023",
        code="vikram2000b/bad-teaching-unlearning unlearn.py",
        summary="A student learns the outputs of a random network on the forget set and those of the original on a part of the retain set.",
        reads=frozenset({"retain", "forget"}),
        parameters=(
            lr(1e-4),
            epochs(1, "the forget set and the chosen part of the retain set", scaled=True),
            Parameter(name="retain_fraction", kind="float", default=0.3, low=0.0, high=1.0, help="Share of the retain set that is used."),
            Parameter(name="temperature", kind="float", default=1.0, low=0.1, high=20.0, help="Distillation temperature."),
            batch(256),
            Parameter(
                name="reduction",
                kind="choice",
                default="element_mean",
                choices=("element_mean", "batchmean"),
                help="Mean over samples and classes (official code) or over samples.",
            ),
            Parameter(
                name="teacher",
                kind="choice",
                default="random_net",
                choices=("random_net", "uniform"),
                help="What the incompetent teacher says: a random network's outputs, or 1/C.",
            ),
            bn("train"),
        ),
        paper_epochs=MUBOX_EPOCHS,
        aliases=("Bad-T", "bad_t"),
    ),
)
