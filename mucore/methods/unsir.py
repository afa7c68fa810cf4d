"""UNSIR: impair the network with noise made against the forget set, then repair it."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from mucore.blocks.adversarial import class_noise, evading_noise, made_samples, to_pixels
from mucore.engine.batch import Batch
from mucore.engine.data import Mixture, Samples, UnlearningData
from mucore.engine.loop import Optimizer, Phase, fit
from mucore.engine.losses import cross_entropy
from mucore.engine.run import Run
from mucore.errors import BadValue


def unsir(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    form: Literal["auto", "class", "instance"],
    class_noise_steps: int,
    class_noise_lr: float,
    penalty: float,
    noise_batches: int,
    noise_use: Literal["full", "official60"],
    retain_per_class: int,
    impair_lr: float,
    repair_lr: float,
    batch_size: int,
    instance_epochs: int,
    instance_noise_steps: int,
    instance_noise_lr: float,
    instance_lr: float,
    instance_batch_size: int,
) -> nn.Module:
    """
    Paper: Tarun et al., Fast Yet Effective Machine Unlearning, TNNLS 2023; instance form: Choi and
        Na, MUFAC and MUCAC, 2023, equation 4
    Code: vikram2000b/Fast-Machine-Unlearning (class form); ndb796/MachineUnlearning 01_MUFAC
        (instance form)
    Reads: class form: part of the retain set; instance form: the retain set and the forget set,
        without its labels
    Differs: class form: noise is made in eval mode, all of it is used and labelled with its own
    class (official: train mode, the first images of each batch alone, always class 0); part of the
    retain set is drawn, not the first. Instance form: pixels are cut to 0..1

    `official60`: as many images of a noise batch as there are colour channels, 20 times 3 in the
    paper's runs.
    """
    if form == "class" and not data.forgotten_classes:
        raise BadValue(
            "unsir: the class form forgets whole classes, and this request does not. Choose "
            "form=instance or form=auto."
        )
    if form == "instance" or not data.forgotten_classes:
        return impair_by_samples(
            model,
            data,
            run,
            epochs=instance_epochs,
            lr=instance_lr,
            batch_size=instance_batch_size,
            noise_steps=instance_noise_steps,
            noise_lr=instance_noise_lr,
        )
    # (1) noise that the original finds as unlike a class of this request as can be, under the name
    #     of that class
    images = data.retain.images
    parts = []
    for label in data.leaving:
        noise = class_noise(
            model,
            images,
            label,
            run,
            count=batch_size,
            steps=class_noise_steps,
            lr=class_noise_lr,
            penalty=penalty,
        )
        run.holds(noise, copies=len(data.leaving))
        if noise_use == "official60":
            noise = noise[: images.shape[0]]
        labels = torch.full((len(noise),), label)
        batch = made_samples(images, to_pixels(images, noise), labels, "noise")
        parts.append(batch[torch.arange(len(noise)).repeat(noise_batches)])
    kept = drawn_per_class(data.retain, retain_per_class, run)
    # (2) impair on noise and part of the retain set, (3) repair on that part alone, Adam for both
    impairing = Phase(
        data=Mixture((*parts, kept)),
        batch_size=batch_size,
        optimizer=Optimizer(lr=impair_lr, name="adam"),
    )
    repairing = Phase(data=kept, batch_size=batch_size)
    optimizer = Optimizer(lr=repair_lr, name="adam")
    return fit(model, [impairing, repairing], run, epochs=1, optimizer=optimizer)


def impair_by_samples(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    epochs: int,
    lr: float,
    batch_size: int,
    noise_steps: int,
    noise_lr: float,
) -> nn.Module:
    """The instance form: impair for `epochs` epochs, then repair for one."""

    # (1) impair with noise whose logits run from those of forgotten images, under retained labels
    def impair(model: nn.Module, forget: Batch, retain: Batch) -> Tensor:
        x = forget.x[: len(retain)]
        noise = evading_noise(model, data.forget.images, x, run, steps=noise_steps, lr=noise_lr)
        impaired = cross_entropy(model(noise), retain.y[: len(noise)])
        return impaired + cross_entropy(model(retain.x), retain.y)

    impairing = Phase(
        data=data.forget,
        batch_size=batch_size,
        beside=data.retain,
        loss=impair,
        when=lambda epoch: epoch < epochs,
    )
    # (2) repair on the retain set
    repairing = Phase(data=data.retain, batch_size=batch_size, when=lambda epoch: epoch == epochs)
    # no momentum; batch norm stays in eval mode, as in the official notebook
    optimizer = Optimizer(lr=lr)
    return fit(
        model, [impairing, repairing], run, epochs=epochs + 1, optimizer=optimizer, bn="eval"
    )


def drawn_per_class(samples: Samples, count: int, run: Run) -> Samples:
    """At most `count` samples of each class, drawn from stream `subset`."""
    shuffled = samples.draw(len(samples), run.rng("subset"))
    rows = [
        (shuffled.labels == label).nonzero().flatten()[:count] for label in samples.labels.unique()
    ]
    return shuffled[torch.cat(rows)]
