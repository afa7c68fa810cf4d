"""What is said of a user's own data before they are loaded, against what loading them gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mucore import catalog, datasets
from mucore.userfiles import datasets as userdata
from mucore.userfiles.sizes import DataSize, size_of


def npz(folder: Path, **changes: Any) -> str:
    rng = np.random.default_rng(0)
    content = {
        "x_train": rng.integers(256, size=(47, 8, 8), dtype=np.uint8),
        "y_train": np.arange(47) % 3,
        "x_test": rng.integers(256, size=(6, 8, 8), dtype=np.uint8),
        "y_test": np.arange(6) % 3,
    }
    path = folder / "mine.npz"
    np.savez_compressed(path, **content | changes)  # ty: ignore[invalid-argument-type]
    return f"npz:{path}"


def pictures(folder: Path, counts: dict[str, int], modes: tuple[str, ...]) -> str:
    """As many images a class in each split, the classes of these modes in turn."""
    rng = np.random.default_rng(0)
    for split, count in counts.items():
        for number, mode in enumerate(modes):
            place = folder / split / f"class{number}"
            place.mkdir(parents=True)
            for image in range(count):
                pixels = rng.integers(256, size=(12, 12, 3), dtype=np.uint8)
                Image.fromarray(pixels).convert(mode).save(place / f"{image}.png")
    return f"folder:{folder}"


def loaded(name: str) -> DataSize:
    splits = datasets.load(name)
    train, validation, test = (
        len(getattr(splits, part)) for part in ("train", "validation", "test")
    )
    return DataSize(splits.shape, len(splits.class_names), train, validation, test)


rng = np.random.default_rng(1)
COLOUR = rng.integers(256, size=(47, 8, 8, 3), dtype=np.uint8)
GIVEN = {
    "grey": {},
    "colour": {"x_train": COLOUR, "x_test": COLOUR[:6]},
    "with validation": {
        "x_val": rng.integers(256, size=(9, 8, 8), dtype=np.uint8),
        "y_val": np.arange(9) % 3,
    },
    "attributes": {
        "y_train": rng.integers(2, size=(47, 5)),
        "y_test": rng.integers(2, size=(6, 5)),
    },
}


@pytest.mark.parametrize("changes", GIVEN.values(), ids=list(GIVEN))
def test_headers_of_an_npz_say_what_loading_it_gives(changes, tmp_path):
    name = npz(tmp_path, **changes)
    assert size_of(name) == loaded(name)


@pytest.mark.parametrize(
    ("counts", "modes"),
    [({"train": 13, "test": 2}, "L RGB L"), ({"train": 10, "val": 3, "test": 2}, "RGB RGB")],
)
def test_names_in_a_folder_say_what_loading_it_gives(counts, modes, tmp_path):
    name = pictures(tmp_path, counts, tuple(modes.split()))
    assert size_of(name) == loaded(name)


def test_images_of_a_file_are_not_read(tmp_path, monkeypatch):
    name, asked = npz(tmp_path), []
    read = np.lib.npyio.NpzFile.__getitem__
    monkeypatch.setattr(
        np.lib.npyio.NpzFile, "__getitem__", lambda self, key: asked.append(key) or read(self, key)
    )
    assert size_of(name) is not None
    assert asked == ["y_train"]


def test_what_was_seen_once_is_not_looked_at_again(tmp_path, monkeypatch):
    name = npz(tmp_path)
    first = size_of(name, userdata.data_hash(name))
    known = userdata.data_hash(name)
    monkeypatch.setattr(userdata, "path_of", None)
    assert size_of(name, known) == first is not None
    monkeypatch.undo()
    changed = npz(tmp_path, x_train=COLOUR, x_test=COLOUR[:6])
    again = size_of(changed, userdata.data_hash(changed))
    assert again is not None and again.shape == (3, 8, 8)


def test_what_cannot_be_read_has_no_size(tmp_path):
    name, path = npz(tmp_path, y_train=np.array([{}] * 47)), tmp_path / "mine.npz"
    assert size_of(name, "some hash") is None
    for content in (b"no arrays", Path(npz(tmp_path)[4:]).read_bytes()[:300]):
        path.write_bytes(content)
        assert size_of(name, "some hash") is None
    path.unlink()
    assert size_of(name, "some hash") is None


def test_a_folder_without_images_has_no_size(tmp_path):
    assert size_of(f"folder:{tmp_path}") is None
    (tmp_path / "train" / "cat").mkdir(parents=True)
    assert size_of(f"folder:{tmp_path}") is None
    (tmp_path / "train" / "cat" / "0.png").write_text("no image")
    assert size_of(f"folder:{tmp_path}") is None


def test_a_card_that_knows_only_roughly_says_so_for_estimates_alone():
    rough = [card for card in catalog.datasets() if card.about is not None]
    assert rough and all(card.sizes is None for card in rough)
    home = [card for card in rough if card.id.startswith("office-home-")]
    images = sum(sum(card.about or ()) for card in home)
    assert images == sum(catalog.dataset("office-home").sizes or ())  # the domains are all of it
