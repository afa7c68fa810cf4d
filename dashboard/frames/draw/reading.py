"""What networks say of an image, in numbers and in sentences."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from dashboard.text import units
from dashboard.text.labels import THIN
from mucore.analysis.features import Split, gone_classes
from mucore.metrics.representation import nearest
from mucore.outputs import Outputs, softmax

NEAREST: Final = 4
STARTS: Final = 10  # images of a kind that a drawing can begin with
# images (n, h, w) uint8 in, logits (n, C) and penultimate features (n, d) float32 out
Network = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


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

    def image(self, sample: int) -> np.ndarray | None:
        """The pixels (h, w) of a sample; None where there is none."""
        for ids, _, pixels in (self.train, self.test):
            place = int(np.searchsorted(ids, sample))
            if place < len(ids) and ids[place] == sample:
                return pixels[place]
        return None


def read(
    network: Network, gallery: Split, image: np.ndarray, sample: int = -1
) -> tuple[np.ndarray, pd.DataFrame]:
    """What a network says of an image (h, w) uint8: the probabilities of the classes, and the
    training images nearest to it, nearest first: id, label, forgotten, cosine of the features. Of
    the `gallery`, the image itself, `sample`, is left out.
    """
    logits, features = network(image[None])
    own = np.flatnonzero(gallery.ids == sample)
    found, cosines = nearest(features, gallery.features, k=NEAREST, own=own if len(own) else None)
    columns = {name: getattr(gallery, name) for name in ("ids", "labels", "forgotten")}
    near = pd.DataFrame({name: each[found[0]] for name, each in columns.items()})
    return softmax(logits)[0], near.assign(cosine=cosines[0])


def said(answers: Mapping[str, np.ndarray], names: Sequence[str], gone: Collection[int]) -> str:
    """The answer in a sentence or two; `answers` are the probabilities of Original, Retrain and a
    method by title, `gone` the classes that were forgotten whole.
    """
    tops = {title: int(each.argmax()) for title, each in answers.items()}
    original, _, method = answers
    told = [
        f"{title} {'says ' if title == original else ''}{names[top]} "
        f"({100 * answers[title][top]:.0f}{THIN}%)"
        for title, top in tops.items()
    ]
    sentence = f"{units.joined(told)}."
    if tops[original] not in gone:
        return sentence
    if tops[method] == tops[original]:
        return f"{sentence} {method} still says {names[tops[original]]}."
    return f"{sentence} {method} no longer says {names[tops[original]]}."


def starts(album: Album, told: Outputs, classes: int) -> dict[str, list[tuple[int, int]]]:
    """By kind ("test", "forget", "retain"), ids and labels of images to begin with; `told` are the
    outputs of a network that was trained or changed for the request, and samples of large splits.

    Test and retained images come from each class in turn, forgotten ones in the order of their ids.
    """
    ids, labels, _ = album.train
    gone = np.isin(ids, told["forget"].ids) | np.isin(labels, gone_classes(told))
    stays = np.isin(ids, told["retain"].ids) & ~gone
    forgotten = list(zip(ids[gone].tolist(), labels[gone].tolist(), strict=True))
    return {
        "test": _in_turn(*album.test[:2], classes),
        "forget": forgotten[:STARTS],
        "retain": _in_turn(ids[stays], labels[stays], classes),
    }


def _in_turn(ids: np.ndarray, labels: np.ndarray, classes: int) -> list[tuple[int, int]]:
    """`STARTS` ids and labels, the first sample of each class, then the second of each, and so
    on.
    """
    rank = np.zeros(len(ids), np.int64)
    for label in range(classes):
        mine = labels == label
        rank[mine] = np.arange(mine.sum())
    order = np.lexsort((labels, rank))[:STARTS]
    return list(zip(ids[order].tolist(), labels[order].tolist(), strict=True))
