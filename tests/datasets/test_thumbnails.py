"""Images by sample id, as pages show them."""

from __future__ import annotations

import numpy as np
import pytest

from mucore import datasets
from mucore.datasets.thumbnails import run_splits, thumbnails
from mucore.errors import BadValue
from mucore.runs import make_recipe, make_spec


def spec(scenario: str = "one_class", **recipe):
    return make_spec(
        dataset="digits",
        model="mlp",
        recipe=make_recipe("quick", recipe),
        scenario=scenario,
        method="finetune",
    )


def test_images_come_in_the_order_of_the_ids_from_any_split():
    splits = datasets.load("digits")
    ids = [int(splits.test.ids[3]), int(splits.train.ids[7]), int(splits.train.ids[7])]
    images = thumbnails(run_splits(spec()), np.array(ids))
    assert images.shape == (3, 8, 8, 1) and images.dtype == np.uint8
    assert np.array_equal(images[0, ..., 0], splits.test.pixels[3, 0].numpy())
    assert np.array_equal(images[1], images[2])
    assert np.array_equal(images[1, ..., 0], splits.train.pixels[7, 0].numpy())
    assert thumbnails(splits, np.array([], int)).shape == (0, 8, 8, 1)


def test_triggered_images_carry_the_patch_and_clean_ones_do_not():
    splits = run_splits(spec("backdoor"))
    chosen = splits.test.ids[:2].numpy()
    clean, triggered = thumbnails(splits, chosen), thumbnails(splits, chosen, triggered=True)
    changed = (clean != triggered).any(axis=(0, 3))
    assert splits.trigger is not None
    assert changed.any()
    assert not (changed & ~splits.trigger.numpy()).any()


def test_an_id_of_other_data_is_refused():
    with pytest.raises(BadValue, match="no sample 999999"):
        thumbnails(datasets.load("digits"), np.array([999999]))
