"""Images made against a network: steps across its decision boundary, and noise that is optimised.

Attacks move pixels in 0..1, read the network in eval mode and float32, and leave its weights,
their gradients and its statistics alone. Passes beyond the first over a sample are counted under
the role `attack`, those over made-up images under `noise`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from mucore.blocks.labels import likeliest_other
from mucore.engine.data import Images, Samples, TensorImages
from mucore.engine.losses import cross_entropy, predicted, task_of
from mucore.engine.run import Run
from mucore.engine.state import frozen


def to_pixels(images: Images, x: Tensor) -> Tensor:
    """Normalised input (n, c, h, w) as pixels in 0..1."""
    return x * images.std + images.mean


def to_input(images: Images, pixels: Tensor) -> Tensor:
    """Pixels in 0..1 (n, c, h, w) as a network takes them."""
    return (pixels - images.mean) / images.std


def made_samples(
    images: Images,
    pixels: Tensor,
    labels: Tensor,
    role: str,
    *,
    ids: Tensor | None = None,
    overwrite: bool = False,
) -> Samples:
    """Images that no file holds, in float32, normalised like `images` and never augmented.

    `pixels` (n, c, h, w) are scaled to 0..1 and may lie outside; with `overwrite` nobody needs them
    afterwards, and no second copy of them is made. `labels` (n,). Ids are negative unless given.
    """
    mean, std = images.mean.flatten().tolist(), images.std.flatten().tolist()
    index = torch.arange(len(labels))
    scaled = pixels.float().mul_(255) if overwrite else pixels.float() * 255
    source = TensorImages(scaled, mean, std, pixels.device)
    return Samples(source, index, labels.cpu(), -1 - index if ids is None else ids, role)


def noise_samples(like: Samples, count: int, run: Run) -> Samples:
    """Noise instead of images: normalised pixels from N(0, 1); role and stream `surrogate`.

    Labels are 0.
    """
    x = torch.randn(count, *like.images.shape, generator=run.rng("surrogate")).to(run.device)
    return made_samples(
        like.images, to_pixels(like.images, x), torch.zeros(count, dtype=torch.int64), "surrogate"
    )


def uphill(model: nn.Module, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Logits (n, C), and directions (n, c, h, w) of normalised inputs along which the loss rises
    fastest.

    It is the gradient of log Σ_{k≠y} exp z_k − z_y. The gradient of the cross-entropy is the same
    times the probability of an error, which rounds to zero for the samples that a network has
    learned best. For attributes it is the gradient of log Σ_a exp m_a, where m_a is the logit of
    attribute a, its sign turned so that it grows as the answer gets worse: mostly that of the least
    certain attribute.
    """
    x = x.detach().requires_grad_(True)
    logits = model(x)
    if task_of(y) == "attributes":
        margin = ((1 - 2 * y) * logits).logsumexp(1)
        return logits.detach(), torch.autograd.grad(margin.sum(), x)[0]
    own = nn.functional.one_hot(y, logits.shape[1]).bool()
    margin = logits.masked_fill(own, -torch.inf).logsumexp(1) - logits[own]
    return logits.detach(), torch.autograd.grad(margin.sum(), x)[0]


@dataclass(frozen=True, eq=False)
class Crossed:
    """What a one-step attack met: clean and attacked logits (n, C), in the samples' order."""

    clean: Tensor
    attacked: Tensor


def fast_gradient_sign(
    model: nn.Module, samples: Samples, run: Run, *, epsilon: float, batch_size: int
) -> Crossed:
    """Logits before and after a step of `epsilon` (pixels, 0..1) along the gradient's sign."""
    model.eval()
    found = []
    for batch in samples.batches(run, batch_size, backward=True):
        run.check()
        clean, direction = uphill(model, batch.x, batch.y)
        moved = step_by_sign(to_pixels(samples.images, batch.x), direction, epsilon)
        with torch.no_grad():
            found.append((clean.cpu(), model(to_input(samples.images, moved)).cpu()))
        run.count_reads("attack", len(batch), backward=False)
    return Crossed(*(torch.cat(parts) for parts in zip(*found, strict=True)))


def step_by_sign(pixels: Tensor, direction: Tensor, epsilon: float) -> Tensor:
    """Pixels moved by `epsilon` along a sign, kept in 0..1 and rounded to 256 levels."""
    moved = (pixels + epsilon * direction.sign()).clamp(0, 1)
    return (moved * 255).round() / 255


@dataclass(frozen=True, eq=False)
class Nearest:
    """Adversarial pixels (n, c, h, w) in 0..1, the labels (n,) or (n, A) given to them, the radii
    (n,) of the balls they lie in.
    """

    pixels: Tensor
    labels: Tensor
    radii: Tensor
    # samples that kept their class at the largest radius; `labels` then has the runner-up
    failed: int


def nearest_adversarial(
    model: nn.Module,
    samples: Samples,
    run: Run,
    *,
    radius: float,
    steps: int,
    doublings: int,
    batch_size: int,
) -> Nearest:
    """Close adversarial images by projected gradient ascent in the Euclidean norm (AMUN, algorithm
    1), on the CPU. Radii and balls are of pixels; a step goes along the gradient of the normalised
    input, as `uphill` gives it, which is that of the pixels where all channels have one standard
    deviation (of `faces` they differ by 3 %).

    Each sample takes up to `steps` steps of a tenth of its radius, projected to the ball of that
    radius and to 0..1, and stops as soon as the network leaves its label; if it never does, the
    radius doubles, up to `doublings` times, and the ascent goes on from there. A sample that is
    done makes room for the next, so that batches stay as large as asked for.
    """
    model.eval()
    last = steps * (doublings + 1)
    pixels = torch.empty(len(samples), *samples.images.shape)
    labels, radii, failed = samples.labels.clone(), torch.empty(len(samples)), 0
    # of those on their way: place in the set, label, first and present pixels, radius, steps taken
    active: list[Tensor] = []
    begun = 0
    while begun < len(samples) or (active and len(active[0])):
        room = batch_size - (len(active[0]) if active else 0)
        if room and begun < len(samples):
            more = _beginning(samples, begun, room, run, radius)
            active = (
                [torch.cat(pair) for pair in zip(active, more, strict=True)] if active else more
            )
            begun += len(more[0])
        index, y, start, best, size, taken = active
        run.progress("looking for adversarial images", (begun - len(index)) / len(samples))
        run.count_reads("attack", int((taken > 0).sum()), backward=True)
        with frozen(model):  # a tenth less time
            logits, direction = uphill(model, to_input(samples.images, best), y)
        given = predicted(logits, task_of(y))
        kept = (given == y).view(len(y), -1).all(1)
        spent = kept & (taken == last)
        failed += int(spent.sum())
        given[spent] = _runner_up(logits[spent], y[spent])
        done = ~kept | spent
        found = index[done].cpu()
        pixels[found], labels[found], radii[found] = (t[done].cpu() for t in (best, given, size))
        index, y, start, best, size, taken, direction = (
            t[~done] for t in (index, y, start, best, size, taken, direction)
        )
        size = torch.where((taken > 0) & (taken % steps == 0), 2 * size, size)
        change = best - start + _unit(direction) * (size / 10).view(-1, 1, 1, 1)
        shrink = (size / _norm(change).clamp(min=1e-12)).clamp(max=1)
        best = (start + change * shrink.view(-1, 1, 1, 1)).clamp(0, 1)
        active = [index, y, start, best, size, taken + 1]
    return Nearest(pixels, labels, radii, failed)


def targeted_adversarial(
    model: nn.Module,
    samples: Samples,
    run: Run,
    *,
    radius: float,
    step: float,
    steps: int,
    batch_size: int,
) -> Tensor:
    """Pixels (n, c, h, w) in 0..1, on the CPU, that the model comes to take for the samples'
    labels: projected gradient descent in the Euclidean norm (Madry et al., ICLR 2018), `steps`
    times `step` long, within `radius` of each image, from a random place there (stream `attack`).
    """
    model.eval()
    found = []
    for batch in samples.batches(run, batch_size, backward=True):
        start = to_pixels(samples.images, batch.x).clamp(0, 1)
        noise = torch.rand(start.shape, generator=run.rng("attack")).to(start)
        pixels = _within(start, noise, radius)
        for _ in range(steps):
            run.progress("making adversarial images", len(found) * batch_size / len(samples))
            pixels.requires_grad_(True)
            with frozen(model):
                loss = cross_entropy(model(to_input(samples.images, pixels)), batch.y)
                slope = torch.autograd.grad(loss, pixels)[0]
            pixels = pixels.detach() - step * _unit(slope)
            pixels = _within(start, pixels.clamp(0, 1), radius)
        run.count_reads("attack", (steps - 1) * len(batch), backward=True)
        found.append(pixels.cpu())
    return torch.cat(found)


def _within(start: Tensor, pixels: Tensor, radius: float) -> Tensor:
    """Pixels brought back to the ball around `start`, between them and its centre."""
    change = pixels - start
    shrink = (radius / _norm(change).clamp(min=1e-12)).clamp(max=1)
    return start + change * shrink.view(-1, 1, 1, 1)


def _beginning(samples: Samples, first: int, count: int, run: Run, radius: float) -> list[Tensor]:
    """Of `count` samples from the `first`: place, label, pixels twice, radius, no step taken."""
    index = torch.arange(first, min(first + count, len(samples)))
    (batch,) = samples[index].batches(run, count, backward=True)
    start = to_pixels(samples.images, batch.x).clamp(0, 1)
    size = start.new_full((len(index),), radius)
    index = index.to(start.device)
    return [index, batch.y, start, start, size, torch.zeros_like(index)]


def _runner_up(logits: Tensor, y: Tensor) -> Tensor:
    """The most probable label that is not y."""
    return (
        likeliest_other(logits, y)
        if task_of(y) == "attributes"
        else logits.scatter(1, y.unsqueeze(1), -torch.inf).argmax(1)
    )


def _norm(change: Tensor) -> Tensor:
    """Euclidean norm of each sample, (n,)."""
    return change.flatten(1).norm(dim=1)


def _unit(direction: Tensor) -> Tensor:
    return direction / _norm(direction).clamp(min=1e-30).view(-1, 1, 1, 1)


def input_curvature(
    model: nn.Module, x: Tensor, y: Tensor, *, h: float, create_graph: bool = False
) -> Tensor:
    """How far the input gradient turns along its sign, (n,): ‖∇L(x + z) − ∇L(x)‖ with ‖z‖ = h.

    L is the batch-mean cross-entropy. CURE's measure as Boundary Unlearning uses it. `create_graph`
    keeps what is needed to train on it.
    """
    x = x.detach().requires_grad_(True)
    loss = nn.functional.cross_entropy(model(x), y)
    sign = torch.autograd.grad(loss, x)[0].sign() + 1e-7
    z = h * _unit(sign)
    difference = nn.functional.cross_entropy(model(x + z), y) - nn.functional.cross_entropy(
        model(x), y
    )
    turn = torch.autograd.grad(difference, x, create_graph=create_graph)[0]
    # The root of the sum has no gradient at zero, where a perfectly fitted sample lies.
    return (turn.flatten(1).square().sum(1) + 1e-30).sqrt()


def class_noise(
    model: nn.Module,
    images: Images,
    label: int,
    run: Run,
    *,
    count: int,
    steps: int,
    lr: float,
    penalty: float,
) -> Tensor:
    """Input (count, c, h, w) that the network takes for anything but `label`.

    Adam on -cross-entropy + penalty · mean squared norm. It starts as standard normal draws, in the
    normalised space that the network sees (UNSIR, equation 3).
    """
    model.eval()
    labels = torch.full((count,), label, device=run.device)
    noise = torch.randn(count, *images.shape, generator=run.rng("noise")).to(run.device)

    def objective(noise: Tensor) -> Tensor:
        return penalty * noise.square().sum((1, 2, 3)).mean() - nn.functional.cross_entropy(
            model(noise), labels
        )

    return _descended(noise, objective, run, steps=steps, lr=lr)


def evading_noise(
    model: nn.Module, images: Images, x: Tensor, run: Run, *, steps: int, lr: float
) -> Tensor:
    """Input of the shape of x (n, c, h, w) whose logits lie far from those of x.

    Adam on -mean squared difference, in pixels. It starts as standard normal draws and is cut to
    0..1 at the end (MUFAC's form of UNSIR).
    """
    with torch.no_grad():
        there = model(x)
    noise = torch.randn(x.shape, generator=run.rng("noise")).to(x)

    def objective(noise: Tensor) -> Tensor:
        return -nn.functional.mse_loss(model(to_input(images, noise)), there)

    return to_input(images, _descended(noise, objective, run, steps=steps, lr=lr).clamp(0, 1))


def _descended(
    noise: Tensor, objective: Callable[[Tensor], Tensor], run: Run, *, steps: int, lr: float
) -> Tensor:
    """`noise` after steps of Adam; nothing else moves."""
    noise = noise.requires_grad_(True)
    engine = torch.optim.Adam([noise], lr)
    for _ in range(steps):
        run.check()
        run.count_reads("noise", len(noise), backward=True)
        noise.grad = torch.autograd.grad(objective(noise), noise)[0]
        engine.step()
    return noise.detach()
