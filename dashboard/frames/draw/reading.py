"""What three networks say of an image, in numbers and in sentences."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from dashboard.frames.draw.network import Network
from dashboard.text import units
from mucore.analysis.features import Split, gone_classes
from mucore.metrics.representation import nearest
from mucore.outputs import Outputs, softmax

NEAREST: Final = 5
STARTS: Final = 10  # images of a kind that a drawing can begin with, at once


@dataclass(frozen=True)
class Neighbour:
    """A training image that a network finds alike; `cosine` of the two images' features, -1..1."""

    id: int
    label: int
    forgotten: bool
    cosine: float


@dataclass(frozen=True)
class Reading:
    """What the network `title` says: probabilities of the classes, summing to 1, and the training
    images nearest to the image, nearest first.
    """

    title: str
    probabilities: tuple[float, ...]
    neighbours: tuple[Neighbour, ...]

    @property
    def top(self) -> int:
        return int(np.argmax(self.probabilities))


@dataclass(frozen=True, eq=False)
class Album:
    """Images of a data set: `train` and `test` are ids (n,) sorted, labels (n,) and pixels (n, h,
    w) uint8; `normalisation` the mean and standard deviation of the training pixels in 0..1;
    `numbers` (n,) say by id what people call a sample: its row.
    """

    train: tuple[np.ndarray, np.ndarray, np.ndarray]
    test: tuple[np.ndarray, np.ndarray, np.ndarray]
    normalisation: tuple[float, float]
    numbers: np.ndarray

    def image(self, sample: int) -> tuple[str, int, np.ndarray] | None:
        """The split, label and pixels (h, w) of a sample; None where there is none."""
        for name, (ids, labels, pixels) in (("train", self.train), ("test", self.test)):
            place = int(np.searchsorted(ids, sample))
            if place < len(ids) and ids[place] == sample:
                return name, int(labels[place]), pixels[place]
        return None


def read(
    title: str, network: Network, gallery: Split, image: np.ndarray, sample: int = -1
) -> Reading:
    """What a network says of an image (h, w) uint8; `gallery` are its training images' features, of
    which that of `sample`, the image itself, is left out.
    """
    logits, features = network(image[None])
    own = np.flatnonzero(gallery.ids == sample)
    found, cosines = nearest(features, gallery.features, k=NEAREST, own=own if len(own) else None)
    return Reading(
        title,
        tuple(softmax(logits)[0].tolist()),
        tuple(
            Neighbour(
                int(gallery.ids[place]),
                int(gallery.labels[place]),
                bool(gallery.forgotten[place]),
                float(cosine),
            )
            for place, cosine in zip(found[0], cosines[0], strict=True)
        ),
    )


def said(readings: Sequence[Reading], names: Sequence[str], gone: Collection[int]) -> str:
    """The answer in two or three sentences; `readings` are Original's, Retrain's and a method's,
    `gone` the classes that were forgotten whole.
    """
    original, retrain, method = readings
    told = [
        f"{each.title} {'says ' if each is original else ''}{names[each.top]} "
        f"({100 * each.probabilities[each.top]:.0f}%)"
        for each in readings
    ]
    sentences = [f"{units.joined(told)}."]
    if original.top in gone:
        name = names[original.top]
        if retrain.top != original.top:
            sentences.append(f"{retrain.title} never saw the class {name}, so it names another.")
        else:
            sentences.append(f"{retrain.title} never saw the class {name}, and yet it says so.")
        if method.top == original.top:
            sentences.append(f"{method.title} still knows it: the class is not forgotten.")
        else:
            sentences.append(f"{method.title} no longer says it.")
    return " ".join(sentences)


@dataclass(frozen=True, eq=False)
class Request:
    """Ids of training images that are in the forget set, and of those that are known to stay. A
    store keeps a sample of large splits, so of some images neither may be known.
    """

    forgotten: np.ndarray
    staying: np.ndarray

    def has(self, sample: int) -> bool | None:
        """Whether a training image is in the forget set; None where that was not kept."""
        if sample in self.forgotten:
            return True
        return False if sample in self.staying else None


def request_of(album: Album, told: Outputs) -> Request:
    """What the outputs of a network that was trained or changed for a request say of it."""
    ids, labels, _ = album.train
    forget, retain = told["forget"], told["retain"]
    gone = np.isin(ids, forget.ids) | np.isin(labels, gone_classes(told))
    stays = np.isin(ids, retain.ids)
    # of earlier requests there is nothing, and of this one every image is known
    if len(forget) == forget.total and forget.total + retain.total == len(ids):
        stays |= ~gone
    return Request(ids[gone], ids[stays & ~gone])


def membership(
    original: Reading,
    names: Sequence[str],
    *,
    sample: int | str,
    found: tuple[str, int] | None,
    forgotten: bool | None,
) -> str:
    """Whether the image is in the forget set, in sentences. `found` are split and label of the
    sample that it is, pixel by pixel, None for a new one; `forgotten` is None where nobody knows.
    """
    if found is not None:
        split, label = found
        if split == "test":
            return (
                f"This is test image {sample}, of the class {names[label]}. No network learned "
                "from it, so it is not in the forget set."
            )
        if forgotten is None:
            return (
                f"This is training image {sample}, of the class {names[label]}. The store kept "
                "only a sample of what was to be forgotten and what was not, and this image is "
                "not in it."
            )
        if forgotten:
            return (
                f"This is training image {sample}, of the class {names[label]}, and it is in the "
                "forget set: Original learned from it, Retrain did not."
            )
        return (
            f"This is training image {sample}, of the class {names[label]}. It is not in the "
            "forget set: Original and Retrain both learned from it."
        )
    count = sum(each.forgotten for each in original.neighbours)
    return (
        "It is new, so no network learned from it and it is not in the forget set. Of the "
        f"{len(original.neighbours)} training images that Original finds most alike, "
        f"{units.count(count, 'is', 'are') if count else 'none is'} in it."
    )


def starts(album: Album, request: Request, classes: int) -> dict[str, list[tuple[int, int]]]:
    """By kind ("test", "forget", "retain"), ids and labels of images to begin with.

    Test and retained images come from each class in turn, forgotten ones in the order of their ids.
    """
    ids, labels, _ = album.train
    gone, stays = np.isin(ids, request.forgotten), np.isin(ids, request.staying)
    return {
        "test": _in_turn(*album.test[:2], classes),
        "forget": list(zip(ids[gone].tolist(), labels[gone].tolist(), strict=True)),
        "retain": _in_turn(ids[stays], labels[stays], classes),
    }


def page_of(every: list[tuple[int, int]], page: int) -> list[tuple[int, int]]:
    """`STARTS` of them, others on each `page` from 0, and the first ones again after the last."""
    pages = max(1, -(-len(every) // STARTS))
    first = STARTS * (page % pages)
    return every[first : first + STARTS]


def _in_turn(ids: np.ndarray, labels: np.ndarray, classes: int) -> list[tuple[int, int]]:
    """Ids and labels, the first sample of each class, then the second of each, and so on."""
    rank = np.zeros(len(ids), np.int64)
    for label in range(classes):
        mine = labels == label
        rank[mine] = np.arange(mine.sum())
    order = np.lexsort((labels, rank))
    return list(zip(ids[order].tolist(), labels[order].tolist(), strict=True))
