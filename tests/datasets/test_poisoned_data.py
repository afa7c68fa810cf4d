"""Poisoned splits, pixel by pixel: what changes, what must not, and what evaluation gets to see."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from torch import Tensor

from mucore import datasets
from mucore.datasets.poisoned import Stamped, poisoned
from mucore.engine.data import MaskedImages, on_device
from mucore.scenarios.poison import poisoned_ids

BACKDOOR = {
    "scenario": "backdoor",
    "budget": 0.1,
    "target": 3,
    "size": 2,
    "value": 200,
    "position": "bottom_right",
    "seed": 0,
}
FLIP = {"scenario": "label_flip", "budget": 0.1, "pairs": None, "seed": 0}


@pytest.fixture(scope="module")
def clean() -> datasets.Splits:
    return datasets.load("digits")


def untouched(before: datasets.Splits, after: datasets.Splits) -> bool:
    """Validation, test, ids, normalisation and the content hash stay."""
    same = all(
        torch.equal(getattr(before, n).pixels, getattr(after, n).pixels)
        for n in ("validation", "test")
    )
    same &= all(
        torch.equal(getattr(before, n).labels, getattr(after, n).labels)
        for n in ("validation", "test")
    )
    same &= torch.equal(before.train.ids, after.train.ids)
    return same and (before.mean, before.std, before.data_hash) == (
        after.mean,
        after.std,
        after.data_hash,
    )


def chosen(splits: datasets.Splits, poison: dict) -> np.ndarray:
    ids = poisoned_ids(
        poison, splits.train.labels.numpy(), splits.train.ids.numpy(), splits.classes
    )
    return np.isin(splits.train.ids.numpy(), ids)


def test_a_backdoor_changes_the_patch_of_the_poisoned_samples_and_nothing_else(clean):
    pixels, labels = clean.train.pixels.clone(), clean.train.labels.clone()
    dirty, which = poisoned(clean, BACKDOOR), chosen(clean, BACKDOOR)
    assert which.sum() == 120  # a tenth of 1,200
    assert (dirty.train.pixels[which][:, :, 6:, 6:] == 200).all()
    outside = dirty.train.pixels[which].clone()
    outside[:, :, 6:, 6:] = clean.train.pixels[which][:, :, 6:, 6:]
    assert torch.equal(outside, clean.train.pixels[which])
    assert torch.equal(dirty.train.pixels[~which], clean.train.pixels[~which])
    assert (dirty.train.labels[which] == 3).all()
    assert torch.equal(dirty.train.labels[~which], clean.train.labels[~which])
    assert dirty.true_labels is not None and torch.equal(dirty.true_labels, clean.train.labels)
    assert untouched(clean, dirty)
    assert torch.equal(clean.train.pixels, pixels) and torch.equal(clean.train.labels, labels)


def test_the_triggered_test_set_is_the_whole_test_set_under_the_patch(clean):
    dirty = poisoned(clean, BACKDOOR)
    assert dirty.triggered is not None and dirty.names == (
        "train",
        "validation",
        "test",
        "triggered",
    )
    assert (dirty.triggered.pixels[:, :, 6:, 6:] == 200).all()
    outside = dirty.triggered.pixels.clone()
    outside[:, :, 6:, 6:] = clean.test.pixels[:, :, 6:, 6:]
    assert torch.equal(outside, clean.test.pixels)
    assert torch.equal(dirty.triggered.labels, clean.test.labels)
    assert torch.equal(dirty.triggered.ids, clean.test.ids)
    assert dirty.trigger is not None and dirty.trigger.nonzero().tolist() == [
        [6, 6],
        [6, 7],
        [7, 6],
        [7, 7],
    ]


def test_flipped_labels_leave_every_pixel_and_have_no_trigger(clean):
    dirty, which = poisoned(clean, FLIP), chosen(clean, FLIP)
    assert torch.equal(dirty.train.pixels, clean.train.pixels)
    assert torch.equal(dirty.train.labels[which], 9 - clean.train.labels[which])
    assert torch.bincount(clean.train.labels[which]).tolist() == [12] * 10
    assert torch.equal(dirty.train.labels[~which], clean.train.labels[~which])
    assert dirty.triggered is None
    assert dirty.trigger is None
    assert dirty.names == ("train", "validation", "test")
    assert untouched(clean, dirty)
    assert (
        "120 of 1,200 training samples are poisoned: their labels are flipped between the classes "
        "0-9, 1-8"
    ) in dirty.notes[-1]


@dataclass(frozen=True)
class Files:
    """Pixels that come by position, as those of a set that is read from files."""

    pixels: Tensor

    def __len__(self) -> int:
        return len(self.pixels)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.pixels.shape)

    def take(self, positions: Tensor) -> Tensor:
        return self.pixels[positions]


def test_images_that_are_read_from_files_are_stamped_when_they_are_read(clean):
    files = replace(
        clean,
        train=replace(clean.train, pixels=Files(clean.train.pixels)),
        test=replace(clean.test, pixels=Files(clean.test.pixels)),
    )
    lazy, eager = poisoned(files, BACKDOOR), poisoned(clean, BACKDOOR)
    assert lazy.triggered is not None and eager.triggered is not None
    some = torch.tensor([5, 0, 700, 5])
    for one, other in ((lazy.train, eager.train), (lazy.triggered, eager.triggered)):
        assert isinstance(one.pixels, Stamped)
        assert len(one.pixels) == len(other.pixels)
        assert one.pixels.shape == other.pixels.shape
        index = some[some < len(other.labels)]
        assert torch.equal(one.pixels.take(index), other.pixels[index])
        assert torch.equal(one.labels, other.labels)


def test_masked_images_have_the_training_mean_under_the_mask(clean):
    dirty = poisoned(clean, BACKDOOR)
    assert dirty.trigger is not None
    plain = on_device(dirty, "train", "cpu").images
    masked = MaskedImages(plain, dirty.trigger)
    positions = torch.arange(40)
    got, before = masked.take(positions), plain.take(positions)
    assert (got[:, :, 6:, 6:] == round(clean.mean[0] * 255)).all() and got.dtype == torch.uint8
    assert torch.equal(got[:, :, :6], before[:, :, :6]) and masked.shape == plain.shape
