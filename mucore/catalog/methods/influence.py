"""Methods that edit weights by influence functions or Fisher information."""

from __future__ import annotations

from mucore.catalog.cards import MethodCard, Parameter
from mucore.catalog.methods.settings import batch

CARDS = (
    MethodCard(
        id="ssd",
        title="SSD",
        family="influence",
        source="Foster et al., Selective Synaptic Dampening, AAAI 2024",
        code="if-loops/selective-synaptic-dampening src/ssd.py",
        summary="Shrinks the weights that matter more for the forget set than for the training set, by Fisher information. No training.",
        reads=frozenset({"retain", "forget"}),
        parameters=(
            Parameter(
                name="alpha",
                kind="float",
                default=10.0,
                low=0.01,
                high=1e6,
                log=True,
                help="A weight is chosen when its forget importance is this many times its overall one.",
            ),
            Parameter(name="lam", kind="float", default=1.0, low=0.0, high=100.0, help="Dampening constant λ."),
            Parameter(
                name="fisher",
                kind="choice",
                default="batch",
                choices=("batch", "sample"),
                help="Square the mean gradient of a batch (official code) or of each sample (paper).",
            ),
            batch(128),
            Parameter(
                name="order",
                kind="choice",
                default="shuffled",
                choices=("shuffled", "retain_then_forget"),
                help="Order of the training set when squaring batch gradients; it decides whether the selection is capped.",
            ),
        ),
        storage="0 (one copy of the weights if the importance of the training set is kept)",
    ),
)
