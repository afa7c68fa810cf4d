"""Penultimate features, the input of a network's last linear layer, and what comes of them."""

from __future__ import annotations

import contextlib
from collections.abc import Generator

import torch
from torch import Tensor, nn

from mucore.engine.data import Samples
from mucore.engine.run import Run

FLOOR = 1e-6  # smallest feature that is raised to a power
TINY = 1e-8  # keeps the norm of a feature vector of zeros, as ReLU gives them, out of a denominator


def classifier_layer(model: nn.Module) -> nn.Linear:
    """The last linear layer in definition order; raises `ValueError` for a network without one."""
    layers = [module for module in model.modules() if isinstance(module, nn.Linear)]
    if not layers:
        raise ValueError("the network has no linear layer, so it has no penultimate features")
    return layers[-1]


@contextlib.contextmanager
def penultimate(model: nn.Module) -> Generator[list[Tensor]]:
    """While open, each forward pass appends its penultimate features (n, d) to the list it gives.

    The hook leaves with the context.
    """
    seen: list[Tensor] = []
    hook = classifier_layer(model).register_forward_pre_hook(
        lambda module, inputs: seen.append(inputs[0].flatten(1))
    )
    try:
        yield seen
    finally:
        hook.remove()


def features_and_logits(model: nn.Module, x: Tensor) -> tuple[Tensor, Tensor]:
    """One forward pass: features (n, d) in float32, with their graph, and logits (n, C)."""
    with penultimate(model) as seen:
        logits = model(x)
    return seen[0].float(), logits


@torch.no_grad()
def features_of(model: nn.Module, samples: Samples, run: Run, *, batch_size: int) -> Tensor:
    """Features (n, d) float32 of a set in its order: eval mode, plain images, on the device.

    Full precision whatever the run's.
    """
    model.eval()
    found = []
    for batch in samples.batches(run, batch_size):
        run.check()
        found.append(features_and_logits(model, batch.x)[0])
    return torch.cat(found)


@torch.no_grad()
def prototypes(
    model: nn.Module, samples: Samples, classes: int, run: Run, *, batch_size: int = 512
) -> Tensor:
    """Mean features (C, d) float64 of each class on the CPU, as `features_of` sees them but batch
    by batch: no set is too large.

    A class without a sample gets NaN.
    """
    model.eval()
    sums, counts = torch.zeros(0), torch.zeros(classes, dtype=torch.float64)
    for batch in samples.batches(run, batch_size):
        run.check()
        features = features_and_logits(model, batch.x)[0].cpu().double()
        labels = batch.y.cpu()
        if not len(sums):
            sums = features.new_zeros(classes, features.shape[1])
        sums.index_add_(0, labels, features)
        counts += torch.bincount(labels, minlength=classes)
    return sums / counts.unsqueeze(1)


def class_means(features: Tensor, labels: Tensor, classes: int) -> Tensor:
    """Mean (C, d) of the features (n, d) of each class; NaN for a class without a sample.

    `nearest` passes over NaN.
    """
    labels = labels.to(features.device)
    sums = features.new_zeros(classes, features.shape[1]).index_add_(0, labels, features)
    return sums / torch.bincount(labels, minlength=classes).unsqueeze(1)


def cosine_distance(first: Tensor, second: Tensor) -> Tensor:
    """1 - cosine of the angle between rows (..., d), broadcast; 0..2, shape (...)."""
    norms = (first.norm(dim=-1) + TINY) * (second.norm(dim=-1) + TINY)
    return 1 - (first * second).sum(-1) / norms


def nearest(distances: Tensor, allowed: Tensor) -> Tensor:
    """Column (n,) of the smallest of `distances` (n, C) that is `allowed` and a number; on the CPU.

    `allowed` is (n, C) bool.
    """
    possible = allowed.to(distances.device) & ~distances.isnan()
    return distances.masked_fill(~possible, torch.inf).argmin(1).cpu()


class Clusters:
    """Mean (C, d) and precision matrix (C, d, d) of each class in feature space, as in SCAR.

    Features are raised to the power `delta` (Tukey's ladder). A covariance Σ becomes Σ + γ1·V1·I +
    γ2·V2·(1 - I), V1 the mean of its diagonal and V2 that of the other entries that are not zero,
    `shrinkings` times over; then it is scaled to a correlation, and the pseudo-inverse is taken in
    float64 on the CPU. A class of fewer than two samples gets NaN, which `nearest` passes over.
    """

    def __init__(
        self,
        features: Tensor,
        labels: Tensor,
        classes: int,
        *,
        delta: float,
        gammas: tuple[float, float],
        shrinkings: int = 2,
        run: Run | None = None,
    ):
        self.delta = delta
        negative = (features < 0).float().mean().item()
        if run is not None and negative:
            run.note(
                f"{100 * negative:.0f} % of the features are negative and count as zero: the "
                "powers are meant for features of a ReLU."
            )
        labels = labels.to(features.device)
        bent = self.bend(features)
        self.means = class_means(bent, labels, classes)
        self.precisions = torch.full(
            (classes, features.shape[1], features.shape[1]), torch.nan, device=features.device
        )
        for number in range(classes):
            members = bent[labels == number].double().cpu()
            if len(members) > 1 and torch.isfinite(members).all():
                covariance = torch.cov(members.T)
                for _ in range(shrinkings):
                    covariance = shrunk(covariance, *gammas)
                inverse = torch.linalg.pinv(correlation(covariance), hermitian=True)
                self.precisions[number] = (inverse + inverse.T) / 2

    def bend(self, features: Tensor) -> Tensor:
        """Features to the power `delta`; zeros are lifted, where a root's slope is infinite."""
        return features.clamp(min=FLOOR) ** self.delta

    def to_class(self, features: Tensor, number: int) -> Tensor:
        """Squared Mahalanobis distance (n,) of features (n, d) to a class, at length one."""
        with torch.autocast(features.device.type, enabled=False):
            difference = nn.functional.normalize(
                self.bend(features), dim=1
            ) - nn.functional.normalize(self.means[number], dim=0)
            return (difference @ self.precisions[number] * difference).sum(1)

    def to_all(self, features: Tensor) -> Tensor:
        """Squared distances (n, C)."""
        return torch.stack(
            [self.to_class(features, number) for number in range(len(self.means))], 1
        )

    def to_own(self, features: Tensor, classes: Tensor) -> Tensor:
        """Squared distance (n,) of each row to the class of the same row of `classes` (n,)."""
        found = features.new_zeros(len(features))
        for number in classes.unique().tolist():
            rows = (classes == number).nonzero().flatten()
            found = found.index_put((rows,), self.to_class(features[rows], number))
        return found


def shrunk(covariance: Tensor, gamma_1: float, gamma_2: float) -> Tensor:
    """Σ + γ1·V1·I + γ2·V2·(1 - I) of a matrix (d, d); see `Clusters`."""
    diagonal = torch.eye(len(covariance), dtype=torch.bool, device=covariance.device)
    others = covariance[~diagonal & (covariance != 0)]
    v_2 = others.mean() if len(others) else 0.0
    return covariance + torch.where(diagonal, gamma_1 * covariance.diagonal().mean(), gamma_2 * v_2)


def correlation(covariance: Tensor) -> Tensor:
    """A covariance (d, d) divided by the deviations of its rows and columns."""
    deviations = covariance.diagonal().clamp(min=0).sqrt() + TINY
    return covariance / deviations.outer(deviations)


@contextlib.contextmanager
def activations(model: nn.Module) -> Generator[list[Tensor]]:
    """While open, a forward pass appends the output (n, c, h, w) of each of the model's stages to
    the list it gives.

    A stage is a direct child with a convolution in it, or with layers and a layer norm as in a
    transformer, whose output has positions: stem and four stages in a ResNet-18, patches and the
    row of blocks in a ViT, nothing in a perceptron. Tokens (n, t, c) come as (n, c, 1, t), and what
    has its channels last (a Swin transformer says so in `output_fmt`) comes with them in second
    place.
    """
    seen: list[Tensor] = []
    last = str(getattr(model, "output_fmt", "NCHW")).endswith("NHWC")

    def keep(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        if output.dim() == 3:
            seen.append(output.transpose(1, 2).unsqueeze(2))
        elif output.dim() == 4:
            # A copy, because an activation that works in place would change what was seen.
            seen.append(output.permute(0, 3, 1, 2) if last else output.clone())

    hooks = [child.register_forward_hook(keep) for child in model.children() if _is_stage(child)]
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()


def _is_stage(child: nn.Module) -> bool:
    inside = list(child.modules())
    if any(isinstance(module, nn.Conv2d) for module in inside):
        return True
    return all(
        any(isinstance(module, kind) for module in inside) for kind in (nn.Linear, nn.LayerNorm)
    )


def attention_map(activation: Tensor) -> Tensor:
    """Mean square over the channels of (n, c, h, w), flattened, of length one: (n, h * w)."""
    return nn.functional.normalize(activation.float().square().mean(1).flatten(1), dim=1)


def replace_layer(model: nn.Module, old: nn.Module, new: nn.Module) -> None:
    """Put `new` where `old` is.

    Raises `ValueError` where the network itself is `old`, or does not hold it.
    """
    for module in model.modules():
        for name, child in module.named_children():
            if child is old:
                setattr(module, name, new)
                return
    raise ValueError("the layer is not a part of the network")
