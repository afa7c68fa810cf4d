"""SCAR: forgotten samples move to the nearest class, by Mahalanobis distance; the rest is held."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from mucore.blocks.clusters import Clusters, nearest_clusters
from mucore.blocks.stopping import below_target
from mucore.blocks.surrogate_data import (
    NO_SELF,
    NOTHING_TO_MOVE,
    Surrogate,
    looking_like,
    marked,
    surrogate_samples,
)
from mucore.blocks.teacher import Teacher
from mucore.engine.batch import Batch
from mucore.engine.data import Repeated, UnlearningData, places_of, sent
from mucore.engine.features import class_means, features_and_logits, features_of
from mucore.engine.loop import BatchNorm, Optimizer, Phase, fit
from mucore.engine.losses import distillation_without
from mucore.engine.predict import accuracy, accuracy_between, predictions
from mucore.engine.run import Run
from mucore.engine.state import state_bytes
from mucore.errors import BadValue


def scar(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    lr: float,
    epochs: int,
    lambda_1: float,
    lambda_2: float,
    temperature: float,
    delta: float,
    gamma_1: float,
    gamma_2: float,
    surrogate: Surrogate,
    surrogate_batches: int,
    class_surrogate_batches: int,
    batch_size: int,
    class_stop: float,
    margin: float,
    still_known: float,
    bn: BatchNorm,
    form: Literal["forget_set", "self"],
) -> nn.Module:
    """
    Paper: Bonato et al., Is Retain Set All You Need in Machine Unlearning? (SCAR), ECCV 2024
    Code: jbonato1/SCAR src/Unlearning_methods.py, class Mahalanobis
    Reads: the retain set (once, for class statistics, with made-up surrogates), the forget set (not
        in `self`), validation for the target
    Differs: the official surrogates are ImageNet images; stop rule once an epoch, on validation
        data; no constants inside logarithms

    `self` is SCAR-self: made-up images that look like a forgotten class stand in for it, and the
    stop rule asks them. A batch without any is distilled all the same.
    """
    class_wise = bool(data.forgotten_classes)
    alone = form == "self"
    if alone and (not class_wise or surrogate == "retain"):
        raise BadValue(NO_SELF)
    target = class_stop if class_wise else accuracy(model, data.validation, run) - margin
    # (1) mean and precision of every class of the retain set, in the original's features raised to
    #     the power δ; in passing, what the teacher says of it
    images = surrogate_samples(surrogate, data, run)
    leaving = data.forget
    if alone:
        leaving = looking_like(model, images, data.forgotten_classes, run)
    if not len(leaving):
        run.note(NOTHING_TO_MOVE)
        return model.eval()
    teacher = Teacher(model, images, classes=data.classes, told=surrogate == "retain")
    also = teacher.learn if surrogate == "retain" else None

    def members(number: int) -> Tensor:
        own = data.retain[data.retain.labels == number]
        return features_of(model, own, run, batch_size=batch_size, also=also)

    # (2) the target of a sample that is to move: the nearest class but its own, fixed once
    clusters = Clusters(delta=delta, gammas=(gamma_1, gamma_2), shrinkings=1 if alone else 2)
    features = features_of(model, leaving, run, batch_size=batch_size)
    allowed = data.other_labels(leaving.labels)
    targets = nearest_clusters(features, allowed, clusters, members, run, beside=teacher.bytes)
    moved = leaving.with_labels(targets)
    weights = torch.ones(int(leaving.ids.abs().max()) + 1)  # by sample id
    run.scratch(teacher.bytes + state_bytes(clusters.held()))
    del features

    # (3) λ1 · distance to the target + λ2 · KL(teacher on surrogates ‖ student); no surrogate may
    #     look like a removed class
    def loss(model: nn.Module, batch: Batch, stand_in: Batch | None = None) -> Tensor:
        features, logits = features_and_logits(model, batch.x)
        moving = batch.labels >= 0
        rows = places_of(moving, features.device)
        gaps = clusters.to_own(features[rows], batch.labels[moving])
        gaps = sent(weights[batch.ids[moving]], features.device) * gaps
        answer = logits if stand_in is None else model(stand_in.x)
        said = teacher(batch if stand_in is None else stand_in)
        held = distillation_without(answer, said, data.forgotten_classes, temperature)
        return lambda_1 * gaps.sum() / max(1, len(gaps)) + lambda_2 * held

    # (4) until the forget set is predicted worse than the target; a class moves as far as it is
    #     still known
    def stop(model: nn.Module, epoch: int) -> str | None:
        if class_wise:  # the first epoch is not asked
            reached = accuracy_between(model, leaving, run, below=target) if epoch else None
        else:
            right = (predictions(model, leaving, run) == leaving.labels).float()
            reached = right.mean().item()
            known = class_means(right.unsqueeze(1), leaving.labels, data.classes).flatten()
            shares = known[leaving.labels]
            weights[leaving.ids] = torch.where(shares >= still_known, shares, 0.0)
        return below_target(reached, target, epoch) if epoch else None

    if alone:
        phase = Phase(data=marked(images, moved), batch_size=batch_size, loss=loss, augment=False)
    else:
        times = class_surrogate_batches if class_wise else surrogate_batches
        phase = Phase(
            data=Repeated(moved, times),
            beside=images,
            batch_size=batch_size,
            loss=loss,
            augment=False,
        )
    optimizer = Optimizer(lr=lr, name="adam")
    return fit(model, [phase], run, epochs=epochs, optimizer=optimizer, bn=bn, stop=stop)
