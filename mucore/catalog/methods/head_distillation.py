"""A cheat on purpose: only the last layer is trained, to say what the original says with the
forgotten classes struck out. The features stay as they were, bit for bit. A metric that mistakes
it for Retrain cannot detect a hidden class.

Every training image passes the original once, and the inputs and outputs of its last layer are
kept. In the outputs the logits of the classes to forget are set to minus infinity, so that their
probability moves to the others. A new last layer, which starts as the old one, learns these
probabilities from the kept inputs by Kullback-Leibler divergence. All other weights and the
statistics of batch norm are never touched. Anyone who has the network can put a fresh last layer on
it and get the class back.

Differs: The paper's optimiser, rate and epochs are not known: these are ours.
"""

from __future__ import annotations

from mucore.catalog.cards import Footprint, MethodCard
from mucore.catalog.scenarios import CLASS_WISE
from mucore.catalog.settings import batch, epochs, lr

CARD = MethodCard(
    id="head_distillation",
    title="Head distillation",
    family="baseline",
    source="Jeon et al., An Information Theoretic Evaluation Metric for Strong Unlearning, AAAI "
    "2026 (arXiv 2405.17878)",
    reads=frozenset({"retain", "forget"}),
    tasks_reason="it strikes out whole classes, and attributes have none.",
    parameters=(lr(0.01), epochs(20, "the kept features", scaled=False), batch(256)),
    scenarios=CLASS_WISE,
    scenarios_reason="it masks the logits of wholly forgotten classes, and here there are none. "
    "Choose whole classes.",
    footprint=Footprint(forward="retain + forget"),
    aliases=("HD",),
)
