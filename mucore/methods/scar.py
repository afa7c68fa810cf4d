"""SCAR: forgotten samples move to the nearest class by Mahalanobis distance; the rest is held by distillation."""

from __future__ import annotations

import copy
from typing import Literal

import torch
from torch import Tensor, nn

from mucore.engine.adversarial import noise_samples
from mucore.engine.data import Batch, Repeated, UnlearningData
from mucore.engine.features import Clusters, class_means, features_and_logits, features_of, nearest
from mucore.engine.loop import BatchNorm, Optimizer, Phase, fit
from mucore.engine.losses import distillation_without
from mucore.engine.predict import accuracy, predictions
from mucore.engine.run import Run, state_bytes


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
    surrogate: Literal["retain", "noise"],
    surrogate_batches: int,
    class_surrogate_batches: int,
    batch_size: int,
    class_stop: float,
    margin: float,
    still_known: float,
    bn: BatchNorm,
) -> nn.Module:
    """
    Paper: Bonato et al., Is Retain Set All You Need in Machine Unlearning? (SCAR), ECCV 2024
    Code: jbonato1/SCAR src/Unlearning_methods.py, class Mahalanobis
    Reads: the retain set (`noise`: once, for class statistics), the forget set, and the validation set for the target accuracy
    Differs: the official surrogates are ImageNet images; stop rule once an epoch and on validation data; no constants inside logarithms
    """
    removed = bool(data.forgotten_classes)
    target = class_stop if removed else accuracy(model, data.validation, run) - margin
    # (1) mean and precision of every class of the retain set, in the original's features raised to the power δ
    retained = features_of(model, data.retain, run, batch_size=batch_size)
    clusters = Clusters(retained, data.retain.labels, data.classes, delta=delta, gammas=(gamma_1, gamma_2))
    # (2) the target of a forgotten sample: the nearest class but its own, fixed once
    distances = clusters.to_all(features_of(model, data.forget, run, batch_size=batch_size))
    moved = data.forget.with_labels(nearest(distances, data.other_labels(data.forget.labels)))
    weights = torch.ones(int(data.forget.ids.max()) + 1)  # by sample id
    teacher = copy.deepcopy(model).eval().requires_grad_(False)
    images = data.retain if surrogate == "retain" else noise_samples(data.forget, 10_000, run)
    run.scratch(state_bytes([retained, clusters.precisions, *teacher.state_dict().values()]))

    # (3) λ1 · distance to the target + λ2 · KL(teacher on surrogates ‖ student); no surrogate may look like a removed class
    def loss(model: nn.Module, forget: Batch, stand_in: Batch) -> Tensor:
        gaps = clusters.to_own(features_and_logits(model, forget.x)[0], forget.y)
        with torch.no_grad():
            said = teacher(stand_in.x)
        held = distillation_without(model(stand_in.x), said, data.forgotten_classes, temperature)
        return lambda_1 * (weights[forget.ids].to(gaps) * gaps).mean() + lambda_2 * held

    # (4) until the forget set is predicted worse than the target; a class moves as far as it is still known
    def stop(model: nn.Module, epoch: int) -> str | None:
        right = (predictions(model, data.forget, run) == data.forget.labels).float()
        if not removed:
            shares = class_means(right.unsqueeze(1), data.forget.labels, data.classes).flatten()[data.forget.labels]
            weights[data.forget.ids] = torch.where(shares >= still_known, shares, 0.0)
        reached = right.mean().item()
        return f"forget accuracy {reached:.3f} is below {target:.3f} after epoch {epoch + 1}" if epoch and reached < target else None

    meets = Repeated(moved, class_surrogate_batches if removed else surrogate_batches)
    phase = Phase(data=meets, beside=images, batch_size=batch_size, loss=loss, augment=False)
    return fit(model, [phase], run, epochs=epochs, optimizer=Optimizer(lr=lr, name="adam"), bn=bn, stop=stop)
