"""How strongly a model has memorised each sample, by proxies: higher is more memorised.

Source: Zhao et al., What Makes Unlearning Hard and What to Do About It, NeurIPS 2024, and its
    follow-up on proxies (kairanzhao/RUM).
"""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from mucore.engine.chunks import Kind, chunk
from mucore.engine.data import Samples
from mucore.engine.loop import Optimizer, Phase, fit
from mucore.engine.losses import choices, cross_entropy, task_of
from mucore.engine.predict import logits_of
from mucore.engine.run import Run

H = 0.01  # length of each entry of the finite difference, in units of normalised pixels
DIRECTIONS = 10
BATCH = 256  # of large networks less where nothing is trained, see engine/chunks.py
PATIENCE = 4  # epochs without a lower loss that end training on held-out data
SMALLEST = 1e-10  # floor of a probability in a divergence


def confidence_score(model: nn.Module, samples: Samples, run: Run) -> Tensor:
    """−ln p_y (n,) on the CPU, in eval mode: the order of 1 − p_y, without its ties near 1."""
    scores = [torch.zeros(0)]
    for batch, logits in logits_of(model, samples, run, _size(model, samples, "passing")):
        scores.append(cross_entropy(logits, batch.y, reduction="none").cpu())
    return torch.cat(scores)


def curvature_score(model: nn.Module, samples: Samples, run: Run) -> Tensor:
    """Mean over random signs v of ‖∇ℓ(x + h·v) − ∇ℓ(x)‖², by x (Garg et al., 2023).

    (n,) on the CPU, in eval mode.
    """
    model.eval()
    scores = [torch.zeros(0)]
    for batch in samples.batches(run, _size(model, samples, "graph"), backward=True):
        total = torch.zeros(len(batch))
        start = _input_gradient(model, batch.x, batch.y)
        for _ in range(DIRECTIONS):
            run.check()
            signs = torch.randint(2, batch.x.shape, generator=run.rng("noise")).to(batch.x) * 2 - 1
            change = _input_gradient(model, batch.x + H * signs, batch.y) - start
            total += change.flatten(1).square().sum(1).cpu()
        run.count_reads(samples.role, DIRECTIONS * len(batch), backward=True)
        scores.append(total / DIRECTIONS)
    return torch.cat(scores)


def heldout_score(
    model: nn.Module, samples: Samples, held_out: Samples, run: Run, *, lr: float, epochs: int
) -> Tensor:
    """Symmetric KL divergence between the answers of the model and of a copy that trained on
    `held_out`: (n,) on the CPU, in eval mode.

    What rests on memory goes first when other data are learned. The copy is trained by SGD with
    momentum 0.9 and decay 5e-4 until its loss has not fallen for four epochs (RUM's
    heldout_retrain.py, which takes the test set).
    """
    branch = run.branch(run.seed)
    branch.losses = []  # no part of the method's curve

    def stop(model: nn.Module, epoch: int) -> str | None:
        past = branch.losses
        return "no lower loss" if len(past) - 1 - past.index(min(past)) >= PATIENCE else None

    moved = fit(
        copy.deepcopy(model),
        [Phase(data=held_out, batch_size=BATCH)],
        branch,
        epochs=epochs,
        optimizer=Optimizer(lr=lr, momentum=0.9, weight_decay=5e-4),
        stop=stop,
        what="training on held-out data",
    )
    if branch.status == "diverged":
        run.note(
            "Training on held-out data did not stay finite; the divergence is that of its last "
            "finite state."
        )
    return symmetric_divergence(answers(model, samples, run), answers(moved, samples, run))


def answers(model: nn.Module, samples: Samples, run: Run) -> Tensor:
    """Probabilities (n, C) on the CPU, in eval mode; for attributes (n, 2 A), two answers each."""
    found = []
    for batch, logits in logits_of(model, samples, run, _size(model, samples, "passing")):
        each = choices(logits.float(), task_of(batch.y))
        found.append(torch.softmax(each, 1).view(len(batch), -1).cpu())
    return torch.cat(found)


def symmetric_divergence(p: Tensor, q: Tensor) -> Tensor:
    """(KL(p ‖ q) + KL(q ‖ p)) / 2 of the rows of two (n, C), (n,)."""
    p, q = p.clamp(min=SMALLEST), q.clamp(min=SMALLEST)
    return ((p - q) * (p.log() - q.log())).sum(1) / 2


def _size(model: nn.Module, samples: Samples, kind: Kind) -> int:
    return chunk(model, samples.images.shape, BATCH, kind, times=2)


def _input_gradient(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    x = x.detach().requires_grad_(True)
    return torch.autograd.grad(cross_entropy(model(x), y, reduction="sum"), x)[0]
