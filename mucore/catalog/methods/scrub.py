"""A student starts as a copy of the original. It moves away from it on the forget set and back
towards it on the retain set, in turn; after a few epochs it only moves back.

Teacher and student both begin as the original, and only the student trains. In the early epochs, a
pass over the forget set maximises the divergence between their predictions. Each epoch then passes
over the retain set, where the student lowers its cross-entropy and its divergence from the teacher.
The first kind of pass drives out what was learned from the forget set, and the second restores what
suffered with it. The divergence has no upper limit, so rate and number of these passes decide
between no effect and collapse. Too many errors on the forget set are a trace as well, which
membership inference can use.

Differs: Gradients are clipped at norm 10; the clip option of the official code has no effect there.
"""

from __future__ import annotations

from mucore.catalog import settings
from mucore.catalog.cards import EVERY_TASK, Among, Between, Footprint, MethodCard

CARD = MethodCard(
    id="scrub",
    title="SCRUB",
    family="teacher",
    source="Kurmanji et al., Towards Unbounded Machine Unlearning, NeurIPS 2023",
    code="meghdadk/SCRUB thirdparty/repdistiller/helper/loops.py",
    reads=frozenset({"retain", "forget"}),
    tasks=EVERY_TASK,
    parameters=(
        settings.lr(5e-4),
        settings.epochs(5, "the retain set", scaled=True),
        settings.integer("msteps", 3, 0, 100, unit="epochs", scales_with_epochs=True)(
            "How many of the first epochs begin with a pass that maximises the distance on the "
            "forget set."
        ),
        settings.real("alpha", 0.5, 0.0, 10.0)(
            "Weight of the distillation loss on the retain set."
        ),
        settings.real("gamma", 1.0, 0.0, 100.0)("Weight of the cross-entropy on the retain set."),
        settings.real("temperature", 4.0, 0.1, 20.0)("Distillation temperature."),
        settings.momentum(),
        settings.decay(),
        settings.batch(128, "retain_batch_size", "retain samples"),
        settings.batch(64, "forget_batch_size", "forget samples"),
        settings.setting("milestones", "ints", (3, 5, 9))(
            "Epochs after which the rate is multiplied by rho."
        ),
        settings.real("rho", 0.1, 0.0, 1.0)("Factor of the rate at each milestone."),
        settings.clip(10.0),
        settings.choice("break_symmetry", "bn_train", ("bn_train", "min_first", "tiny_noise"))(
            "At the start student and teacher agree and the gradient is zero; what makes them "
            "differ."
        ),
    ),
    search={
        "lr": Between(1e-4, 5e-2, log=True),
        "epochs": settings.RETAIN_EPOCHS,
        "msteps": Between(1, 3),
        "alpha": Among((0.0001, 0.001, 0.01, 0.1, 0.5, 1.0)),
        "retain_batch_size": Among((64, 128)),
        "forget_batch_size": Among((16, 64, 256, 512)),
    },
    paper_epochs=settings.MUBOX_EPOCHS,
    not_confinable="its tiny noise goes on the weights of every layer.",
    confinable_when={"break_symmetry": ("bn_train", "min_first")},
    footprint=Footprint(backward="epochs * retain + msteps * forget"),
)
