"""A run whose forgotten images stay elsewhere as copies says so where every reader looks: among its
flags.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mucore.runner.execute import execute
from mucore.runner.session import Session
from mucore.runs import make_recipe, make_spec
from mucore.store import open_store
from mucore.userfiles import datasets

MEANING = {"retain": "which nobody asks to forget", "test": "so the test set is not all unseen"}


@pytest.mark.parametrize(("forgotten", "flags"), [([0, 1], ["retain", "test"]), ([2, 3], [])])
def test_copies_are_flags_of_the_result(
    tmp_path: Path, forgotten: list[int], flags: list[str]
) -> None:
    """Training image 9 is image 0 again, and so is the first test image."""
    generator = np.random.default_rng(0)
    arrays = {
        f"x_{part}": generator.integers(0, 256, (size, 4, 4), np.uint8)
        for part, size in (("train", 40), ("val", 10), ("test", 20))
    }
    arrays["x_train"][9] = arrays["x_test"][0] = arrays["x_train"][0]
    arrays |= {
        name.replace("x_", "y_"): np.arange(len(images)) % 2 for name, images in arrays.items()
    }
    np.savez(tmp_path / "mine.npz", allow_pickle=False, **arrays)
    dataset = f"npz:{tmp_path / 'mine.npz'}"
    spec = make_spec(
        dataset=dataset,
        data_hash=datasets.data_hash(dataset),
        model="mlp",
        recipe=make_recipe("quick", {"epochs": 1, "batch_size": 16}),
        scenario="ids",
        scenario_parameters={"ids": forgotten},
        method="retrain",
    )
    with open_store(tmp_path / "home") as store:
        result = execute(spec, Session(store, "cpu"))
        stored = store.get_result(spec.key)
    said = [flag for flag in result.flags if "exact cop" in flag]
    assert said == [
        f"Forgotten images with an exact copy in the {name} set: 1 of 2, {meaning}."
        for name, meaning in MEANING.items()
        if name in flags
    ]
    assert stored is not None and stored.flags == result.flags
    assert not any("forgotten image" in note for note in result.notes)
