"""Methods that climb the loss of the forget set, or add its gradients back."""

from __future__ import annotations

from mucore.catalog.cards import MethodCard, Parameter
from mucore.catalog.methods.settings import MUBOX_EPOCHS, batch, bn, clip, decay, epochs, lr, momentum

CARDS = (
    MethodCard(
        id="gradient_ascent",
        title="Gradient ascent",
        family="gradient_ascent",
        source="Baseline (NegGrad); settings of Unlearn-Sparse (Jia et al., NeurIPS 2023)",
        code="OPTML-Group/Unlearn-Sparse unlearn/GA.py",
        summary="Climbs the loss of the forget set, a few small steps. Nothing holds the retain set in place.",
        reads=frozenset({"forget"}),
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
                help="Stop when the mean forget loss reaches this multiple of chance level; none: never. A guard of ours.",
            ),
            clip(1.0),
            bn("frozen"),
        ),
        differs="Batch norm frozen, clipping and a loss limit by default; official code has none of them (bn=train, the others none).",
        aliases=("GA", "NegGrad"),
    ),
    MethodCard(
        id="neggrad_plus",
        title="NegGrad+",
        family="gradient_ascent",
        source="Kurmanji et al., Towards Unbounded Machine Unlearning, NeurIPS 2023",
        code="meghdadk/SCRUB helper/loops.py",
        summary="Descends on the retain set and ascends on the forget set in one step, the retain loss weighted far higher.",
        reads=frozenset({"retain", "forget"}),
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
                help="One forward pass for each batch, or one for both together, which mixes batch-norm statistics.",
            ),
            Parameter(
                name="forget_loss_cap",
                kind="float",
                default=2.0,
                low=0.1,
                high=100.0,
                optional=True,
                unit="× ln C",
                help="The forget loss stops pushing above this multiple of chance level. A guard of ours.",
            ),
        ),
        paper_epochs=MUBOX_EPOCHS,
        differs="Unequal batch sizes still step; the forget loss is capped by default.",
    ),
)
