"""A sample has one name, its place in the source, whatever a division or a cut makes of it: images
that carry their row in their pixels say whether it is the right one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from painted import CUTS, ROWS, folder, npz, painted, seen
from PIL import Image
from sklearn.datasets import load_digits

from mucore import datasets
from mucore.datasets import folders
from mucore.datasets.poisoned import poisoned
from mucore.datasets.published import divided
from mucore.datasets.splits import Splits, hold_out, split_of
from mucore.userfiles import datasets as userdata


def check(splits: Splits) -> None:
    assert splits.train.rows.dtype == np.int64
    assert seen(splits.train) == splits.train.rows.tolist()
    if splits.validation.source is splits.train.source:
        assert seen(splits.validation) == splits.validation.rows.tolist()
        assert not set(seen(splits.train)) & set(seen(splits.validation))


@pytest.mark.parametrize("kind", ["npz", "folder"])
@pytest.mark.parametrize("cut", CUTS, ids=str)
def test_rows_are_those_of_what_the_user_gave(tmp_path: Path, kind: str, cut: dict) -> None:
    name = npz(tmp_path / "x.npz") if kind == "npz" else folder(tmp_path)[0]
    splits = datasets.load(name, **cut)
    check(splits)
    assert splits.train.source.total == ROWS
    if "per_class" not in cut:
        from_test = "validation_from" in cut
        assert len(splits.train) == ROWS - (0 if from_test else len(splits.validation))
        assert (splits.validation.source is splits.train.source) != from_test
    if kind == "npz":
        poison = {"scenario": "label_flip", "pairs": ["0-2"], "budget": 2, "seed": 0}
        assert seen(poisoned(splits, poison).train) == splits.train.rows.tolist()


def test_folders_named_by_numbers_are_classes_of_these_numbers(tmp_path: Path) -> None:
    name, names = folder(tmp_path)
    hidden = tmp_path / "train" / ".ipynb_checkpoints"
    hidden.mkdir()
    Image.fromarray(painted()[0]).save(hidden / "00.png")
    Image.fromarray(painted()[0]).save(tmp_path / "train" / "3" / "._00.png")
    before = userdata.data_hash(name)
    splits = datasets.load(name)
    assert splits.class_names == tuple(map(str, range(12)))
    assert [int(file.split("/")[1]) for file in names] == [row // 5 for row in range(ROWS)]
    assert splits.train.source.files == tuple(names)
    assert splits.train.labels.tolist() == [row // 5 for row in splits.train.rows]
    (hidden / "00.png").unlink()
    assert userdata.data_hash(name) == before


def test_the_order_of_numbers_is_part_of_the_hash(tmp_path: Path) -> None:
    """The hash of what 0.2 read in the order of letters is another one: labels have changed."""
    import hashlib
    import os

    name, _ = folder(tmp_path)
    digest = hashlib.sha256()
    for file in sorted(tmp_path.rglob("*.png"), key=lambda each: each.as_posix()):
        inside, content = file.relative_to(tmp_path).as_posix(), file.read_bytes()
        digest.update(os.fsencode(inside) + b"\0" + str(len(content)).encode() + b"\0" + content)
    assert userdata.data_hash(name) != digest.hexdigest()


@pytest.mark.parametrize("cut", CUTS, ids=str)
def test_rows_of_published_sets_are_those_of_the_published_order(
    monkeypatch: pytest.MonkeyPatch, cut: dict
) -> None:
    from mucore.datasets.cut import cut as divide

    y = np.arange(ROWS) % 3
    test = split_of(x=painted(20, mark=1), y=y[:20])
    whole = divided("mnist", training=split_of(x=painted(), y=y), test=test)
    part = split_of(x=painted(), y=y)
    kept, held = hold_out(y, 12)  # as sets that were published undivided
    undivided = divided("mnist", training=part[kept], test=part[held])
    assert undivided.test.source is undivided.train.source
    assert seen(undivided.test) == undivided.test.rows.tolist()
    usual: dict[str, Any] = {"validation_from": "training", "per_class": 0, "greyscale": False}
    for splits in (whole, undivided):
        assert len(splits.train) < splits.train.source.total == ROWS
        check(divide(splits, **{**usual, **cut}))


@pytest.mark.parametrize("cut", CUTS, ids=str)
def test_rows_of_digits_are_those_of_scikit_learn(cut: dict) -> None:
    splits = datasets.load("digits", **cut)
    pixels = np.rint(load_digits().images * 255 / 16).astype(np.uint8)
    for split in (splits.train, splits.validation, splits.test):
        assert np.array_equal(split.pixels[:, 0].numpy(), pixels[split.rows])


def test_embedded_sets_are_their_own_source() -> None:
    for name in ("fashion-mnist-10k", "points-blobs"):
        train = datasets.load(name).train
        assert np.array_equal(train.rows, train.ids.numpy())


def test_streamed_images_keep_their_rows(tmp_path: Path) -> None:
    names = [f"{row:02}.png" for row in range(ROWS)]
    for name, image in zip(names, painted(), strict=True):
        Image.fromarray(np.repeat(np.repeat(image, 28, 0), 28, 1)).save(tmp_path / name)
    part = folders._streamed(tmp_path, names, np.arange(ROWS) % 3)
    splits = divided("mnist", training=part, test=part[np.arange(5)])
    assert [splits.train.pixels.names[place] for place in range(len(splits.train))] == [
        names[row] for row in splits.train.rows
    ]
