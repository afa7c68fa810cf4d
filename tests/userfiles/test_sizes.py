"""What is said of data sets before they are loaded; that it is what loading gives, is tested with
a user's own data (datasets/test_own_data.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from mucore import catalog, fitting
from mucore.userfiles import datasets as userdata
from mucore.userfiles.sizes import size_of

IMAGES = np.random.default_rng(0).integers(256, size=(47, 8, 8, 3), dtype=np.uint8)


def npz(folder: Path, images: np.ndarray = IMAGES, **changes: Any) -> str:
    labels = np.arange(47) % 3
    content: dict[str, Any] = {
        "x_train": images,
        "y_train": labels,
        "x_test": images[:6],
        "y_test": labels[:6],
    }
    np.savez_compressed(folder / "mine.npz", **content | changes)
    return f"npz:{folder / 'mine.npz'}"


def test_images_of_a_large_file_are_not_read(tmp_path, monkeypatch):
    name, asked = npz(tmp_path), []
    read = np.lib.npyio.NpzFile.__getitem__
    monkeypatch.setattr(
        np.lib.npyio.NpzFile, "__getitem__", lambda self, key: asked.append(key) or read(self, key)
    )
    monkeypatch.setattr("mucore.userfiles.npz.SMALL", 100)
    assert fitting.SMALL > 100 and size_of(name) is not None
    assert asked == ["y_train", "y_test"]


def test_what_was_seen_once_is_not_looked_at_again(tmp_path, monkeypatch):
    name = npz(tmp_path)
    first = size_of(name, userdata.data_hash(name))
    known = userdata.data_hash(name)
    monkeypatch.setattr(userdata, "path_of", None)
    assert size_of(name, known) == first is not None
    monkeypatch.undo()
    changed = npz(tmp_path, IMAGES[..., 0])
    again = size_of(changed, userdata.data_hash(changed))
    assert again is not None and again.shape == (1, 8, 8)


def test_what_cannot_be_read_has_no_size(tmp_path):
    name, path = npz(tmp_path, y_train=np.array([{}] * 47)), tmp_path / "mine.npz"
    assert size_of(name, "some hash") is None
    for content in (b"no arrays", Path(npz(tmp_path)[4:]).read_bytes()[:300]):
        path.write_bytes(content)
        assert size_of(name, "some hash") is None
    path.unlink()
    assert size_of(name, "some hash") is None
    assert size_of(f"folder:{tmp_path}", "some hash") is None


def test_a_card_that_knows_only_roughly_says_so_for_estimates_alone():
    rough = [card for card in catalog.datasets() if card.about is not None]
    assert rough and all(card.sizes is None for card in rough)
    home = [card for card in rough if card.id.startswith("office-home-")]
    images = sum(sum(card.about or ()) for card in home)
    assert images == sum(catalog.dataset("office-home").sizes or ())  # the domains are all of it
