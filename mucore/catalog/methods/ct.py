"""Convolution transpose. Mirrors every convolution kernel at its diagonal and fine-tunes on the
retain set.

Rows and columns of each square kernel of the original change places, without a look at any data.
The network then answers as the original would for images mirrored the same way, so its features no
longer fit upright ones. Training on the retain set makes them fit again, at a rate that falls along
a cosine. What only the forget set supported has no data to come back from, since that set is never
read. With few epochs or a low rate, accuracy stays far below what it was on all data. Kernels of
one pixel do not change, so a network without larger ones is merely fine-tuned.

Differs: The other half of the authors' ensemble, pseudo-label fine-tuning, is left out, as in
MUBox.
"""

from __future__ import annotations

from mucore.catalog.cards import EVERY_TASK, Among, Between, Footprint, MethodCard
from mucore.catalog.settings import MUBOX_EPOCHS, RETAIN_EPOCHS, batch, decay, epochs, lr, momentum

CARD = MethodCard(
    id="ct",
    title="CT",
    family="competition",
    source="NeurIPS 2023 machine unlearning challenge, write-up 458531 (toshi_k's part), fifth "
    "place",
    code="xcadet/deepunlearn munl/unlearning/kgltop5.py (third-party port)",
    reads=frozenset({"retain"}),
    tasks=EVERY_TASK,
    parameters=(lr(1e-3), epochs(3, "the retain set", scaled=True), momentum(), decay(), batch(64)),
    search={
        "lr": Between(1e-3, 0.5, log=True),
        "epochs": RETAIN_EPOCHS,
        "batch_size": Among((64, 128)),
    },
    paper_epochs=MUBOX_EPOCHS,
    not_confinable="it mirrors the kernels of convolutions, and the classifier has none.",
    footprint=Footprint(backward="epochs * retain"),
    aliases=("Convolution transpose",),
)
