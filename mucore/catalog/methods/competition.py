"""Methods from the NeurIPS 2023 machine unlearning challenge, which MUBox names after their
teams.
"""

from __future__ import annotations

from mucore.catalog.cards import EVERY_TASK, MethodCard, Parameter
from mucore.catalog.methods.settings import MUBOX_EPOCHS, batch, decay, epochs, lr, momentum

CHALLENGE = "NeurIPS 2023 machine unlearning challenge"


def _stage(name: str, default: int, help: str) -> Parameter:
    return Parameter(
        name=name,
        kind="int",
        default=default,
        low=0,
        high=500,
        unit="epochs",
        scales_with_epochs=True,
        help=help,
    )


CARDS = (
    MethodCard(
        id="fcs",
        title="FCS",
        family="competition",
        source=f"{CHALLENGE}, write-up 458721 (fanchuan), first in the organisers' final ranking",
        code="xcadet/deepunlearn munl/unlearning/kgltop1.py (third-party port)",
        summary=(
            "Forget, contrast, strengthen. First makes the predictions on the forget set uniform. "
            "Then, in turn, makes each forgotten sample equally like every retained one and "
            "repairs with a pass over the retain set."
        ),
        how=(
            "It starts from the original, and its first pass takes away all certainty about the "
            "forget set, without using its labels. In each contrast round, a softmax runs over "
            "the inner products of a forgotten sample's logits with those of a retain batch. The "
            "loss asks for equal shares, so a forgotten sample should resemble no class more than "
            "another. The epoch on the retain set that follows restores what suffered, and these "
            "epochs make up most of the cost. They also outweigh the short forget passes: random "
            "samples are often predicted as well afterwards as before."
        ),
        reads=frozenset({"retain", "forget"}),
        tasks=EVERY_TASK,
        parameters=(
            lr(4e-3, help="Learning rate of the passes over the retain set."),
            lr(5e-3, name="forget_lr", help="Learning rate of the first pass over the forget set."),
            lr(
                3e-4,
                name="contrast_lr",
                help="First learning rate of the contrast rounds; it falls along a cosine.",
            ),
            epochs(8, "the retain set, each after a contrast round", scaled=True),
            Parameter(
                name="temperature",
                kind="float",
                default=1.15,
                low=0.01,
                high=100.0,
                log=True,
                help="Divides the inner products.",
            ),
            momentum(),
            decay(1e-2),
            batch(256, of="retain samples"),
            batch(64, "forget_batch_size", "forget samples"),
        ),
        paper_epochs=MUBOX_EPOCHS,
        differs="Where the forget set has more batches than the retain set, the contrast round "
        "cycles the latter instead of ending early.",
        aliases=("Fanchuan", "Forget-Contrast-Strengthen"),
    ),
    MethodCard(
        id="msg",
        title="MSG",
        family="competition",
        source=f"{CHALLENGE}, write-up 459200 (Lee, Bae, Kim; Kookmin University), third place",
        code="xcadet/deepunlearn munl/unlearning/kgltop2.py (third-party port)",
        summary=(
            "Masked small gradients. Re-initialises the convolution weights on which the "
            "gradients of retain and forget set agree, then fine-tunes on the retain set with "
            "smaller gradients for the other convolution weights."
        ),
        how=(
            "At the original, gradients are summed over the forget set and over as many random "
            "samples of the retain set. In each convolution, the 30 percent of weights on which "
            "the sums differ least are drawn anew by default. Both sets pull these weights alike, "
            "so what they hold of the forget set is wiped out and only the retain set teaches "
            "them again. Kept convolution weights learn at a tenth of the pace, so the repair "
            "happens where knowledge was lost. Classifier and batch norm train along in full. The "
            "reset hits all knowledge: few epochs at a low rate leave accuracy low, while a whole "
            "class may survive."
        ),
        reads=frozenset({"retain", "forget"}),
        tasks=EVERY_TASK,
        parameters=(
            lr(1e-3),
            epochs(5, "the retain set", scaled=True),
            Parameter(
                name="share",
                kind="float",
                default=0.3,
                low=0.0,
                high=1.0,
                help="Share of the convolution weights drawn anew.",
            ),
            Parameter(
                name="kept_factor",
                kind="float",
                default=0.1,
                low=0.0,
                high=1.0,
                help="What multiplies the gradients of the convolution weights that were kept.",
            ),
            Parameter(
                name="ranking",
                kind="choice",
                default="layer",
                choices=("layer", "network"),
                help="Rank gradients within each layer (the port) or over the whole network (the "
                "write-up).",
            ),
            momentum(),
            decay(),
            batch(64),
        ),
        paper_epochs=MUBOX_EPOCHS,
        own_layers="it draws weights of convolutions anew, and the classifier has none.",
        storage="0 (one mask of the convolution weights while it runs)",
        differs="The gradients that choose weights come from eval mode; sources do not say.",
        aliases=("Kookmin",),
    ),
    MethodCard(
        id="ct",
        title="CT",
        family="competition",
        source=f"{CHALLENGE}, write-up 458531 (toshi_k's part), fifth place",
        code="xcadet/deepunlearn munl/unlearning/kgltop5.py (third-party port)",
        summary="Convolution transpose. Mirrors every convolution kernel at its diagonal and "
        "fine-tunes on the retain set.",
        how=(
            "Rows and columns of each square kernel of the original change places, without a look "
            "at any data. The network then answers as the original would for images mirrored the "
            "same way, so its features no longer fit upright ones. Training on the retain set "
            "makes them fit again, at a rate that falls along a cosine. What only the forget set "
            "supported has no data to come back from, since that set is never read. With few "
            "epochs or a low rate, accuracy stays far below what it was on all data. Kernels of "
            "one pixel do not change, so a network without larger ones is merely fine-tuned."
        ),
        reads=frozenset({"retain"}),
        tasks=EVERY_TASK,
        parameters=(
            lr(1e-3),
            epochs(3, "the retain set", scaled=True),
            momentum(),
            decay(),
            batch(64),
        ),
        paper_epochs=MUBOX_EPOCHS,
        own_layers="it mirrors the kernels of convolutions, and the classifier has none.",
        differs="The other half of the authors' ensemble, pseudo-label fine-tuning, is left out, "
        "as in MUBox.",
        aliases=("Convolution transpose",),
    ),
    MethodCard(
        id="niu",
        title="NIU",
        family="competition",
        source=f"{CHALLENGE}, write-up 459095 (Sun), seventh place; RNI in Deep Unlearn (Cadet et "
        "al., 2024)",
        code="xcadet/deepunlearn munl/unlearning/kgltop7.py (third-party port)",
        summary=(
            "Noise-injection unlearning. Re-initialises the output layer, then adds noise to a "
            "few weight tensors at a time and trains those on the retain set, and in the end "
            "fine-tunes all."
        ),
        how=(
            "Of the original all but the classifier is kept, and at first an epoch on the retain "
            "set trains the whole network. Each noise epoch then draws nine weight tensors by "
            "default, adds normal noise to some, and trains only these nine and batch norm. In "
            "the last epochs everything trains, and no noise is added. Noise erases details at "
            "random, and only those that the retain set supports can be learned again. No "
            "forgotten sample is read, so nothing aims at the forget set, and random samples are "
            "often still known. All tensors get noise of one size, which hurts those with small "
            "weights most."
        ),
        reads=frozenset({"retain"}),
        tasks=EVERY_TASK,
        parameters=(
            lr(2e-4),
            lr(1e-3, name="last_lr", help="Learning rate of the very last epoch."),
            _stage(
                "reset_epochs",
                1,
                "Passes over the retain set after the output layer was drawn anew.",
            ),
            _stage("noise_epochs", 4, "Passes over the retain set that begin with noise."),
            _stage(
                "fine_epochs", 4, "Passes over the retain set that train all weights at the end."
            ),
            Parameter(
                name="chosen_tensors",
                kind="int",
                default=9,
                low=1,
                high=1000,
                help="Weight tensors that train in an epoch with noise.",
            ),
            Parameter(
                name="noise_share",
                kind="float",
                default=0.7,
                low=0.0,
                high=1.0,
                help="Share of those that gets noise.",
            ),
            Parameter(
                name="sigma",
                kind="float",
                default=0.04,
                low=0.0,
                high=10.0,
                help="Standard deviation of the noise.",
            ),
            momentum(),
            decay(),
            batch(64),
            Parameter(
                name="reset_output",
                kind="bool",
                default=True,
                help="Draw the output layer anew first.",
            ),
            Parameter(
                name="stage1",
                kind="choice",
                default="full",
                choices=("full", "chosen"),
                help="After the reset, train all weights (write-up) or a few tensors, perhaps "
                "without the output layer (the port).",
            ),
        ),
        paper_epochs=MUBOX_EPOCHS,
        own_layers="it draws the layers that it trains, batch norms among them.",
        differs="Batch norm is told by layer type, not by the name bn. The three stages are "
        "scaled to the recipe one by one.",
        aliases=("RNI", "Noise-injection unlearning"),
    ),
)
