"""Files that a reader brings from their own computer: kept by their content, whatever they are
called, and used by the runs.
"""

from __future__ import annotations

import functools
import hashlib
import io
import zipfile
from typing import Any

import numpy as np
import pytest
import torch
from facts import tells
from pages import button, open_page, words_on
from PIL import Image
from streamlit.testing.v1 import AppTest

from dashboard.widgets import uploads
from mucore import catalog, models, titles
from mucore.store import open_store

SMALL = {"dataset": "digits", "model": "mlp", "preset": "quick", "methods": ["finetune"]}
SMALL |= {"recipe.preprocess": "mucore"}


def bring(at: AppTest, name: str, file: str, content: bytes) -> AppTest:
    """Choose a file in the uploader of that parameter."""
    (place,) = [one for one in at.file_uploader if one.key == f"upload:{name}"]
    return place.set_value((file, content, "application/octet-stream")).run()


def arrays(**changes: Any) -> bytes:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 256, (40, 8, 8), dtype=np.uint8), np.arange(40) % 2
    stream = io.BytesIO()
    content: dict[str, Any] = {"x_train": x, "y_train": y, "x_test": x, "y_test": y} | changes
    np.savez(stream, **{name: array for name, array in content.items() if array is not None})
    return stream.getvalue()


@functools.cache
def weights(model: str = "mlp", classes: int = 10) -> bytes:
    """Of a network that nobody trained, for `digits`."""
    stream = io.BytesIO()
    torch.save(
        models.build(model, in_channels=1, classes=classes, image_size=8, seed=0).state_dict(),
        stream,
    )
    return stream.getvalue()


def started(at: AppTest) -> bool:
    """Whether the runs may be started."""
    return not at.button(key="start").disabled


def test_weights_of_the_original_are_kept_and_named_by_their_content(home):
    at = bring(open_page("launch", **SMALL), "original", "../../etc/mine.pt", weights())
    assert not at.exception
    sha256 = hashlib.sha256(weights()).hexdigest()
    assert at.query_params["original"] in (sha256, [sha256])
    button(at, "Start").click().run()
    with open_store(home) as store:
        assert store.artifacts.file(sha256).read_bytes() == weights()
        assert {job.spec["original_hash"] for job in store.jobs()} == {sha256}
    assert not [path for path in home.parent.rglob("mine.pt")], (
        "a name that came with a file is no path"
    )


def test_arrays_keep_the_name_they_came_with_as_a_title_and_never_as_a_path(home):
    at = bring(
        open_page("launch", **SMALL | {"dataset": "npz"}),
        "path",
        "..\\../etc/My *faces*.npz",
        arrays(),
    )
    assert tells(words_on(at), "My *faces*.npz", "36 training", "8 by 8", "grey", "2 classes")
    (name,) = [one for one in at.text_input if one.key == "name"]
    assert "· My *faces*.npz ·" in name.placeholder and "uploads" not in name.placeholder
    assert not [path for path in home.parent.rglob("*faces*")]
    path = at.query_params["path"]
    own = f"npz:{path if isinstance(path, str) else path[0]}"
    assert uploads.title_of(own) == "My *faces*.npz"
    assert titles.dataset(own) == f"{catalog.dataset('npz').title}, My *faces*.npz"
    assert (
        uploads.title_of("npz:/data/other.npz") == "other.npz"
        and uploads.title_of("digits") == "Digits, 8 by 8 pixels"
    )


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"y_test": None}, "lacks y_test"),
        ({"x_train": np.zeros((39, 8, 8), np.uint8)}, "which does not fit x_train, [39, 8, 8]"),
    ],
)
def test_arrays_are_checked_when_they_come_and_nothing_starts_until_they_are_well(
    home, changes, says
):
    at = bring(
        open_page("launch", **SMALL | {"dataset": "npz"}), "path", "mine.npz", arrays(**changes)
    )
    assert (
        not at.exception and says in words_on(at) and "mine.npz" in words_on(at) and not started(at)
    )
    assert not started(at.run()) and says in words_on(at)
    assert str(home) not in words_on(at)
    at = bring(at, "path", "mine.npz", arrays())
    assert started(at) and says not in words_on(at)


def test_a_disk_that_is_full_says_so_and_nothing_is_planned_with_the_file(home, monkeypatch):
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    at = open_page("launch", **SMALL | {"dataset": "npz"})
    monkeypatch.setattr("os.fsync", full)
    at = bring(at, "path", "mine.npz", arrays())
    assert (
        "No space left on device" in words_on(at)
        and "path" not in at.query_params
        and not at.exception
    )


def folders() -> bytes:
    """A zip of two class folders with ten images each, and what a Mac leaves there."""
    rng = np.random.default_rng(0)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as made:
        for number in range(20):
            content = io.BytesIO()
            pixels = rng.integers(0, 256, (8, 8), dtype=np.uint8)
            Image.fromarray(pixels).save(content, format="PNG")
            made.writestr(f"{('cats', 'dogs')[number % 2]}/{number}.png", content.getvalue())
        made.writestr("cats/.DS_Store", b"x")
    return stream.getvalue()


def test_a_zip_of_class_folders_is_shown_and_can_be_run(home):
    at = bring(open_page("launch", **SMALL | {"dataset": "folder"}), "path", "pets.zip", folders())
    assert not at.exception and started(at)
    words = words_on(at)
    assert "pets.zip" in words and tells(words, 14, 8, 2)  # two are for validation
    assert tells(words, "test", "4 of 20")
    button(at, "Start").click().run()
    with open_store(home) as store:
        (dataset,) = {job.spec["dataset"] for job in store.jobs()}
    assert dataset.startswith(f"folder:{home / uploads.FOLDER}")
