"""Bad teacher: learn from an ignorant network on the forget set, from the original elsewhere."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from mucore.engine.batch import Batch
from mucore.engine.data import Mixture, UnlearningData, places_of
from mucore.engine.loop import BatchNorm, Optimizer, Phase, fit
from mucore.engine.losses import soft_divergence
from mucore.engine.run import Run
from mucore.engine.state import frozen_copy
from mucore.rng import stream_seed


def bad_teacher(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    lr: float,
    epochs: int,
    retain_fraction: float,
    temperature: float,
    batch_size: int,
    reduction: Literal["element_mean", "batchmean"],
    teacher: Literal["random_net", "uniform"],
    bn: BatchNorm,
) -> nn.Module:
    """
    Paper: Chundawat et al., Can Bad Teaching Induce Forgetting? Unlearning in Deep Networks Using
        an Incompetent Teacher, AAAI 2023, eq. 2
    Code: vikram2000b/bad-teaching-unlearning unlearn.py, values of its notebook (Adam 1e-4, one
        epoch)
    Reads: the forget set and a random part of the retain set, labels of neither
    Differs: an incompetent teacher without a network (uniform) and a mean over samples alone are
        offered

    The element mean is C times smaller than the batch mean, which Adam does not notice. No factor
    T², no augmentation.
    """
    # (1) a part of the retain set, drawn once
    count = round(retain_fraction * len(data.retain))
    subset = data.retain.draw(count, run.rng("subset"))
    # (2) the competent teacher is the original, the incompetent one a fresh network; both in eval
    #     mode
    competent = frozen_copy(model)
    incompetent = None
    if teacher == "random_net":
        fresh = data.fresh_model(stream_seed(run.seed, "teacher"))
        incompetent = fresh.to(run.device).eval().requires_grad_(False)
    run.holds(competent, incompetent)
    entropies: list[Tensor] = []

    @torch.no_grad()
    def target(batch: Batch) -> Tensor:
        """What the student should say, (n, C) probabilities; two for each attribute."""

        def said(network: nn.Module, x: Tensor) -> Tensor:
            return torch.softmax(data.choices(network(x)).to(x.dtype) / temperature, 1)

        bad = batch.origins == 0
        times = 1 if data.task == "classes" else data.classes
        found = batch.x.new_full((len(bad) * times, data.options), 1 / data.options)
        for network, mine in ((competent, ~bad), (incompetent, bad)):
            rows = places_of(mine.repeat_interleave(times), run.device)
            if network is not None and len(rows):
                found[rows] = said(network, batch.x[places_of(mine, run.device)])
        entropies.append(torch.special.entr(found[rows]).sum(1))  # those of the forget set
        return found

    # (3) KL(teacher ‖ student) on both sets shuffled together
    def loss(model: nn.Module, batch: Batch) -> Tensor:
        wanted = target(batch)
        student = data.choices(model(batch.x))
        return soft_divergence(student, wanted, temperature, reduction=reduction)

    mixture = Mixture((data.forget, subset))
    phase = Phase(data=mixture, batch_size=batch_size, loss=loss, augment=False)
    optimizer = Optimizer(lr=lr, name="adam")
    fit(model, [phase], run, epochs=epochs, optimizer=optimizer, bn=bn)
    if run.status == "ok" and entropies:
        entropy = torch.cat(entropies)
        if len(entropy):
            # nats; a deep random network can be far from flat, ln C or ln 2
            run.diagnostics["bad_teacher_entropy"] = entropy.mean().item()
    return model
