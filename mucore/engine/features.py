"""Penultimate features, the input of a network's last linear layer, and what comes of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator

import torch
from torch import Tensor, nn

from mucore.engine.batch import Batch
from mucore.engine.chunks import chunk
from mucore.engine.data import Samples
from mucore.engine.run import Run
from mucore.engine.state import hooked
from mucore.errors import BadValue

BATCH = 512  # of large networks less, see chunks.py
TINY = 1e-8  # keeps the norm of a feature vector of zeros, as ReLU gives them, out of a denominator


def last_linear(model: nn.Module) -> nn.Linear | None:
    """By the order of definition."""
    return next((m for m in reversed([*model.modules()]) if isinstance(m, nn.Linear)), None)


def classifier_layer(model: nn.Module) -> nn.Linear:
    """The last linear layer in definition order; raises `BadValue` for a network without one."""
    if (layer := last_linear(model)) is None:
        raise BadValue(
            "The network has no linear layer, so it has no penultimate features. End it in one, or "
            "choose a method that needs none."
        )
    return layer


@contextlib.contextmanager
def penultimate(model: nn.Module, head: nn.Module | None = None) -> Generator[list[Tensor]]:
    """While open, each forward pass appends its penultimate features (n, d) to the list it gives:
    what goes into `head`, if given, else into the last linear layer.

    The hook leaves with the context.
    """
    seen: list[Tensor] = []
    hook = (head or classifier_layer(model)).register_forward_pre_hook(
        lambda module, inputs: seen.append(inputs[0].flatten(1))
    )
    with hooked([hook]):
        yield seen


def features_and_logits(model: nn.Module, x: Tensor) -> tuple[Tensor, Tensor]:
    """One forward pass: features (n, d) in float32, with their graph, and logits (n, C)."""
    with penultimate(model) as seen:
        logits = model(x)
    return seen[0].float(), logits


@torch.no_grad()
def features_of(
    model: nn.Module,
    samples: Samples,
    run: Run,
    *,
    batch_size: int,
    also: Callable[[Batch, Tensor], None] | None = None,
) -> Tensor:
    """Features (n, d) float32 of a set in its order: eval mode, plain images, on the device.

    Full precision whatever the run's. `also` is shown each batch with its logits. Of no samples
    (0, 0).
    """
    model.eval()
    found = []
    for batch in samples.batches(run, batch_size):
        run.check()
        features, logits = features_and_logits(model, batch.x)
        found.append(features)
        if also is not None:
            also(batch, logits)
    return torch.cat(found) if found else torch.zeros(0, 0, device=run.device)


@torch.no_grad()
def prototypes(
    model: nn.Module, samples: Samples, classes: int, run: Run, *, batch_size: int | None = None
) -> Tensor:
    """Mean features (C, d) float64 of each class on the CPU, as `features_of` sees them but batch
    by batch: no set is too large.

    A class without a sample gets NaN.
    """
    model.eval()
    sums, counts = torch.zeros(0), torch.zeros(classes, dtype=torch.float64)
    size = chunk(model, samples.images.shape, batch_size or BATCH, "passing", times=2)
    for batch in samples.batches(run, size):
        run.check()
        features = features_and_logits(model, batch.x)[0].cpu().double()
        if not len(sums):
            sums = features.new_zeros(classes, features.shape[1])
        sums.index_add_(0, batch.labels, features)
        counts += torch.bincount(batch.labels, minlength=classes)
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

    stages = [child for child in model.children() if _is_stage(child)]
    with hooked(child.register_forward_hook(keep) for child in stages):
        yield seen


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
