"""Noise-injection unlearning. Re-initialises the output layer, then adds noise to a few weight
tensors at a time and trains those on the retain set, and in the end fine-tunes all.

All of the original but the classifier is kept, and at first an epoch on the retain set trains the
whole network. Each noise epoch then draws nine weight tensors by default, adds normal noise to
some, and trains only these nine and batch norm. In the last epochs everything trains, and no noise
is added. Noise erases details at random, and only those that the retain set supports can be learned
again. No forgotten sample is read, so nothing aims at the forget set, and random samples are often
still known. All tensors get noise of one size, which hurts those with small weights most.

Differs: Batch norm is told by layer type, not by the name bn. The three stages are scaled to the
recipe one by one.
"""

from __future__ import annotations

from mucore.catalog import settings
from mucore.catalog.cards import EVERY_TASK, Between, Footprint, MethodCard, Parameter


def _stage(name: str, default: int, help: str) -> Parameter:
    return settings.integer(name, default, 0, 500, unit="epochs", scales_with_epochs=True)(help)


CARD = MethodCard(
    id="niu",
    title="NIU",
    family="competition",
    source="NeurIPS 2023 machine unlearning challenge, write-up 459095 (Sun), seventh place; RNI "
    "in Deep Unlearn (Cadet et al., 2024)",
    code="xcadet/deepunlearn munl/unlearning/kgltop7.py (third-party port)",
    reads=frozenset({"retain"}),
    tasks=EVERY_TASK,
    parameters=(
        settings.lr(2e-4),
        settings.lr(1e-3, name="last_lr", help="Learning rate of the very last epoch."),
        _stage("reset_epochs", 1, "Passes over the retain set after the output layer was redrawn."),
        _stage("noise_epochs", 4, "Passes over the retain set that begin with noise."),
        _stage("fine_epochs", 4, "Passes over the retain set that train all weights at the end."),
        settings.integer("chosen_tensors", 9, 1, 1000)(
            "Weight tensors that train in an epoch with noise."
        ),
        settings.real("noise_share", 0.7, 0.0, 1.0)("Share of those tensors that get noise."),
        settings.real("sigma", 0.04, 0.0, 10.0)("Standard deviation of the noise."),
        *settings.sgd(64),
        settings.switch("reset_output", True)("Redraw the output layer first."),
        settings.choice("stage1", "full", ("full", "chosen"))(
            "After the reset, train all weights (write-up) or a few tensors, perhaps without the "
            "output layer (the port)."
        ),
    ),
    search={
        "lr": Between(1e-4, 5e-2, log=True),
        "last_lr": Between(1e-4, 5e-2, log=True),
        "noise_epochs": Between(1, 2),
        "chosen_tensors": Between(3, 18),
        "noise_share": Between(0.1, 1.0),
        "sigma": Between(0.005, 0.3, log=True),
    },
    paper_epochs=settings.MUBOX_EPOCHS,
    not_confinable="it draws the layers that it trains, batch norms among them.",
    footprint=Footprint(backward="(reset_epochs + noise_epochs + fine_epochs) * retain"),
    aliases=("RNI", "Noise-injection unlearning"),
)
