"""Forget sets: the training samples that there are to choose from. The first data set of a server
loads PyTorch, which takes seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from mucore import catalog
from mucore.catalog.cards import Task
from mucore.forget_sets.saved import forget_hash
from mucore.userfiles import datasets, images

if TYPE_CHECKING:
    from mucore.datasets import Splits


@dataclass(frozen=True, eq=False)
class Training:
    """The training split of a data set, sample by sample, as every run on it without a cut in its
    recipe sees it.

    `dataset` is an id, or `npz:` or `folder:` with the whole path; `data_hash` is of the content of
    the last two, "" for the others. `ids` (n,) are sorted: the row of each sample in its source
    (forget_sets/identity.py); `internal` (n,) is what runs call it. `labels` (n,) are classes or
    (n, A) attributes; `digests` (n,) name equal images, None where images are streamed.
    """

    dataset: str
    data_hash: str
    ids: np.ndarray
    internal: np.ndarray
    labels: np.ndarray
    class_names: tuple[str, ...]
    task: Task
    digests: np.ndarray | None
    splits: Splits

    def __len__(self) -> int:
        return len(self.ids)

    def having(self, number: int) -> np.ndarray:
        """The ids of a class, or of the samples that have an attribute."""
        return self.ids[
            self.labels[:, number] == 1 if self.labels.ndim == 2 else self.labels == number
        ]

    def counts(self, ids: np.ndarray | None = None) -> np.ndarray:
        """Samples of each class or with each attribute, (C,), of all or of `ids` (sorted)."""
        labels = self.labels if ids is None else self.labels[self.places(ids)]
        return (
            labels.sum(axis=0)
            if labels.ndim == 2
            else np.bincount(labels, minlength=len(self.class_names))
        )

    def places(self, ids: Sequence[int] | np.ndarray) -> np.ndarray:
        """Where samples stand in the arrays; every id must be there."""
        return np.searchsorted(self.ids, ids)

    def rows_of(self, internal: np.ndarray) -> np.ndarray:
        """The rows of samples that runs call so, those that are no training samples left out."""
        return self.ids[np.searchsorted(self.internal, np.intersect1d(internal, self.internal))]

    def hash_of(self, ids: Sequence[int] | np.ndarray) -> str:
        """What a result on this forget set has as its hash; "" for no sample."""
        return forget_hash(self.internal[self.places(ids)].tolist()) if len(ids) else ""

    def label_texts(self, ids: Sequence[int] | np.ndarray) -> list[str]:
        """The class of each sample, or its attributes, by name."""
        labels = self.labels[self.places(ids)]
        if labels.ndim == 1:
            return [self.class_names[label] for label in labels]
        return [
            ", ".join(self.class_names[number] for number in np.flatnonzero(row)) or "none"
            for row in labels
        ]


def training_of(dataset: str) -> Training:
    """The training samples of a data set. Raises `BadFile` or `BadValue` with a sentence where it
    cannot be read.
    """
    if catalog.dataset(dataset).takes_path:
        return _training(datasets.named(dataset), stamp(str(datasets.path_of(dataset))))
    return _training(dataset, ())


def pictures(training: Training, ids: Sequence[int]) -> np.ndarray:
    """Images (n, h, w, c) uint8 of training samples, in the order of `ids`."""
    import torch

    pixels, places = training.splits.train.pixels, torch.from_numpy(training.places(ids))
    found = pixels[places] if isinstance(pixels, torch.Tensor) else pixels.take(places)
    return found.permute(0, 2, 3, 1).numpy()


@st.cache_resource(show_spinner="Reading the data set", max_entries=3)
def _training(dataset: str, changed: tuple[int, ...]) -> Training:
    from mucore.datasets import load

    splits = load(dataset, download=False)
    train = splits.train
    return Training(
        dataset=dataset,
        data_hash=splits.data_hash if catalog.dataset(dataset).takes_path else "",
        ids=train.rows,
        internal=train.ids.numpy(),
        labels=train.labels.numpy(),
        class_names=splits.class_names,
        task=splits.task,
        digests=train.digests,
        splits=splits,
    )


@st.cache_data(show_spinner=False, max_entries=8, ttl=5)
def stamp(path: str) -> tuple[int, ...]:
    """What tells whether files have changed, without reading them."""
    files = images.Place(Path(path)).paths if Path(path).is_dir() else [Path(path)]
    states = [file.stat() for file in files if file.exists()]  # a link may lead nowhere
    return (
        len(states),
        sum(each.st_size for each in states),
        max((each.st_mtime_ns for each in states), default=0),
    )
