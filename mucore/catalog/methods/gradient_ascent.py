"""Methods that climb the loss of the forget set, or add its gradients back."""

from __future__ import annotations

from mucore.catalog.cards import EVERY_TASK, MethodCard, Parameter
from mucore.catalog.methods.settings import (
    MUBOX_EPOCHS,
    batch,
    bn,
    clip,
    decay,
    epochs,
    lr,
    momentum,
)

CARDS = (
    MethodCard(
        id="gradient_ascent",
        title="Gradient ascent",
        family="gradient_ascent",
        source="Baseline (NegGrad); settings of Unlearn-Sparse (Jia et al., NeurIPS 2023)",
        code="OPTML-Group/Unlearn-Sparse unlearn/GA.py",
        summary="Climbs the loss of the forget set in a few small steps. Nothing holds the retain "
        "set in place.",
        how=(
            "It takes the original and batches of the forget set, and no other data. Each step "
            "goes up the gradient of the cross-entropy instead of down, so the network loses its "
            "fit to these samples. Batch norm is frozen and gradients are clipped by default, "
            "because the loss has no upper limit and its gradient grows as predictions fail. "
            "After each epoch the forget loss is measured, and the ascent ends once it reaches a "
            "multiple of the loss of blind guessing. On well fitted samples gradients are tiny, "
            "so a low rate changes nothing. A high rate soon ruins predictions on all classes."
        ),
        reads=frozenset({"forget"}),
        tasks=EVERY_TASK,
        parameters=(
            lr(1e-4),
            epochs(5, "the forget set", scaled=False),
            momentum(),
            decay(),
            batch(256),
            Parameter(
                name="stop_loss",
                kind="float",
                default=2.0,
                low=0.1,
                high=10.0,
                optional=True,
                unit="× ln C",
                help="Stop when the mean forget loss reaches this multiple of chance level; none: "
                "never. A guard of ours.",
            ),
            clip(1.0),
            bn("frozen"),
        ),
        differs="Batch norm frozen, clipping and a loss limit by default; official code has none "
        "of them (bn=train, the others none).",
        aliases=("GA", "NegGrad"),
    ),
    MethodCard(
        id="neggrad_plus",
        title="NegGrad+",
        family="gradient_ascent",
        source="Kurmanji et al., Towards Unbounded Machine Unlearning, NeurIPS 2023",
        code="meghdadk/SCRUB helper/loops.py",
        summary="Descends on the retain set and ascends on the forget set in one step, the retain "
        "loss weighted far higher.",
        how=(
            "Starting from the original, each step takes one batch of the retain set and one of "
            "the forget set, which is cycled beside it. By default the loss is the cross-entropy "
            "on the former times 0.99, less that on the latter times 0.01. Ascent makes the "
            "forgotten labels unlikely, and descent at the same time restores what this costs on "
            "other samples. The forget loss stops pushing at twice the loss of blind guessing by "
            "default, since it would grow without end. All depends on the weight: too little "
            "ascent is plain fine-tuning, too much lowers accuracy everywhere. The cost is a few "
            "epochs over the retain set."
        ),
        reads=frozenset({"retain", "forget"}),
        tasks=EVERY_TASK,
        parameters=(
            lr(0.01),
            epochs(5, "the retain set", scaled=True),
            Parameter(
                name="retain_weight",
                kind="float",
                default=0.99,
                low=0.0,
                high=1.0,
                help="Weight a of the retain loss; the forget loss gets 1 − a.",
            ),
            momentum(),
            decay(),
            batch(128),
            Parameter(
                name="bn_forward",
                kind="choice",
                default="two",
                choices=("two", "concat"),
                help="One forward pass for each batch, or one for both together, which mixes "
                "batch-norm statistics.",
            ),
            Parameter(
                name="forget_loss_cap",
                kind="float",
                default=2.0,
                low=0.1,
                high=100.0,
                optional=True,
                unit="× ln C",
                help="The forget loss stops pushing above this multiple of chance level. A guard "
                "of ours.",
            ),
        ),
        paper_epochs=MUBOX_EPOCHS,
        differs="Unequal batch sizes still step; the forget loss is capped by default.",
    ),
    MethodCard(
        id="advanced_neggrad",
        title="Advanced NegGrad",
        family="gradient_ascent",
        source="Choi and Na, Towards Machine Unlearning Benchmarks, 2023 (MUFAC, MUCAC)",
        code="ndb796/MachineUnlearning 01_MUFAC",
        summary="Descends on a retain batch and ascends on a forget batch in the same step, both "
        "at full weight.",
        how=(
            "From the original, it makes a few epochs over the retain set, with forget batches "
            "cycled beside it. The loss of each step is the mean cross-entropy on the retain "
            "batch minus that on the forget batch. What both batches would change alike cancels "
            "out, so a step mainly follows what sets the forget set apart. Momentum and weight "
            "decay are off by default, and the forget loss stops counting at twice the loss of "
            "blind guessing. No small weight tames the ascent, so it soon dominates: more epochs "
            "or a higher rate cost accuracy on all data."
        ),
        reads=frozenset({"retain", "forget"}),
        tasks=EVERY_TASK,
        parameters=(
            lr(1e-3),
            epochs(2, "the retain set", scaled=True),
            momentum(0.0),
            decay(0.0),
            batch(128),
            Parameter(
                name="bn_forward",
                kind="choice",
                default="two",
                choices=("two", "concat"),
                help="One forward pass for each batch, or one for both together, which mixes "
                "batch-norm statistics.",
            ),
            Parameter(
                name="forget_loss_cap",
                kind="float",
                default=2.0,
                low=0.1,
                high=100.0,
                optional=True,
                unit="× ln C",
                help="The forget loss stops pushing above this multiple of chance level. A guard "
                "of ours.",
            ),
            Parameter(
                name="skip_unequal",
                kind="bool",
                default=False,
                help="Skip steps whose two batches differ in size, as the official code does: a "
                "small forget set then does nothing at all.",
            ),
        ),
        paper_epochs=MUBOX_EPOCHS,
        differs="Unequal batch sizes still step; the forget loss is capped by default; batches of "
        "128, official code 64.",
        aliases=("AdvNegGrad",),
    ),
    MethodCard(
        id="unrolling",
        title="Unrolling SGD",
        family="gradient_ascent",
        source="Thudi et al., Unrolling SGD, EuroS&P 2022; E and the initial weights as MUBox "
        "(SACMAT 2025) words it",
        code="cleverhans-lab/unrolling-sgd Unlearning/correlation_verification.py",
        summary=(
            "Adds the gradients that the forget set had at the start of training back to the "
            "final weights, as if those first steps had never been taken, and fine-tunes on the "
            "retain set."
        ),
        how=(
            "To first order, SGD moves the weights against each batch's gradient at the initial "
            "weights, once in every epoch. The part of the forget set in this is its gradient "
            "there, times learning rate and epochs. The initial weights come from their seed or a "
            "record of training, and the gradients of the forget batches are summed at them. "
            "Multiplied by the chosen rate and epochs, the sum goes onto the original's weights, "
            "and a few epochs on the retain set follow. The expansion ignores that later steps "
            "build on earlier ones, so after a long training with momentum often little is "
            "forgotten."
        ),
        reads=frozenset({"retain", "forget", "training_record"}),
        tasks=EVERY_TASK,
        records=("initial",),
        elsewhere={"variant": ("posthoc",)},
        parameters=(
            Parameter(
                name="variant",
                kind="choice",
                default="init_grad_then_ft",
                choices=("init_grad_then_ft", "posthoc", "two_stage"),
                help=(
                    "Gradient at the initial weights, then fine-tune (MUBox); at the original, "
                    "after fine-tuning; or train without the forget set first, fine-tune on all "
                    "and take that back (the paper; costs a retraining)."
                ),
            ),
            lr(0.01),
            epochs(5, "the retain set; also how often the gradient is added", scaled=True),
            Parameter(
                name="kappa",
                kind="float",
                default=1.0,
                low=0.0,
                high=1e4,
                help="Multiplies the gradient that is added back.",
            ),
            momentum(),
            decay(),
            batch(256),
            Parameter(
                name="ft_data",
                kind="choice",
                default="retain",
                choices=("retain", "forget_first"),
                help="What `posthoc` fine-tunes on: the retain set, or everything with the forget "
                "set first.",
            ),
            Parameter(
                name="sd_weight",
                kind="float",
                default=0.0,
                low=0.0,
                high=250.0,
                help="Weight of the spread of the logits in the loss of fine-tuning, divided by "
                "the number of classes (official γ).",
            ),
        ),
        paper_epochs=MUBOX_EPOCHS,
        own_layers="it takes back steps that the training made in every layer.",
        storage="one model (the weights before training); 0 where their seed is kept, as here",
        differs="The original is trained as every other, with momentum and decay, and not with "
        "the paper's loss that shortens its path.",
        aliases=("Unrolling", "USGD"),
    ),
    MethodCard(
        id="amnesiac",
        title="Amnesiac",
        family="gradient_ascent",
        source="Graves, Nagisetty, Ganesh, Amnesiac Machine Learning, AAAI 2021; epochs of MUBox "
        "(SACMAT 2025)",
        code="lmgraves/AmnesiacML, notebooks",
        summary=(
            "Takes back every training step whose batch held a forgotten sample, and repairs what "
            "is left with the retain set. With more than a few forgotten samples nearly all of "
            "training is taken back."
        ),
        how=(
            "A record of the original's training holds the summed weight changes of all steps "
            "that met the forget set. At the request this sum is subtracted from the final "
            "weights. If every update depended on its own batch alone, no trace of the forget set "
            "would be left. Later updates build on earlier ones, however, and neither momentum "
            "nor batch norm statistics are reversed, so epochs on the retain set have to follow. "
            "If most batches are affected, they amount to a short retraining. The sum serves one "
            "forget set only; a log of single updates serves any, at one copy of the weights for "
            "each step."
        ),
        reads=frozenset({"retain", "training_record"}),
        tasks=EVERY_TASK,
        records=("running_sum", "per_step"),
        parameters=(
            Parameter(
                name="store",
                kind="choice",
                default="running_sum",
                choices=("running_sum", "per_step", "replay"),
                help=(
                    "What training keeps: the sum of the updates to take back, the forget set "
                    "being known beforehand; every update, for any request; or nothing, and the "
                    "method trains the original once more to find them."
                ),
            ),
            Parameter(
                name="disk_cap",
                kind="float",
                default=1.0,
                low=0.001,
                high=1000.0,
                unit="GB",
                help="Largest log that per_step may keep.",
            ),
            Parameter(
                name="repair_epochs",
                kind="int",
                default=20,
                low=0,
                high=500,
                unit="epochs",
                scales_with_epochs=True,
                help="Passes over the retain set after the updates are taken back.",
            ),
            lr(0.01),
            momentum(),
            decay(),
            batch(256),
        ),
        paper_epochs=50,
        own_layers="it takes back recorded updates of every layer.",
        storage="(recorded steps) × one model: 428 GB for ResNet-18 and 50 epochs; the sum alone, "
        "as kept here: one model",
        differs="Keeps the sum of the affected updates instead of each of them; the weights after "
        "taking them back are the same.",
        aliases=("AML",),
    ),
)
