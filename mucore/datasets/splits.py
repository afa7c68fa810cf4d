"""`Splits`: what every loader returns, and the helpers that loaders share."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from mucore.random import numpy_rng


@dataclass(frozen=True, kw_only=True, eq=False)
class Split:
    """Images of one split, on the CPU: `pixels` (n, c, h, w) uint8; `labels`, `ids` and, unless None, `identities` (n,) int64."""

    pixels: Tensor
    labels: Tensor
    ids: Tensor
    identities: Tensor | None = None

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, kw_only=True, eq=False)
class Splits:
    """A data set in memory.

    Sample ids are unique over the three splits: training 0..n-1, then validation, then test. `mean` and `std` are per channel, of the
    training pixels in 0..1; they belong to the data set and are not recomputed for a retain set. `natural` says whether crops and flips
    keep the class. `data_hash` is SHA-256 over content, never over names or places. `notes` are sentences for the reader.
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

    @property
    def classes(self) -> int:
        return len(self.class_names)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height, width."""
        _, channels, height, width = self.train.pixels.shape
        return channels, height, width


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """One split as a loader reads it: `x` (n, h, w) or (n, h, w, c) uint8, `y` (n,) integers, `identities` (n,) integers or None."""

    x: np.ndarray
    y: np.ndarray
    identities: np.ndarray | None = None

    def __getitem__(self, index: np.ndarray) -> Part:
        return Part(x=self.x[index], y=self.y[index], identities=None if self.identities is None else self.identities[index])


def assemble(
    name: str,
    *,
    train: Part,
    validation: Part,
    test: Part,
    class_names: Sequence[str],
    natural: bool,
    data_hash: str | None = None,
    notes: Sequence[str] = (),
) -> Splits:
    """Number the samples, measure the normalisation, count duplicates and hash the content (unless `data_hash` is given)."""
    splits, first = [], 0
    for part in (train, validation, test):
        x = part.x if part.x.ndim == 4 else part.x[..., None]
        pixels = torch.from_numpy(x.transpose(0, 3, 1, 2).copy())  # a copy: arrays read from a buffer are not writable
        identities = None if part.identities is None else torch.from_numpy(part.identities.astype(np.int64))
        labels = torch.from_numpy(part.y.astype(np.int64))
        splits.append(Split(pixels=pixels, labels=labels, ids=torch.arange(first, first + len(labels)), identities=identities))
        first += len(labels)
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
        notes=(*notes, *duplicate_notes(*splits)),
    )


def normalisation(pixels: Tensor) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Mean and standard deviation per channel of uint8 pixels (n, c, h, w) scaled to 0..1; a constant channel gets the deviation 1.

    Exact: both come from the histogram of the 256 values.
    """
    values = np.arange(256) / 255
    means, stds = [], []
    for channel in range(pixels.shape[1]):
        counts = np.bincount(pixels[:, channel].contiguous().numpy().ravel(), minlength=256)
        mean = float(counts @ values / counts.sum())
        means.append(mean)
        stds.append(float(np.sqrt(counts @ (values - mean) ** 2 / counts.sum())) or 1.0)
    return tuple(means), tuple(stds)


def stratified_order(labels: np.ndarray, *, seed: int, purpose: str) -> np.ndarray:
    """An order of all n samples in which every stretch holds the classes in their proportions, to within one sample each.

    Each class is shuffled, then its samples are spread evenly over 0..1, and all are sorted by that place.
    """
    order = numpy_rng(seed, purpose).permutation(len(labels))
    place = np.empty(len(labels))
    for number in np.unique(labels):
        mine = order[labels[order] == number]
        place[mine] = (np.arange(len(mine)) + 0.5) / len(mine)
    return order[np.argsort(place[order], kind="stable")]


def hold_out(labels: np.ndarray, count: int, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Sorted indices (kept, held out) of labels (n,): `count` samples are held out, stratified, drawn by `seed` alone."""
    order = stratified_order(labels, seed=seed, purpose="hold_out")
    return np.sort(order[count:]), np.sort(order[:count])


def image_hashes(pixels: Tensor) -> list[bytes]:
    """A 16-byte digest of each image (n, c, h, w)."""
    return [hashlib.blake2b(image, digest_size=16).digest() for image in pixels.numpy()]


def duplicate_notes(train: Split, validation: Split, test: Split) -> list[str]:
    """A sentence for each of validation and test that holds exact copies of training images."""
    known = set(image_hashes(train.pixels))
    notes = []
    for name, split in (("validation", validation), ("test", test)):
        copies = sum(digest in known for digest in image_hashes(split.pixels))
        if copies:
            which = "image is an exact copy" if copies == 1 else "images are exact copies"
            notes.append(f"{copies:,} of {len(split):,} {name} {which} of a training image.")
    return notes


def _content_hash(splits: Sequence[Split]) -> str:
    digest = hashlib.sha256()
    for split in splits:
        digest.update(repr(tuple(split.pixels.shape)).encode())
        digest.update(split.pixels.numpy())
        digest.update(split.labels.numpy())
    return digest.hexdigest()
