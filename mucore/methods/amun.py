"""AMUN: fine-tune on close adversarial images of the forget set under their wrong classes."""

from __future__ import annotations

from typing import Literal

from torch import nn

from mucore.blocks.adversarial import made_samples, nearest_adversarial
from mucore.engine.data import Mixture, UnlearningData
from mucore.engine.loop import Optimizer, Phase, fit
from mucore.engine.run import Run


def amun(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    lr: float,
    epochs: int,
    decay_every: int,
    momentum: float,
    weight_decay: float,
    batch_size: int,
    radius: float,
    attack_steps: int,
    doublings: int,
    sets: Literal["all", "no_retain", "no_forget"],
) -> nn.Module:
    """
    Paper: Ebrahimpour-Boroojeny, Sundaram, Chandrasekaran, AMUN: Adversarial Machine UNlearning,
        ICML 2025, algorithm 1
    Code: Ali-E/AMUN adversarial_unlearn.py and pgdl2_modified.py
    Reads: the forget set; the retain set except in mode no_retain
    Differs: the radius of the attack doubles a limited number of times; a sample that never crosses
        keeps its last image and its runner-up

    The forget set itself stays in the training set under its true labels (no_forget: it does not),
    so accuracy on it ends near that on unseen data. That is what Retrain does for random samples,
    and wrong for a class that goes entirely: choose no_forget there.
    """
    # (1) for each forgotten sample, a close image of another class: gradient ascent in a ball
    #     around it that grows until the label flips
    with run.share(0, 0.5):
        found = nearest_adversarial(
            model,
            data.forget,
            run,
            radius=radius,
            steps=attack_steps,
            doublings=doublings,
            batch_size=batch_size,
        )
    # Euclidean, of pixels in 0..1
    run.diagnostics["adversarial_radius"] = found.radii.mean().item()
    run.diagnostics["adversarial_failed"] = found.failed / len(data.forget)
    run.holds(found.pixels, found.labels)
    adversarial = made_samples(
        data.forget.images,
        found.pixels.to(run.device),
        found.labels,
        "adversarial",
        ids=data.forget.ids,
        overwrite=True,
    )
    # (2) fine-tune on them together with the retain set and the forget set under its true labels
    parts = [data.retain, data.forget, adversarial]
    if sets == "no_retain":
        parts.remove(data.retain)
    if sets == "no_forget":
        parts.remove(data.forget)
    phase = Phase(data=Mixture(tuple(parts)), batch_size=batch_size)
    # (3) the rate falls to a tenth every `decay_every` epochs
    optimizer = Optimizer(
        lr=lr,
        momentum=momentum,
        weight_decay=weight_decay,
        schedule=lambda epoch: 0.1 ** (epoch // decay_every),
    )
    with run.share(0.5, 1):
        return fit(model, [phase], run, epochs=epochs, optimizer=optimizer)
