"""Bad teacher: learn from a network that knows nothing on the forget set, and from the original
elsewhere.
"""

from __future__ import annotations

import copy
from typing import Literal

import torch
from torch import Tensor, nn

from mucore.engine.batch import Batch
from mucore.engine.data import Mixture, UnlearningData
from mucore.engine.loop import BatchNorm, Optimizer, Phase, fit
from mucore.engine.losses import soft_divergence
from mucore.engine.run import Run, state_bytes
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
    subset = data.retain[torch.randperm(len(data.retain), generator=run.rng("subset"))[:count]]
    # (2) the competent teacher is the original, the incompetent one a fresh network; both in eval
    #     mode
    competent = copy.deepcopy(model).eval().requires_grad_(False)
    incompetent = None
    if teacher == "random_net":
        incompetent = (
            data.fresh_model(stream_seed(run.seed, "teacher"))
            .to(run.device)
            .eval()
            .requires_grad_(False)
        )
    run.scratch(
        state_bytes(
            t for m in (competent, incompetent) if m is not None for t in m.state_dict().values()
        )
    )
    entropies: list[Tensor] = []

    @torch.no_grad()
    def lesson(batch: Batch) -> Tensor:
        """What the student should say, (n, C) probabilities; two for each attribute."""
        bad = batch.part == 0
        rows = bad.repeat_interleave(1 if data.task == "classes" else data.classes)
        target = torch.full(
            (len(rows), data.options), 1 / data.options, device=batch.x.device, dtype=batch.x.dtype
        )
        if not bad.all():
            target[~rows] = torch.softmax(
                data.choices(competent(batch.x[~bad])).to(target.dtype) / temperature, 1
            )
        if incompetent is not None and bad.any():
            target[rows] = torch.softmax(
                data.choices(incompetent(batch.x[bad])).to(target.dtype) / temperature, 1
            )
        entropies.append(torch.special.entr(target[rows]).sum(1))
        return target

    # (3) KL(lesson ‖ student) on both sets shuffled together
    def loss(model: nn.Module, batch: Batch) -> Tensor:
        return soft_divergence(
            data.choices(model(batch.x)), lesson(batch), temperature, reduction=reduction
        )

    phase = Phase(
        data=Mixture((data.forget, subset)), batch_size=batch_size, loss=loss, augment=False
    )
    student = fit(
        model, [phase], run, epochs=epochs, optimizer=Optimizer(lr=lr, name="adam"), bn=bn
    )
    if run.status == "ok" and entropies and len(said := torch.cat(entropies)):
        # nats; a deep random network can be far from flat, ln C or ln 2
        run.diagnostics["bad_teacher_entropy"] = said.mean().item()
    return student
