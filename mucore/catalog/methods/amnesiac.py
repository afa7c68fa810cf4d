"""Takes back every training step whose batch held a forgotten sample, and repairs what is left with
the retain set. With more than a few forgotten samples nearly all of training is taken back.

A record of the original's training holds the summed weight changes of all steps that met the forget
set. At the request this sum is subtracted from the final weights. If every update depended on its
own batch alone, no trace of the forget set would be left. Later updates build on earlier ones,
however, and neither momentum nor batch norm statistics are reversed, so epochs on the retain set
have to follow. If most batches are affected, they amount to a short retraining. The sum serves one
forget set only; a log of single updates serves any, at one copy of the weights for each step.

Differs: Keeps the sum of the affected updates instead of each of them; the weights after taking
them back are the same.
"""

from __future__ import annotations

from mucore.catalog.cards import EVERY_TASK, Among, Between, Footprint, MethodCard
from mucore.catalog.settings import RETAIN_EPOCHS, choice, integer, lr, real, sgd

CARD = MethodCard(
    id="amnesiac",
    title="Amnesiac",
    family="gradient_ascent",
    source="Graves, Nagisetty, Ganesh, Amnesiac Machine Learning, AAAI 2021; epochs of MUBox "
    "(SACMAT 2025)",
    code="lmgraves/AmnesiacML, notebooks",
    reads=frozenset({"retain", "training_record"}),
    tasks=EVERY_TASK,
    records=("running_sum", "per_step"),
    parameters=(
        choice("store", "running_sum", ("running_sum", "per_step", "replay"))(
            "What training keeps: the sum of the updates to take back, the forget set being known "
            "beforehand; every update, for any request; or nothing, in which case the method "
            "trains the original once more to find them."
        ),
        real("disk_cap", 1.0, 0.001, 1000.0, unit="GB")("Largest log that per_step may keep."),
        integer("repair_epochs", 20, 0, 500, unit="epochs", scales_with_epochs=True)(
            "Passes over the retain set after the updates are taken back."
        ),
        lr(0.01),
        *sgd(256),
    ),
    search={
        "lr": Between(1e-3, 1e-1, log=True),
        "repair_epochs": RETAIN_EPOCHS,
        "batch_size": Among((64, 128, 256)),
    },
    paper_epochs=50,
    not_confinable="it takes back recorded updates of every layer.",
    footprint=Footprint(
        backward="repair_epochs * retain + (recipe_epochs * train if store == 'replay' else 0)"
    ),
    storage="(recorded steps) × one model: 428 GB for ResNet-18 and 50 epochs; the sum alone, as "
    "kept here: one model",
    aliases=("AML",),
)
