"""Poison: what the depoisoning scenarios do to a training set before the original is trained
(MUBox, scenario 6).

A poison is `RunSpec.poison`: {"scenario": "label_flip" or "backdoor", **the parameters of its
card}. Conventions as in select.py: `labels` (n,) are the true ones, `ids` (n,) unique.
Everything is a pure function: the same samples, whatever their order, and the same poison give the
same poisoned samples on every machine. Imports no torch; the trigger is stamped in
datasets/poisoned.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mucore.errors import BadValue
from mucore.rng import numpy_rng
from mucore.runs.budget import samples

Poison = Mapping[str, Any]
PURPOSE = "poison"  # of the random stream


def poisoned_ids(poison: Poison, labels: np.ndarray, ids: np.ndarray, classes: int) -> np.ndarray:
    """The ids of the samples to poison, sorted, int64. With the same seed a smaller budget is part
    of a larger one.

    `label_flip` takes as many samples of each paired class, one more of the first classes where the
    budget does not divide. Raises `BadValue` for classes that do not exist, a budget over
    what there is, and one that leaves nothing clean.
    """
    order = np.argsort(ids, kind="stable")
    labels, ids = labels[order], ids[order].astype(np.int64)
    budget = poison["budget"]
    count = samples(budget, len(ids))
    if count >= len(ids):
        raise BadValue(
            f"The budget of {poison['scenario']} must leave a clean sample, so it is at most "
            f"{len(ids) - 1} of {len(ids)} training samples, but got {budget:g}. Choose fewer, or "
            "a share such as 0.1."
        )
    drawn = numpy_rng(poison["seed"], PURPOSE).permutation(len(ids))
    if poison["scenario"] == "backdoor":
        check_target(poison, classes)
        return np.sort(ids[drawn[:count]])
    paired = flipped_classes(poison, classes)
    shares = {
        c: count // len(paired) + (place < count % len(paired)) for place, c in enumerate(paired)
    }
    chosen = []
    for c, share in shares.items():
        own = drawn[labels[drawn] == c]
        if share > len(own):
            raise BadValue(
                f"A budget of {count} takes {share} samples of each of {len(paired)} classes, but "
                f"class {c} has {len(own)}. Choose fewer."
            )
        chosen.append(own[:share])
    return np.sort(ids[np.concatenate(chosen)])


def poisoned_labels(
    poison: Poison, labels: np.ndarray, chosen: np.ndarray, classes: int
) -> np.ndarray:
    """The labels (n,) that the original learns: those of the samples in `chosen` (n,) bool are the
    partner's, or the target.
    """
    if poison["scenario"] == "backdoor":
        return np.where(chosen, poison["target"], labels)
    partner = np.arange(classes)
    for low, high in class_pairs(poison, classes):
        partner[[low, high]] = high, low
    return np.where(chosen, partner[labels], labels)


def class_pairs(poison: Poison, classes: int) -> list[tuple[int, int]]:
    """The pairs of `label_flip`; where none are named, c with classes - 1 - c. Raises `BadValue`
    for classes that do not exist.
    """
    if poison["pairs"] is None:
        if classes % 2:
            raise BadValue(
                "Pairs of first with last need an even number of classes, but there are "
                f"{classes}. Name the pairs, such as 0-{classes - 1}."
            )
        return [(c, classes - 1 - c) for c in range(classes // 2)]
    pairs = [(int(low), int(high)) for low, high in (pair.split("-") for pair in poison["pairs"])]
    for low, high in pairs:
        if high >= classes:
            raise BadValue(
                f"A pair names two classes from 0 to {classes - 1}, but got {low}-{high}. Take it "
                "out, or pair other classes."
            )
    return pairs


def flipped_classes(poison: Poison, classes: int) -> tuple[int, ...]:
    """The classes of `label_flip` that are in a pair, sorted."""
    return tuple(sorted(c for pair in class_pairs(poison, classes) for c in pair))


def check_target(poison: Poison, classes: int) -> None:
    """Raise `BadValue` where the target of `backdoor` is no class."""
    if poison["target"] >= classes:
        raise BadValue(
            f"The target of a backdoor is a class from 0 to {classes - 1}, but got "
            f"{poison['target']}."
        )


def trigger_mask(poison: Poison, height: int, width: int) -> np.ndarray:
    """(height, width) bool: the pixels under the patch of `backdoor`. Raises `BadValue` where the
    patch does not fit and leave a pixel.
    """
    size, position = poison["size"], poison["position"]
    if size >= min(height, width):
        raise BadValue(
            f"The patch must be smaller than the image, {height} by {width} pixels, but its size "
            f"is {size}. Choose at most {min(height, width) - 1}."
        )
    top = 0 if position.startswith("top") else height - size
    left = 0 if position.endswith("left") else width - size
    if position == "centre":
        top, left = top // 2, left // 2
    mask = np.zeros((height, width), dtype=bool)
    mask[top : top + size, left : left + size] = True
    return mask


def check_fits(poison: Poison, *, classes: int | None, shape: tuple[int, int, int] | None) -> None:
    """Raise `BadValue` for what the number of classes and the image's shape (channels, height,
    width) already rule out; None: not known.
    """
    if poison["scenario"] == "label_flip":
        if classes is not None:
            class_pairs(poison, classes)
        return
    if classes is not None:
        check_target(poison, classes)
    if shape is not None:
        trigger_mask(poison, *shape[1:])


def note(poison: Poison, labels: np.ndarray, chosen: np.ndarray, classes: int) -> str:
    """A sentence for the reader of a result. `labels` are the true ones, `chosen` (n,) bool."""
    share = f"{int(chosen.sum()):,} of {len(labels):,} training samples are poisoned"
    if poison["scenario"] == "label_flip":
        pairs = ", ".join(f"{low}-{high}" for low, high in class_pairs(poison, classes))
        return f"{share}: their labels are flipped between the classes {pairs}."
    own = int((labels[chosen] == poison["target"]).sum())
    return (
        f"{share}: a patch was stamped on them and they are called class {poison['target']}, "
        f"which {own:,} of them were before."
    )
