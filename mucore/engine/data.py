"""Images on the device, and what a method sees of them.

The whole set is one uint8 tensor on the device; a batch is an index selection, normalised and
augmented there. Every batch carries sample ids. Whoever iterates is counted: reads by role are a
result of the run, and tests use them to see that unread data stays unread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from mucore.catalog.cards import Task
from mucore.datasets.files import FileImages
from mucore.datasets.splits import Splits
from mucore.engine.batch import Batch
from mucore.engine.losses import choices
from mucore.engine.run import Run
from mucore.runs import Recipe

CROP_PADDING = 4


class Images(Protocol):
    """Pixels by position.

    A set that does not fit on the device implements this by reading files.
    """

    shape: tuple[int, int, int]  # channels, height, width
    mean: Tensor  # (c, 1, 1) on the device, of pixels scaled to 0..1
    std: Tensor

    def take(self, positions: Tensor) -> Tensor:
        """uint8 pixels (n, c, h, w) on the device for int64 positions (n,) on the CPU."""
        ...


class TensorImages:
    """All pixels in one uint8 tensor (n, c, h, w) on the device."""

    def __init__(
        self,
        pixels: Tensor,
        mean: Sequence[float],
        std: Sequence[float],
        device: torch.device | str,
    ):
        self.pixels = pixels.to(device)
        self.shape = (pixels.shape[1], pixels.shape[2], pixels.shape[3])
        self.mean, self.std = (_per_channel(each, device) for each in (mean, std))

    def take(self, positions: Tensor) -> Tensor:
        return self.pixels[sent(positions, self.pixels.device)]


class Files(Protocol):
    """Images (n, c, h, w) that are decoded when they are asked for, such as `FileImages`."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def take(self, positions: Tensor) -> Tensor: ...


class StreamedImages:
    """Pixels that stay in their files and go to the device a batch at a time.

    The next batch is read while one is used.
    """

    def __init__(
        self, files: Files, mean: Sequence[float], std: Sequence[float], device: torch.device | str
    ):
        self.files, self.device = files, device
        _, channels, height, width = files.shape
        self.shape = (channels, height, width)
        self.mean, self.std = (_per_channel(each, device) for each in (mean, std))

    def take(self, positions: Tensor) -> Tensor:
        return sent(self.files.take(positions), self.device)

    def prefetch(self, positions: Tensor) -> None:
        if isinstance(self.files, FileImages):
            self.files.prefetch(positions)


def _per_channel(values: Sequence[float], device: torch.device | str) -> Tensor:
    return torch.tensor(values, device=device).view(-1, 1, 1)


class Inputs:
    """What a network eats, any tensor (n, ...), as it is: nothing is scaled or normalised.

    What a method calls a pixel in 0..1 is the place of a value between the least and the largest
    of its channel: as it was before whoever normalised it, where these were black and white.
    """

    def __init__(self, x: Tensor, device: torch.device):
        self.x, self.device = x, device
        self.shape: Any = x.shape[1:]

    @cached_property
    def std(self) -> Tensor:
        reach = self.x.amax((0, 2, 3)) - self.x.amin((0, 2, 3))
        return 1 / torch.where(reach > 0, reach, 1).view(-1, 1, 1).to(self.device)

    @cached_property
    def mean(self) -> Tensor:
        return -self.x.amin((0, 2, 3)).view(-1, 1, 1).to(self.device) * self.std

    def take(self, positions: Tensor) -> Tensor:
        return sent(self.x[positions], self.device)


class MaskedImages:
    """Images whose pixels under `mask` (h, w) bool are the training mean's."""

    def __init__(self, images: Images, mask: Tensor):
        self.images = images
        self.shape, self.mean, self.std = images.shape, images.mean, images.std
        self.mask = mask.to(images.mean.device)

    def take(self, positions: Tensor) -> Tensor:
        pixels = self.images.take(positions)
        return torch.where(self.mask, (self.mean * 255).round().to(pixels.dtype), pixels)


class Source:
    """What a phase of training iterates: a set, several, or batches that a method makes up."""

    def __len__(self) -> int:
        raise NotImplementedError

    def name(self) -> str:
        """Names the random stream of its order, `order/NAME`."""
        raise NotImplementedError

    def steps(self, batch_size: int, *, skip_single: bool = False) -> int:
        """How many batches `batches` gives."""
        count = len(self)
        # A batch of one that the caller asked for, or that is all there is, stays: leaving it out
        # would leave out everything.
        skipped = skip_single and count % batch_size == 1 and count > 1 and batch_size > 1
        return -(-count // batch_size) - skipped

    def batches(
        self,
        run: Run,
        batch_size: int,
        *,
        augment: bool = False,
        shuffle: bool = False,
        backward: bool = False,
        skip_single: bool = False,
    ) -> Iterator[Batch]:
        """Batches in fixed order, or shuffled.

        `augment` crops and flips where the data set allows it. Each role has streams of its own
        (`order/retain`, `augment/retain`, ...), so that a pass over one set moves no other's.
        `backward` only tells the counter that gradients follow. `skip_single` leaves out a last
        batch of one sample, which batch norm in training mode cannot digest.
        """
        order = self._order(run, batch_size, shuffle=shuffle, skip_single=skip_single)
        yield from self._batches(run, order, augment=augment, backward=backward)

    def _order(
        self, run: Run, batch_size: int, *, shuffle: bool, skip_single: bool
    ) -> Sequence[Tensor]:
        """Places 0..len-1 in batches, (b,) int64 each."""
        order = (
            torch.randperm(len(self), generator=run.rng(f"order/{self.name()}"))
            if shuffle
            else torch.arange(len(self))
        )
        return order.split(batch_size)[: self.steps(batch_size, skip_single=skip_single)]

    def _batches(self, run: Run, order: Sequence[Tensor], **options: bool) -> Iterator[Batch]:
        """A batch of the samples at each of the places `order`, (b,) on the CPU."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Samples(Source):
    """A set of samples to iterate in batches; cheap to cut and to relabel, never to be mutated.

    `positions` index `images`, `labels` and `ids` are aligned with them; labels of attributes are
    (n, A). All three live on the CPU. `natural` says whether the data set's card allows crop and
    flip.
    """

    images: Images
    positions: Tensor
    labels: Tensor
    ids: Tensor
    role: str  # "forget", "retain", "validation", "train", "test", "triggered"
    natural: bool = False
    # (C,) loss weight of each class, for a recipe with class weights; None for attributes
    weights: Tensor | None = None

    def __len__(self) -> int:
        return len(self.positions)

    def __getitem__(self, index: Tensor) -> Samples:
        """The samples at `index`, int64 or bool, (m,)."""
        return replace(
            self, positions=self.positions[index], labels=self.labels[index], ids=self.ids[index]
        )

    def draw(self, count: int, generator: torch.Generator) -> Samples:
        """At most `count` of the samples, drawn without replacement, in the order of the draw."""
        return self[torch.randperm(len(self), generator=generator)[:count]]

    def with_labels(self, labels: Tensor) -> Samples:
        """The same samples under other labels, (n,) or (n, A); the data set itself is untouched."""
        return replace(self, labels=labels.to(torch.int64))

    def joined(self, *others: Samples) -> Samples:
        """These and other samples of the same images as one set of this role, in order of ids."""
        parts = (self, *others)
        positions, labels, ids = (
            torch.cat([getattr(part, name) for part in parts])
            for name in ("positions", "labels", "ids")
        )
        order = ids.argsort()
        return replace(self, positions=positions[order], labels=labels[order], ids=ids[order])

    def _batches(
        self, run: Run, order: Sequence[Tensor], part: int = 0, **options: bool
    ) -> Iterator[Batch]:
        images, every = self.images, together(order)
        there = run.device if isinstance(images, TensorImages) else "cpu"
        # at once, as each copy to a device takes the host as long as a kernel does
        host = self.labels[every], torch.full((len(every),), part)
        y, parts = (sent(each, run.device) for each in host)
        columns = sent(self.positions[every], there), y, self.ids[every], parts, *host
        rows = list(zip(*(each.split([*map(len, order)]) for each in columns), strict=True))
        for (positions, y, ids, parts, *host), following in zip_longest(rows, rows[1:]):
            run.count_reads(self.role, len(ids), backward=options["backward"])
            x = images.take(positions)
            if options["augment"] and self.natural:
                x = crop_and_flip(x, run.rng(f"augment/{self.role}"))
            if not isinstance(images, Inputs):
                x = (x / 255 - images.mean) / images.std
            if following is not None and isinstance(images, StreamedImages):
                images.prefetch(following[0])
            yield Batch(x, y, ids, parts, tuple(host))

    def name(self) -> str:
        return self.role


@dataclass(frozen=True, eq=False)
class Mixture(Source):
    """Several sets shuffled together; `Batch.part` says which set a sample came from."""

    sets: tuple[Samples, ...]

    def __len__(self) -> int:
        return sum(len(samples) for samples in self.sets)

    def name(self) -> str:
        return "+".join(samples.role for samples in self.sets if len(samples))

    def _batches(self, run: Run, order: Sequence[Tensor], **options: bool) -> Iterator[Batch]:
        orders, sources, first = [], [], 0
        for part, samples in enumerate(self.sets):
            last = first + len(samples)
            orders.append([places[(places >= first) & (places < last)] - first for places in order])
            mine = [places for places in orders[-1] if len(places)]
            sources.append(samples._batches(run, mine, part, **options))
            first = last
        for each in zip(*orders, strict=True):
            some = [next(s) for s, places in zip(sources, each, strict=True) if len(places)]
            columns = zip(*((b.x, b.y, b.ids, b.part, *b.host) for b in some), strict=True)
            x, y, ids, parts, *host = map(torch.cat, columns)
            yield Batch(x, y, ids, parts, tuple(host))


@dataclass(frozen=True, eq=False)
class Repeated(Source):
    """Every batch of a set `times` times in a row, read and augmented anew each time."""

    samples: Samples
    times: int

    def steps(self, batch_size: int, *, skip_single: bool = False) -> int:
        return self.times * self.samples.steps(batch_size, skip_single=skip_single)

    def _order(self, run: Run, batch_size: int, **options: bool) -> Sequence[Tensor]:
        order = self.samples._order(run, batch_size, **options)
        return [chosen for chosen in order for _ in range(self.times)]

    def _batches(self, run: Run, order: Sequence[Tensor], **options: bool) -> Iterator[Batch]:
        return self.samples._batches(run, order, **options)


def arranged(samples: Samples, order: str, run: Run) -> Samples:
    """The samples `by_class`, `mixed` (stream `order/ROLE`), or else as they are.

    Batches are cut in this order.
    """
    if order == "by_class":  # attributes: by their combination
        return samples[
            torch.unique(samples.labels, dim=0, return_inverse=True)[1].argsort(stable=True)
        ]
    if order == "mixed":
        return samples.draw(len(samples), run.rng(f"order/{samples.role}"))
    return samples


def windows(samples: Samples, run: Run, size: int, total: int) -> Callable[[int], Samples]:
    """A function of the round: the next `size` of `total` samples from passes over a set, one
    behind the other, each shuffled anew.

    A phase of a method that counts steps, not passes, takes it as its data. The last window is what
    is left of `total`.
    """
    passes = max(1, -(-total // max(1, len(samples))))
    order = torch.cat(
        [
            torch.randperm(len(samples), generator=run.rng(f"order/{samples.role}"))
            for _ in range(passes)
        ]
    )[:total]
    return lambda number: samples[order[number * size : (number + 1) * size]]


def together(order: Sequence[Tensor]) -> Tensor:
    """The places of all batches, one behind the other."""
    return torch.cat([torch.arange(0), *order])


def sent(values: Tensor, device: torch.device | str) -> Tensor:
    """`values` from the CPU on the device.

    A GPU is not waited for: CUDA has read memory of this kind when the call returns, but torch
    would let every batch wait until all before it is computed.
    """
    return values.to(device, non_blocking=torch.device(device).type == "cuda")


def places_of(mask: Tensor, device: torch.device) -> Tensor:
    """Where `mask` (n,) on the CPU is true, on the device, which would be waited for if it were
    asked with the mask itself.
    """
    return sent(mask.nonzero().flatten(), device)


def crop_and_flip(
    pixels: Tensor, generator: torch.Generator, padding: int = CROP_PADDING
) -> Tensor:
    """Each image shifted by up to `padding` pixels into black and, half the time, mirrored.

    Drawn sample by sample.
    """
    n, channels, height, width = pixels.shape
    down, right = torch.randint(2 * padding + 1, (2, n, 1), generator=generator)
    mirror = torch.rand((n, 1), generator=generator) < 0.5
    columns = right + torch.where(mirror, torch.arange(width).flip(0), torch.arange(width))
    rows = (down + torch.arange(height)) * (width + 2 * padding)
    # where in the padded image each pixel comes from: one copy to the device, one gather
    places = sent(torch.cat([rows, columns], 1), pixels.device)
    places = places[:, :height, None] + places[:, None, height:]
    padded = nn.functional.pad(pixels, (padding,) * 4).flatten(2)
    return padded.gather(2, places.view(n, 1, -1).expand(-1, channels, -1)).view(pixels.shape)


@dataclass(frozen=True, eq=False, kw_only=True)
class UnlearningData:
    """All that a method may read: never the test set, never the retrained model."""

    forget: Samples
    retain: Samples
    validation: Samples
    classes: int  # outputs of the network: one a class, or one an attribute
    forgotten_classes: tuple[int, ...]  # empty unless the scenario is class-wise
    recipe: Recipe  # of the original
    # a network of the same architecture, freshly initialised from a seed
    fresh_model: Callable[[int], nn.Module]
    training_seed: int
    # what training recorded: the names in the card's `records` (mucore/training/records.py), and
    # "initial"
    record: dict[str, Any]
    task: Task = "classes"  # what labels, logits and losses are; see engine/losses.py
    # (n,) of the forget set, where its own are poisoned; None where the scenario does not poison
    true_labels: Tensor | None = None
    # (h, w) bool, the pixels that an attacker stamped on the forget set
    trigger: Tensor | None = None
    # that earlier requests of a sequence forgot: no set has samples of them
    classes_before: tuple[int, ...] = ()

    @property
    def leaving(self) -> tuple[int, ...]:
        """The classes of this very request, without those that earlier ones forgot."""
        return tuple(each for each in self.forgotten_classes if each not in self.classes_before)

    @property
    def options(self) -> int:
        """Answers to one question: the classes, or 2 for an attribute.

        A guess is right 1/options of the time; its loss is ln options.
        """
        return self.classes if self.task == "classes" else 2

    def choices(self, logits: Tensor) -> Tensor:
        """Logits (n, C) as they are, or those of attributes (n, A) as (n · A, 2).

        `y.flatten()` are the right answers.
        """
        return choices(logits, self.task)

    def forgetting(self, index: Tensor) -> UnlearningData:
        """The same request for the part of the forget set at `index`; the rest is in no set."""
        return replace(
            self,
            forget=self.forget[index],
            true_labels=None if self.true_labels is None else self.true_labels[index],
        )

    def everything(self) -> Samples:
        """The whole training set in its own order and role, as the original saw it."""
        return replace(self.retain.joined(self.forget), role="train")

    def other_labels(self, labels: Tensor) -> Tensor:
        """(n, C) bool: classes to give instead, neither a sample's own nor one that went."""
        allowed = torch.ones(len(labels), self.classes, dtype=torch.bool)
        allowed[:, [*self.forgotten_classes, *self.classes_before]] = False
        allowed[torch.arange(len(labels)), labels] = False
        return allowed


def on_device(splits: Splits, name: str, device: torch.device | str) -> Samples:
    """A whole split as `Samples`, its pixels on the device, or in their files where streamed."""
    split = getattr(splits, name)
    kind = TensorImages if isinstance(split.pixels, Tensor) else StreamedImages
    images = kind(split.pixels, splits.mean, splits.std, device)
    labels = splits.train.labels
    weights = class_weights(labels, splits.classes) if labels.dim() == 1 else None
    everywhere = torch.arange(len(split.labels))
    return Samples(images, everywhere, split.labels, split.ids, name, splits.natural, weights)


def class_weights(labels: Tensor, classes: int) -> Tensor:
    """N / (C n_c) for each class (C,), float32; 0 for a class without a sample.

    The mean over the samples of `labels` (N,) is 1.
    """
    counts = torch.bincount(labels, minlength=classes).double()
    return torch.where(counts > 0, len(labels) / (classes * counts), 0.0).float()
