"""Adds the gradients that the forget set had at the start of training back to the final weights, as
if those first steps had never been taken, and fine-tunes on the retain set.

To first order, SGD moves the weights against each batch's gradient at the initial weights, once in
every epoch. The part of the forget set in this is its gradient there, times learning rate and
epochs. The initial weights come from their seed or a record of training, and the gradients of the
forget batches are summed at them. Multiplied by the chosen rate and epochs, the sum goes onto the
original's weights, and a few epochs on the retain set follow. The expansion ignores that later
steps build on earlier ones, so little is often forgotten after a long training with momentum.

Differs: The original is trained as every other, with momentum and decay, and not with the paper's
loss that shortens its path.
"""

from __future__ import annotations

from mucore.catalog import settings
from mucore.catalog.cards import EVERY_TASK, Among, Between, Footprint, MethodCard

CARD = MethodCard(
    id="unrolling",
    title="Unrolling SGD",
    family="gradient_ascent",
    source="Thudi et al., Unrolling SGD, EuroS&P 2022; E and the initial weights as MUBox (SACMAT "
    "2025) words it",
    code="cleverhans-lab/unrolling-sgd Unlearning/correlation_verification.py",
    reads=frozenset({"retain", "forget", "training_record"}),
    tasks=EVERY_TASK,
    records=("initial",),
    no_records_when={"variant": ("posthoc",)},
    parameters=(
        settings.choice(
            "variant", "init_grad_then_ft", ("init_grad_then_ft", "posthoc", "two_stage")
        )(
            "Gradient at the initial weights, then fine-tune (MUBox); at the original, after "
            "fine-tuning; or train without the forget set first, fine-tune on all and take that "
            "back (the paper; costs a retraining)."
        ),
        settings.lr(0.01),
        settings.epochs(5, "the retain set; also how often the gradient is added", scaled=True),
        settings.real("kappa", 1.0, 0.0, 1e4)("Multiplies the gradient that is added back."),
        *settings.sgd(256),
        settings.choice("ft_data", "retain", ("retain", "forget_first"))(
            "What `posthoc` fine-tunes on: the retain set, or everything with the forget set first."
        ),
        settings.real("sd_weight", 0.0, 0.0, 250.0)(
            "Weight of the spread of the logits in the loss of fine-tuning, divided by the number "
            "of classes (official γ)."
        ),
    ),
    search={
        "lr": Between(1e-4, 1e-1, log=True),
        "epochs": settings.RETAIN_EPOCHS,
        "kappa": Between(0.1, 1e3, log=True),
        "batch_size": Among((64, 128, 256)),
    },
    paper_epochs=settings.MUBOX_EPOCHS,
    not_confinable="it takes back steps that the training made in every layer.",
    footprint=Footprint(backward="forget + epochs * retain"),
    storage="one model (the weights before training); 0 where their seed is kept, as here",
    aliases=("Unrolling", "USGD"),
)
