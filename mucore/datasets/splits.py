"""`Splits`: what every loader returns, and the helpers that loaders share."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np
import torch
from torch import Tensor

from mucore.datasets.files import FileImages
from mucore.rng import numpy_rng
from mucore.userfiles.sizes import VALIDATION_SHARE


@dataclass(frozen=True, eq=False)
class Source:
    """Where samples come from: an array, a published file or a sorted listing, of `total` samples;
    `files` are their paths in the folder of a user's own data. What was cut out of one source has
    the same object.
    """

    total: int
    files: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Split:
    """Images of one split, on the CPU: `pixels` (n, c, h, w) uint8, a tensor, or `FileImages` of a
    set too large for memory.

    `labels` is (n,) int64, or (n, A) of 0 and 1 where the task is attributes; `ids` and, unless
    None, `identities` are (n,) int64. `digests` (n,) uint64 are of the images as they were loaded;
    None where they are streamed. `rows` (n,) int64 say where each sample stands in its `source`,
    which no division changes: that is how people name it (forget_sets/identity.py). Without them
    the split is the source, and the ids are the rows.
    """

    pixels: Any
    labels: Tensor
    ids: Tensor = cast(Tensor, None)
    identities: Tensor | None = None
    digests: np.ndarray | None = None
    rows: np.ndarray = cast(np.ndarray, None)
    source: Source = cast(Source, None)

    def __post_init__(self) -> None:
        usual = {
            "rows": np.arange(len(self)),
            "source": Source(len(self)),
            "ids": torch.arange(len(self)),
        }
        for name, value in usual.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: np.ndarray) -> Split:
        """The samples at `index`, int64 (m,), before they are numbered."""
        return Split(
            pixels=self.pixels[index],
            labels=self.labels[index],
            identities=None if self.identities is None else self.identities[index],
            rows=self.rows[index],
            source=self.source,
        )


def split_of(
    x: np.ndarray | FileImages,
    y: np.ndarray,
    identities: np.ndarray | None = None,
    source: Source | None = None,
) -> Split:
    """A split as a loader reads it: images `x` (n, h, w) or (n, h, w, c) uint8, or files; `y` (n,)
    integers or (n, A) of 0 and 1; `identities` (n,) integers or None.
    """
    if len(x) != len(y):
        raise ValueError(f"it has {len(x):,} images and {len(y):,} labels")
    pixels: Any = x
    if isinstance(x, np.ndarray):
        images = x if x.ndim == 4 else x[..., None]
        # a copy: arrays read from a buffer are not writable
        pixels = torch.from_numpy(images.transpose(0, 3, 1, 2).copy())
    return Split(
        pixels=pixels,
        labels=torch.from_numpy(y.astype(np.int64)),
        identities=None if identities is None else torch.from_numpy(identities.astype(np.int64)),
        source=source or Source(len(y)),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Splits:
    """A data set in memory, or in files if its splits are.

    Sample ids are unique over the splits: training 0..n-1, then validation, then test, then
    `unseen`: images of persons that no other split has, where a data set publishes them. With task
    "attributes" the class names are those of the attributes. `mean` and `std` are per channel, of
    the training pixels in 0..1, or what a recipe has in their place (datasets/cut.py); they are not
    recomputed for a retain set. `natural` says whether crops and flips keep the class. `data_hash`
    is SHA-256 over content, never over places (of streamed images, over their names). `notes` are
    sentences for the reader; among them are `source_notes`, on what was published, and
    `division_notes`, on how it was divided.
    """

    name: str
    train: Split
    validation: Split
    test: Split
    class_names: tuple[str, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    natural: bool
    data_hash: str
    notes: tuple[str, ...] = ()
    source_notes: tuple[str, ...] = ()
    division_notes: tuple[str, ...] = ()
    task: Literal["classes", "attributes"] = "classes"
    unseen: Split | None = None
    # Of poisoned data alone (datasets/poisoned.py):
    true_labels: Tensor | None = None  # (n,) of training, before the poison
    triggered: Split | None = None  # the test set under the trigger, with its true labels
    trigger: Tensor | None = None  # (h, w) bool, the pixels under the trigger

    @property
    def names(self) -> tuple[str, ...]:
        """The splits that there are."""
        more = {"unseen": self.unseen, "triggered": self.triggered}
        return (
            "train",
            "validation",
            "test",
            *(name for name, split in more.items() if split is not None),
        )

    @property
    def classes(self) -> int:
        return len(self.class_names)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height, width."""
        _, channels, height, width = self.train.pixels.shape
        return channels, height, width


def assemble(
    name: str,
    *,
    train: Split,
    validation: Split,
    test: Split,
    class_names: Sequence[str],
    natural: bool,
    data_hash: str | None = None,
    notes: Sequence[str] = (),
    division_notes: Sequence[str] = (),
    task: Literal["classes", "attributes"] = "classes",
    unseen: Split | None = None,
) -> Splits:
    """Number the samples, measure the normalisation, count duplicates and hash the content (unless
    `data_hash` is given).
    """
    splits, first = [], 0
    for split in (train, validation, test, unseen):
        if split is None:
            continue
        ids = torch.arange(first, first + len(split))
        splits.append(replace(split, ids=ids, digests=_digests(split.pixels)))
        first += len(split)
    mean, std = normalisation(splits[0].pixels)
    return Splits(
        name=name,
        train=splits[0],
        validation=splits[1],
        test=splits[2],
        class_names=tuple(class_names),
        mean=mean,
        std=std,
        natural=natural,
        data_hash=data_hash or _content_hash(splits),
        notes=(*notes, *division_notes, *duplicate_notes(splits), *identity_notes(splits)),
        source_notes=tuple(notes),
        division_notes=tuple(division_notes),
        task=task,
        unseen=splits[3] if unseen is not None else None,
    )


def normalisation(pixels: Tensor | FileImages) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Mean and standard deviation per channel of uint8 pixels (n, c, h, w) scaled to 0..1; a
    constant channel gets the deviation 1.

    Exact, from the histogram of the 256 values; of streamed images only `FileImages.sample` is
    looked at.
    """
    if isinstance(pixels, FileImages):
        pixels = pixels.sample()
    values = np.arange(256) / 255
    means, stds = [], []
    for channel in range(pixels.shape[1]):
        counts = np.bincount(pixels[:, channel].contiguous().numpy().ravel(), minlength=256)
        mean = float(counts @ values / counts.sum())
        means.append(mean)
        stds.append(float(np.sqrt(counts @ (values - mean) ** 2 / counts.sum())) or 1.0)
    return tuple(means), tuple(stds)


def stratified_order(labels: np.ndarray, *, purpose: str) -> np.ndarray:
    """An order of all n samples in which every stretch holds the classes in their proportions, to
    within one sample each.

    Each class is shuffled, then its samples are spread evenly over 0..1, and all are sorted by that
    place. Of attributes (n, A), each combination counts as a class.
    """
    if labels.ndim == 2:
        labels = np.unique(labels, axis=0, return_inverse=True)[1]
    order = numpy_rng(0, purpose).permutation(len(labels))
    place = np.empty(len(labels))
    for number in np.unique(labels):
        mine = order[labels[order] == number]
        place[mine] = (np.arange(len(mine)) + 0.5) / len(mine)
    return order[np.argsort(place[order], kind="stable")]


def hold_out(labels: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Sorted indices (kept, held out) of labels (n,): `count` samples are held out,
    stratified, the same ones always.
    """
    order = stratified_order(labels, purpose="hold_out")
    return np.sort(order[count:]), np.sort(order[:count])


def hold_out_part(whole: Split, share: float = VALIDATION_SHARE) -> tuple[Split, Split]:
    """(kept, held out): a share of a split, stratified; whole persons where identities are known,
    so that nobody is on both sides.

    The held-out part is of at least one sample, and the kept one may be empty: the caller checks.
    """
    if whole.identities is None:
        kept, held = hold_out(whole.labels.numpy(), max(1, round(share * len(whole))))
    else:
        people = whole.identities.numpy()
        persons = np.unique(people)
        _, chosen = hold_out(np.zeros(len(persons), np.int64), max(1, round(share * len(persons))))
        is_held = np.isin(people, persons[chosen])
        kept, held = np.flatnonzero(~is_held), np.flatnonzero(is_held)
    return whole[kept], whole[held]


def image_hashes(pixels: Tensor, size: int = 16) -> list[bytes]:
    """A digest of `size` bytes of each image (n, c, h, w)."""
    return [hashlib.blake2b(image, digest_size=size).digest() for image in pixels.numpy()]


def _digests(pixels: Tensor | FileImages) -> np.ndarray | None:
    if isinstance(pixels, FileImages):
        return None
    return np.frombuffer(b"".join(image_hashes(pixels, size=8)), np.uint64)


def duplicate_notes(splits: Sequence[Split]) -> list[str]:
    """A sentence for each of validation, test and unseen that holds exact copies of training
    images; of streamed sets one that says what was not looked at.
    """
    train = splits[0]
    if train.digests is None:
        looked = min(FileImages.SAMPLE, len(train))
        return [
            "The images are read from their files while training; mean and deviation are of "
            f"{looked:,} of {len(train):,}. Exact copies among them are not looked for."
        ]
    notes = []
    for name, split in zip(("validation", "test", "unseen"), splits[1:], strict=False):
        copies = 0 if split.digests is None else np.isin(split.digests, train.digests).sum()
        if copies:
            notes.append(f"Exact copies of training images: {copies:,} of {len(split):,} {name}.")
    return notes


def copies_flags(
    train: Split, test: Split, *, forgotten: np.ndarray, retained: np.ndarray
) -> list[str]:
    """Sentences if images that are to be forgotten are in the retain or test set as exact copies;
    both (n,) bool over the training split. Of streamed images nothing is known.
    """
    if train.digests is None:
        return []
    others = [("retain", train.digests[retained], "which nobody asks to forget")]
    if test.digests is not None:
        others.append(("test", test.digests, "so the test set is not all unseen"))
    leaving = train.digests[forgotten]
    copies = {name: int(np.isin(leaving, digests).sum()) for name, digests, _ in others}
    return [
        f"Forgotten images with an exact copy in the {name} set: {copies[name]:,} of "
        f"{len(leaving):,}, {meaning}."
        for name, _, meaning in others
        if copies[name]
    ]


def identity_notes(splits: Sequence[Split]) -> list[str]:
    """A sentence where persons of the training images, the first split, are in another split
    too.
    """
    train = splits[0]
    if train.identities is None:
        return []
    others = [split.identities for split in splits[1:] if split.identities is not None]
    persons = train.identities.unique()
    shared = int(torch.isin(persons, torch.cat(others)).sum()) if others else 0
    if not shared:
        return []
    return [
        f"{shared:,} of {len(persons):,} persons in training are in another split too; they "
        "cannot be forgotten."
    ]


def _content_hash(splits: Sequence[Split]) -> str:
    digest = hashlib.sha256()
    for split in splits:
        digest.update(repr(tuple(split.pixels.shape)).encode())
        digest.update(
            "\n".join(split.pixels.names).encode()
            if isinstance(split.pixels, FileImages)
            else split.pixels.numpy()
        )
        digest.update(split.labels.numpy())
    return digest.hexdigest()
