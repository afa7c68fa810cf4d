"""DUCK: features of forgotten samples move to the nearest centroid of another class."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from mucore.blocks.stopping import below_target
from mucore.engine.batch import Batch
from mucore.engine.data import Repeated, UnlearningData
from mucore.engine.features import (
    cosine_distance,
    features_and_logits,
    features_of,
    nearest,
    prototypes,
)
from mucore.engine.loop import BatchNorm, Optimizer, Phase, fit
from mucore.engine.predict import accuracy, accuracy_between
from mucore.engine.run import Run

POLISH_BATCH = 512  # of the retain set


def duck(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    lr: float,
    class_lr: float,
    epochs: int,
    lambda_1: float,
    lambda_2: float,
    temperature: float,
    retain_batches: int,
    batch_size: int,
    class_batch_size: int,
    class_stop: float,
    milestones: Sequence[int],
    rho: float,
    polish: bool,
    bn: BatchNorm,
) -> nn.Module:
    """
    Paper: Cotogni et al., DUCK: Distance-based Unlearning via Centroid Kinematics, 2023
    Code: OcraM17/DUCK src/Unlearning_methods.py and opts.py; the README's settings for CIFAR-10
    Reads: the retain set, the forget set, and the validation set for the target accuracy
    Differs: targets are fixed by sample and never a forgotten class (official indices go astray);
        the target is validation accuracy
    """
    class_wise = bool(data.forgotten_classes)
    size = class_batch_size if class_wise else batch_size
    rate = class_lr if class_wise else lr
    target = class_stop if class_wise else accuracy(model, data.validation, run)
    # (1) the centroid of every class of the retain set, in the original's features
    means = prototypes(model, data.retain, data.classes, run, batch_size=size)
    centroids = means.float().to(run.device)
    # (2) the target of a forgotten sample: the nearest centroid but its own, fixed once
    features = features_of(model, data.forget, run, batch_size=size)
    distances = torch.stack([cosine_distance(features, centroid) for centroid in centroids], 1)
    run.holds(means, centroids, features, distances)
    moved = data.forget.with_labels(nearest(distances, data.other_labels(data.forget.labels)))

    # (3) λ1 · cosine distance to the target + λ2 · cross-entropy at temperature T; each forget
    #     batch meets several retain batches
    def pull(model: nn.Module, forget: Batch, retain: Batch) -> Tensor:
        features, _ = features_and_logits(model, forget.x)
        distance = cosine_distance(features, centroids[forget.y]).mean()
        loss = nn.functional.cross_entropy(model(retain.x) / temperature, retain.y)
        return lambda_1 * distance + lambda_2 * loss

    # (4) until the forget set is predicted no better than held-out data, or not at all where
    #     classes go entirely
    def stop(model: nn.Module, epoch: int) -> str | None:
        reached = accuracy_between(model, data.forget, run, below=target)
        return below_target(reached, target, epoch)

    meets = Repeated(moved, min(retain_batches, data.retain.steps(size)))
    phase = Phase(data=meets, beside=data.retain, batch_size=size, loss=pull, augment=False)
    optimizer = Optimizer(lr=rate, name="adam", schedule="step", milestones=milestones, rho=rho)
    fit(model, [phase], run, epochs=epochs, optimizer=optimizer, bn=bn, stop=stop)
    if not polish or run.status != "ok":
        return model

    # (5) on request two more epochs of the official code: one forward pass for both batches, a
    #     tenth of the pull
    def settle(model: nn.Module, forget: Batch, retain: Batch) -> Tensor:
        features, logits = features_and_logits(model, torch.cat([forget.x, retain.x]))
        distance = cosine_distance(features[: len(forget)], centroids[forget.y]).mean()
        loss = nn.functional.cross_entropy(logits[len(forget) :] / temperature, retain.y)
        return loss + lambda_1 / 10 * distance

    if class_wise:
        one_batch = moved[torch.arange(len(moved))[:size]]
        meets = Repeated(one_batch, data.retain.steps(POLISH_BATCH))
    else:
        meets = Repeated(moved, 20)
    phase = Phase(
        data=meets, beside=data.retain, batch_size=size, beside_batch_size=POLISH_BATCH, loss=settle
    )
    optimizer = Optimizer(lr=1e-4, name="adam", schedule="cosine")
    return fit(model, [phase], run, epochs=2, optimizer=optimizer, bn=bn)
