"""MUNBa: forgetting and retaining bargain over the direction of each step."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from mucore.blocks.labels import draw_labels
from mucore.engine import losses
from mucore.engine.batch import Batch
from mucore.engine.data import UnlearningData, sent
from mucore.engine.loop import BatchNorm, Optimizer, Phase, cross_entropy, fit
from mucore.engine.run import Run
from mucore.rng import numpy_rng

OPPOSED = 1e-3  # floor of 1 + cos: gradients in opposite directions have no bisector


def munba(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    lr: float,
    epochs: int,
    momentum: float,
    weight_decay: float,
    batch_size: int,
    step_norm: float | None,
    bn: BatchNorm,
) -> nn.Module:
    """
    Paper: Wu et al., MUNBa: Machine Unlearning via Nash Bargaining, ICCV 2025
    Code: JingWu321/MUNBa Classification/unlearn/MUNBa.py, its closed form
    Reads: the retain set and the forget set without its labels
    Differs: the symmetric solution; the official second weight divides by the product of the
        gradients, has 1e-8 in α and falls back to (1, 0.1)
    """
    parameters = list(model.parameters())
    run.holds(parameters, copies=2)

    # (1) the gradients of both players: cross-entropy of a retain batch, and of a forget batch
    #     under uniform random labels
    def bargain(model: nn.Module, retain: Batch, forget: Batch) -> Tensor:
        retained = cross_entropy(model, retain)
        labels = sent(draw_labels(data, forget.y, run, "all"), forget.y.device)
        forgotten = losses.cross_entropy(model(forget.x), labels)
        retain_gradient = gradient_of(retained, parameters)
        forget_gradient = gradient_of(forgotten, parameters)
        # (2) weights α with α_i · (G α)_i = 1; the bargain points along the bisector and has length
        #     √2, cut to `step_norm`
        weights = bargaining_weights(flat(retain_gradient), flat(forget_gradient))
        agreed = [
            weights[0] * first + weights[1] * second
            for first, second in zip(retain_gradient, forget_gradient, strict=True)
        ]
        length = torch.stack([g.norm() for g in agreed]).norm()
        scale = 1.0 if step_norm is None else (step_norm / length).clamp(max=1.0)
        # A sum that has the bargain as its gradient and the plain losses as its value: no third
        # backward pass through the network.
        products = [(p * (scale * g)).sum() for p, g in zip(parameters, agreed, strict=True)]
        linear = torch.stack(products).sum()
        return (retained + forgotten).detach() + linear - linear.detach()

    # (3) one pass over the retain set an epoch: bargains while forget batches last, plain
    #     cross-entropy for the rest
    bargained = batch_size * data.forget.steps(batch_size, skip_single=bn == "train")

    def order(epoch: int) -> Tensor:
        rng = numpy_rng(run.seed, f"bargains of epoch {epoch}")
        return torch.from_numpy(rng.permutation(len(data.retain)))

    phases = [
        Phase(
            data=lambda epoch: data.retain[order(epoch)[:bargained]],
            batch_size=batch_size,
            beside=data.forget,
            loss=bargain,
        ),
        Phase(data=lambda epoch: data.retain[order(epoch)[bargained:]], batch_size=batch_size),
    ]
    optimizer = Optimizer(lr=lr, momentum=momentum, weight_decay=weight_decay)
    return fit(model, phases, run, epochs=epochs, optimizer=optimizer, bn=bn)


def gradient_of(loss: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The gradient of the loss by each of the parameters, zeros where it does not depend on one."""
    return torch.autograd.grad(loss, parameters, allow_unused=True, materialize_grads=True)


def flat(tensors: Sequence[Tensor]) -> Tensor:
    """All entries in one vector."""
    return torch.cat([t.flatten() for t in tensors])


def bargaining_weights(first: Tensor, second: Tensor) -> Tensor:
    """Weights (2,) of two gradients (d,): 1 / (‖g_i‖ · √(1 + cos φ)), φ the angle between them."""
    norms = torch.stack([first.norm(), second.norm()]).clamp(min=1e-12)
    cosine = torch.dot(first / norms[0], second / norms[1])
    return 1 / (norms * (1 + cosine).clamp(min=OPPOSED).sqrt())
