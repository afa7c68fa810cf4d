"""UNSIR: impair the network with noise made against what is to be forgotten, then repair it on the
retain set.
"""

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
        # (1) instance form: impair with noise whose logits run from those of forgotten images,
        #     under retained labels; then repair
        def impair(model: nn.Module, forget: Batch, retain: Batch) -> Tensor:
            size = min(len(forget), len(retain))
            noise = evading_noise(
                model,
                data.forget.images,
                forget.x[:size],
                run,
                steps=instance_noise_steps,
                lr=instance_noise_lr,
            )
            return cross_entropy(model(noise), retain.y[:size]) + cross_entropy(
                model(retain.x), retain.y
            )

        last, size = instance_epochs, instance_batch_size
        impairing = Phase(
            data=data.forget,
            batch_size=size,
            beside=data.retain,
            loss=impair,
            when=lambda epoch: epoch < last,
        )
        repairing = Phase(data=data.retain, batch_size=size, when=lambda epoch: epoch == last)
        # no momentum; batch norm stays in eval mode, as in the official notebook
        optimizer = Optimizer(lr=instance_lr)
        return fit(
            model, [impairing, repairing], run, epochs=last + 1, optimizer=optimizer, bn="eval"
        )
    # (2) class form: noise that the original finds as unlike a class of this request as can be,
    #     under the name of that class
    images, parts = data.retain.images, []
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
        run.scratch(noise.nbytes * len(data.leaving))
        used = to_pixels(images, noise if noise_use == "full" else noise[: images.shape[0]])
        batch = made_samples(images, used, torch.full((len(used),), label), "noise")
        parts.append(batch[torch.arange(len(used)).repeat(noise_batches)])
    kept = drawn_per_class(data.retain, retain_per_class, run)
    # (3) impair on noise and part of the retain set, (4) repair on that part alone, Adam for both
    first, second = Optimizer(lr=impair_lr, name="adam"), Optimizer(lr=repair_lr, name="adam")
    phases = [
        Phase(data=Mixture((*parts, kept)), batch_size=batch_size, optimizer=first),
        Phase(data=kept, batch_size=batch_size),
    ]
    return fit(model, phases, run, epochs=1, optimizer=second)


def drawn_per_class(samples: Samples, count: int, run: Run) -> Samples:
    """At most `count` samples of each class, drawn from stream `subset`."""
    order = torch.randperm(len(samples), generator=run.rng("subset"))
    return samples[
        torch.cat(
            [order[samples.labels[order] == label][:count] for label in samples.labels.unique()]
        )
    ]
