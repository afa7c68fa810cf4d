"""A user's own arrays and image folders: what is read, and the sentence for everything that cannot
be.
"""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from facts import tells
from PIL import Image

from mucore import datasets
from mucore.errors import BadFile, MucoreError
from mucore.userfiles import datasets as userdata


def arrays(**changes: object) -> dict[str, np.ndarray]:
    """A valid set: 30 training and 6 test images of 8 by 8 grey pixels in 3 classes; a change of
    None removes the array.
    """
    rng = np.random.default_rng(0)
    content = {
        "x_train": rng.integers(256, size=(30, 8, 8), dtype=np.uint8),
        "y_train": np.arange(30) % 3,
        "x_test": rng.integers(256, size=(6, 8, 8), dtype=np.uint8),
        "y_test": np.arange(6) % 3,
    }
    return {
        key: np.asarray(value) for key, value in {**content, **changes}.items() if value is not None
    }


def npz(folder: Path, **changes: object) -> str:
    path = folder / "mine.npz"
    np.savez_compressed(path, **arrays(**changes))  # ty: ignore[invalid-argument-type]
    return f"npz:{path}"


def pictures(
    folder: Path,
    *,
    splits: tuple[str, ...] = ("train", "test"),
    mode: str = "RGB",
    size: tuple[int, int] = (8, 8),
) -> str:
    """Ten training images and two of each other split, for the classes `cat` and `dog`, each of a
    colour of its own.
    """
    for split in splits:
        for number, name in enumerate(("dog", "cat")):
            (folder / split / name).mkdir(parents=True)
            for image in range(10 if split == "train" else 2):
                value = 20 * image + 10 * number + {"train": 0, "test": 3, "val": 6}[split]
                Image.new(mode, size, (value, 0, 255) if mode == "RGB" else value).save(
                    folder / split / name / f"{image}.png"
                )
    return f"folder:{folder}"


def refusal(name: str) -> str:
    """The text of the error that loading gives: one of ours, written as sentences."""
    with pytest.raises(MucoreError) as caught:
        datasets.load(name)
    assert re.search(r"[.]$", str(caught.value))
    return str(caught.value)


# -- npz


def test_npz_keeps_pixels_labels_and_order(tmp_path: Path) -> None:
    given = arrays(x_val=np.full((3, 8, 8), 7, np.uint8), y_val=[2, 1, 0])
    splits = datasets.load(npz(tmp_path, **given))
    assert splits.shape == (1, 8, 8)
    assert splits.class_names == ("0", "1", "2")
    assert not splits.natural
    assert splits.notes == ()
    for split, name in ((splits.train, "train"), (splits.validation, "val"), (splits.test, "test")):
        np.testing.assert_array_equal(split.pixels[:, 0].numpy(), given[f"x_{name}"])
        np.testing.assert_array_equal(split.labels.numpy(), given[f"y_{name}"])
    ids = np.concatenate(
        [split.ids.numpy() for split in (splits.train, splits.validation, splits.test)]
    )
    np.testing.assert_array_equal(ids, np.arange(39))
    pixels = given["x_train"] / 255
    assert splits.mean == pytest.approx([pixels.mean()])
    assert splits.std == pytest.approx([pixels.std()])


def test_npz_in_colour_puts_channels_first(tmp_path: Path) -> None:
    colour = np.random.default_rng(1).integers(256, size=(30, 8, 8, 3), dtype=np.uint8)
    given = {"x_train": colour, "x_test": colour[:6], "x_val": colour[:1], "y_val": [0]}
    np.testing.assert_array_equal(
        datasets.load(npz(tmp_path, **given)).train.pixels.numpy(), np.moveaxis(colour, 3, 1)
    )


def test_npz_of_attributes(tmp_path: Path) -> None:
    bits = np.array([[number & 1, number >> 1 & 1, number >> 2 & 1] for number in range(30)])
    splits = datasets.load(npz(tmp_path, y_train=bits, y_test=bits[:6].astype(bool)))
    assert splits.task == "attributes"
    assert splits.class_names == ("0", "1", "2")
    assert splits.classes == 3
    assert splits.train.labels.shape == (27, 3)
    assert splits.validation.labels.shape == (3, 3)
    assert splits.train.labels.dtype == torch.int64
    np.testing.assert_array_equal(splits.test.labels.numpy(), bits[:6])
    both = np.concatenate([splits.train.labels.numpy(), splits.validation.labels.numpy()])
    np.testing.assert_array_equal(both.sum(axis=0), bits.sum(axis=0))
    assert tells(refusal(npz(tmp_path, y_train=bits)), "y_test", "[6]", "y_train", "[30, 3]")
    assert tells(refusal(npz(tmp_path, y_train=2 * bits)), "y_train", "0 and 1", "[n, attributes]")


def test_npz_without_validation_holds_out_a_tenth_of_each_class(tmp_path: Path) -> None:
    splits = datasets.load(npz(tmp_path))
    assert [len(split) for split in (splits.train, splits.validation, splits.test)] == [27, 3, 6]
    assert splits.validation.labels.bincount().tolist() == [1, 1, 1]
    (note,) = splits.notes
    assert tells(note, "validation", "3 of 30 training images")


def test_npz_holds_out_whole_persons(tmp_path: Path) -> None:
    splits = datasets.load(
        npz(tmp_path, identity_train=np.arange(30) // 3, identity_test=np.arange(6) + 100)
    )
    assert splits.train.identities is not None
    assert splits.validation.identities is not None
    assert splits.test.identities is not None
    assert len(splits.validation) == 3
    assert set(splits.validation.identities.tolist()).isdisjoint(splits.train.identities.tolist())
    assert splits.test.identities.tolist() == [100, 101, 102, 103, 104, 105]


def test_no_class_leaves_training_with_what_is_held_out(tmp_path: Path) -> None:
    persons = {"identity_train": np.arange(30) // 3, "identity_test": np.arange(6) + 100}
    held = datasets.load(npz(tmp_path, **persons)).validation.identities
    assert held is not None
    labels = np.arange(30) % 2
    labels[persons["identity_train"] == int(held[0])] = 2
    assert tells(refusal(npz(tmp_path, y_train=labels, **persons)), "class 2", "x_val", "persons")
    two = {"x_train": np.zeros((2, 8, 8), np.uint8), "y_train": [0, 1], "y_test": np.zeros(6, int)}
    assert tells(refusal(npz(tmp_path, **two)), "class", "x_val", "images")
    given = npz(tmp_path, x_val=two["x_train"], y_val=two["y_train"], **two)
    assert sorted(datasets.load(given).train.labels.tolist()) == [0, 1]


def test_duplicates_between_train_and_test_are_counted(tmp_path: Path) -> None:
    given = arrays()
    given["x_test"][:2] = given["x_train"][0]
    given |= {"x_val": given["x_train"][5:6].copy(), "y_val": np.array([0])}
    validation, test = datasets.load(npz(tmp_path, **given)).notes
    assert tells(validation, "1 of 1 validation image", "training image")
    assert tells(test, "2 of 6 test images", "training image")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"y_test": None}, "lacks y_test; it holds x_test, x_train, y_train"),
        (
            {"x_train": np.zeros((30, 8, 8))},
            (
                "x_train must be uint8, pixels from 0 to 255, but it is float64. Multiply by 255 "
                "and round."
            ),
        ),
        (
            {"x_train": np.zeros((30, 64), np.uint8)},
            "x_train must have shape [n, h, w] or [n, h, w, c], but has [30, 64].",
        ),
        (
            {"x_train": np.zeros((30, 3, 8, 8), np.uint8)},
            "It looks like [n, c, h, w]; use x.transpose(0, 2, 3, 1).",
        ),
        (
            {"x_train": np.zeros((30, 8, 6), np.uint8)},
            "images must be square, but those of x_train are 8 by 6 pixels.",
        ),
        (
            {"x_test": np.zeros((6, 9, 9), np.uint8)},
            "test images are 9 by 9 pixels with 1 channel, but training images are 8 by 8",
        ),
        ({"y_train": np.zeros(29, int)}, "x_train has 30 entries and y_train 29."),
        (
            {"y_train": np.arange(30) % 3 * 1.0},
            "y_train must be integers [n], or 0 and 1 [n, attributes], but is float64 [30].",
        ),
        ({"y_train": np.arange(30) % 3 - 1}, "y_train must count classes from 0, but holds -1."),
        (
            {"y_train": np.arange(30) % 3 * 2},
            "y_train must use every class from 0 to 4, but no image has label 1.",
        ),
        (
            {"y_train": np.zeros(30, int), "y_test": np.zeros(6, int)},
            "y_train holds one class only.",
        ),
        ({"y_test": np.arange(6)}, "y_test holds label 5, but training knows only 0 to 2."),
        (
            {"y_train": np.eye(3, dtype=int)[np.arange(30) % 3]},
            "with a single 1 in each row, which are one-hot classes and no attributes.",
        ),
        (
            {"x_val": np.zeros((2, 8, 8), np.uint8)},
            "has x_val without y_val. Give both or neither.",
        ),
        ({"identity_train": np.arange(29)}, "x_train has 30 entries and identity_train 29."),
        ({"identity_test": np.arange(6)}, "gives identities, but none for the training images."),
        (
            {"identity_train": np.zeros(30, int), "identity_test": np.ones(6, int)},
            "30 training images are too few to hold a tenth out",
        ),
        ({"y_train": np.array([object()] * 30)}, "which would have to be unpickled; that is never"),
    ],
)
def test_refusals_of_npz_in_words_name_the_rule_the_value_and_a_way_out(
    tmp_path: Path, changes: dict[str, object], sentence: str
) -> None:
    """The one place where whole sentences of this loader stand."""
    assert sentence in refusal(npz(tmp_path, **changes))


def test_npz_without_a_file_or_path(tmp_path: Path) -> None:
    assert "There is no file at" in refusal(f"npz:{tmp_path / 'nowhere.npz'}")
    assert "npz needs a path: npz:PATH." in refusal("npz")
    assert "digits takes no path" in refusal("digits:somewhere")


def test_npz_of_another_kind_or_damaged(tmp_path: Path) -> None:
    path = tmp_path / "mine.npz"
    path.write_bytes(b"not a zip file at all")
    assert "is not an npz file" in refusal(f"npz:{path}")
    np.save(tmp_path / "one.npy", np.zeros(3))
    assert "is not an npz file" in refusal(f"npz:{tmp_path / 'one.npy'}")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    assert "lacks x_train, y_train, x_test, y_test" in refusal(f"npz:{path}")
    npz(tmp_path)
    content = bytearray(path.read_bytes())
    content[200:400] = b"\0" * 200
    path.write_bytes(content)
    assert "x_train is damaged" in refusal(f"npz:{path}")
    path.write_bytes(bytes(content[: len(content) // 2]))
    assert "is not an npz file" in refusal(f"npz:{path}")


def test_npz_that_unpacks_to_more_than_there_is_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """300 MB of black images in 300 kB, on a machine that has 500 MB left."""
    name = npz(tmp_path, x_train=np.broadcast_to(np.zeros(1, np.uint8), (30, 3200, 3200)))
    assert (tmp_path / "mine.npz").stat().st_size < 1e6
    monkeypatch.setattr("mucore.datasets.own.free_memory", lambda: 5e8)
    monkeypatch.setattr(np, "load", lambda *given, **_: pytest.fail("it was unpacked"))
    assert tells(refusal(name), "0.3", "0.9", "0.5")


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    before = datasets.load(npz(tmp_path))
    assert datasets.load(npz(tmp_path)) is before
    after = datasets.load(npz(tmp_path, x_test=np.zeros((6, 8, 8), np.uint8)))
    assert after.test.pixels.sum() == 0 and after.data_hash != before.data_hash


# -- folder


def test_folder_reads_classes_by_name_and_colour(tmp_path: Path) -> None:
    splits = datasets.load(pictures(tmp_path, splits=("train", "test", "val")))
    assert splits.class_names == ("cat", "dog")
    assert splits.shape == (3, 8, 8)
    assert splits.natural
    assert splits.notes == ()
    assert [len(split) for split in (splits.train, splits.validation, splits.test)] == [20, 4, 4]
    assert splits.train.labels.tolist() == [0] * 10 + [1] * 10
    assert splits.test.pixels[:, 0, 0, 0].tolist() == [13, 33, 3, 23]
    assert splits.validation.pixels[:, 0, 0, 0].tolist() == [16, 36, 6, 26]
    assert splits.test.pixels[:, 2].min() == 255


def test_folder_of_grey_images_has_one_channel(tmp_path: Path) -> None:
    assert datasets.load(pictures(tmp_path, mode="L")).shape == (1, 8, 8)


def test_folder_of_grey_images_with_one_in_colour_is_colour(tmp_path: Path) -> None:
    name = pictures(tmp_path, mode="L")
    Image.new("RGB", (8, 8), (1, 2, 3)).save(tmp_path / "test" / "dog" / "0.png")
    splits = datasets.load(name)
    assert splits.shape == (3, 8, 8) and splits.test.pixels[2, :, 0, 0].tolist() == [1, 2, 3]


def test_folder_scales_16_bits_to_8(tmp_path: Path) -> None:
    name = pictures(tmp_path, mode="L")
    Image.fromarray(np.full((8, 8), 40_000, np.uint16)).save(tmp_path / "test" / "cat" / "0.png")
    assert datasets.load(name).test.pixels[0].unique().tolist() == [40_000 >> 8]


def test_folder_with_identities(tmp_path: Path) -> None:
    name = pictures(tmp_path)
    rows = [
        f"{file.relative_to(tmp_path).as_posix()},p{file.stem}"
        for file in sorted(tmp_path.rglob("*.png"))
    ]
    (tmp_path / "identities.csv").write_text("\n".join(["file,identity", *rows]))
    splits = datasets.load(name)
    assert splits.test.identities is not None
    assert splits.train.identities is not None
    assert splits.validation.identities is not None
    assert splits.test.identities.tolist() == [0, 1, 0, 1]
    assert len(splits.validation) == 2
    assert set(splits.validation.identities.tolist()).isdisjoint(splits.train.identities.tolist())


def test_identities_by_names_that_one_image_alone_has(tmp_path: Path) -> None:
    name, rows = pictures(tmp_path), []
    for number, file in enumerate(sorted(tmp_path.rglob("*.png"))):
        file.rename(file.with_name(f"{number}.png"))
        rows.append(f"{number}.png,p{number % 12:02}")
    (tmp_path / "identities.csv").write_text("\n".join(["file,identity", *rows]))
    found = datasets.load(name).test.identities
    assert found is not None and found.tolist() == [0, 1, 2, 3]


def test_folder_that_cannot_be_used(tmp_path: Path) -> None:
    name = f"folder:{tmp_path}"
    assert "has no folder train" in refusal(name)
    (tmp_path / "train" / "cat").mkdir(parents=True)
    assert "has no folder test" in refusal(name)
    (tmp_path / "test").mkdir()
    assert tells(refusal(name), "train", "1 class folder", "2")
    (tmp_path / "train" / "dog").mkdir()
    assert tells(refusal(name), "cat", "no image")
    assert "There is no folder at" in refusal(f"folder:{tmp_path / 'nowhere'}")


def test_refusals_of_a_folder_in_words_name_the_rule_the_value_and_a_way_out(
    tmp_path: Path,
) -> None:
    """The one place where whole sentences of this loader stand."""
    name = pictures(tmp_path)
    (tmp_path / "test" / "horse").mkdir()
    assert "horse is a class that train/ does not have. Training knows cat, dog." in refusal(name)
    (tmp_path / "test" / "horse").rmdir()
    for file in (tmp_path / "train" / "cat").iterdir():
        file.unlink()
    assert "cat holds no image. Put images there" in refusal(name)


def test_folder_with_bad_images(tmp_path: Path) -> None:
    name = pictures(tmp_path)
    target = tmp_path / "train" / "dog" / "5.png"
    whole = target.read_bytes()
    target.write_bytes(b"no image")
    assert tells(refusal(name), "5.png", "not an image")
    target.write_bytes(whole[:-30])
    assert "5.png is damaged" in refusal(name)
    Image.new("RGB", (9, 8)).save(target)
    assert tells(refusal(name), "5.png", "9 by 8", "8 by 8")
    Image.new("L", (5000, 1)).save(target)
    assert tells(refusal(name), "5.png", "5000 by 1", "4096")
    target.write_bytes(whole)
    for file in (tmp_path / "test" / "cat").iterdir():
        Image.new("RGB", (6, 6)).save(file)
    for file in (tmp_path / "test" / "dog").iterdir():
        Image.new("RGB", (6, 6)).save(file)
    assert tells(refusal(name), "test", "6 by 6", "3 channels", "training", "8 by 8")


def test_folder_of_oblong_images(tmp_path: Path) -> None:
    assert tells(refusal(pictures(tmp_path, size=(10, 8))), "square")


@pytest.mark.parametrize(
    ("content", "facts"),
    [
        (b"name,person\n", ("file and identity", "name, person")),
        (b"", ("file and identity", "none")),
        (b"file,identity\n0.png,a\n0.png,b\n", ("0.png", "more than once")),
        (b"file,identity\ntrain/cat/0.png,a\n", ("no row", "train/cat/1.png")),
        (b"file,identity\n0.png,a\n", ("0.png", "4 images", "train/CLASS/0.png")),
        (b"file,identity\ntrain/cat/0.png,\n", ("without an identity", "train/cat/0.png")),
        (b"file,identity\ntrain/cat/0.png\n", ("without an identity", "train/cat/0.png")),
        (b"file,identity\n,anna\n", ("without a file", "anna")),
        (b"file,identity\n\xff\xfe,a\n", ("not a readable CSV",)),
    ],
)
def test_folder_with_bad_identities(tmp_path: Path, content: bytes, facts: tuple[str, ...]) -> None:
    name = pictures(tmp_path)
    (tmp_path / "identities.csv").write_bytes(content)
    assert tells(refusal(name), "identities.csv", *facts)


# -- hash


def test_data_hash_is_of_content_not_of_place(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    first, second = userdata.data_hash(pictures(one)), userdata.data_hash(pictures(two))
    assert first == second and len(first) == 64
    (two / "notes.txt").write_text("no image, so it does not count")
    assert userdata.data_hash(f"folder:{two}") == first
    (two / "train" / "dog" / "0.png").rename(two / "train" / "cat" / "x.png")
    assert userdata.data_hash(f"folder:{two}") != first
    assert userdata.data_hash("digits") == ""


def test_what_the_loader_reads_counts_and_nothing_else(tmp_path: Path) -> None:
    name = pictures(tmp_path)
    first = userdata.data_hash(name)
    deep = tmp_path / "train" / "dog" / "more"
    deep.mkdir()
    Image.new("RGB", (8, 8)).save(deep / "x.png")
    Image.new("RGB", (8, 8)).save(tmp_path / "cover.png")
    assert len(datasets.load(name).train) == 18  # nine tenths of twenty
    assert userdata.data_hash(name) == first


def linked(folder: Path, images: Path) -> str:
    """A data set whose class folders and one image are links into `images`."""
    for split in ("train", "test"):
        (folder / split).mkdir(parents=True)
        (folder / split / "cat").symlink_to(images / split / "cat")
        (folder / split / "dog").mkdir()
        for image in (images / split / "dog").iterdir():
            (folder / split / "dog" / image.name).symlink_to(image)
    return f"folder:{folder}"


def test_linked_classes_count_with_their_content(tmp_path: Path) -> None:
    """Two data sets of links once had one hash, and the results of the first were the second's."""
    plain = pictures(tmp_path / "images")
    name = linked(tmp_path / "links", tmp_path / "images")
    assert userdata.data_hash(name) == userdata.data_hash(plain)
    before = datasets.load(name).train.pixels.clone()
    changed = tmp_path / "images" / "train" / "cat" / "3.png"
    Image.new("RGB", (8, 8), (1, 2, 3)).save(changed)
    assert userdata.data_hash(name) == userdata.data_hash(plain)
    assert not torch.equal(datasets.load(name).train.pixels, before)


@pytest.mark.parametrize(
    ("what", "target"), [("train/loop", "itself"), ("val", ".."), ("train/dog/x.png", "nowhere")]
)
def test_links_that_lead_back_or_nowhere(tmp_path: Path, what: str, target: str) -> None:
    name = pictures(tmp_path / "set")
    link = tmp_path / "set" / what
    link.symlink_to(link.name if target == "itself" else target)
    assert tells(refusal(name), link.name, "link")
    with pytest.raises(BadFile):
        userdata.data_hash(name)
