"""A user's own data, in every form that people have them: images that carry their row in their
pixels come out right, or the data are refused by name, at every door alike.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from facts import tells
from PIL import Image

from dashboard.widgets import own_files
from mucore import cli, datasets
from mucore.datasets import Splits
from mucore.errors import BadFile, MucoreError
from mucore.runs import make_recipe
from mucore.userfiles import datasets as userdata
from mucore.userfiles import images
from mucore.userfiles.sizes import size_of

CLASSES = ("2", "10", "fox")  # in their order
TRAIN, ALL = range(30), range(42)
CORNERS = (250, 10, 130)
PLAN = "--model mlp --preset quick --scenario all_classes --budget 3 --methods finetune".split()


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path_factory.mktemp("home")))


def picture(row: int, scale: int = 1) -> np.ndarray:
    """16 by 16 grey pixels in four squares, the first of which has the row. JPEG keeps them."""
    tile = np.ones((8 * scale, 8 * scale), np.uint8)
    return np.kron(np.array([[4 * row, CORNERS[0]], CORNERS[1:]], np.uint8), tile)


def right(splits: Splits, *, rows: Any = ALL) -> None:
    """Every image is as it was painted, of its class, and named by its row or its file."""
    found: list[int] = []
    for split in (splits.train, splits.validation, splits.test):
        places = split.pixels[:, 0, [4, 4, 12, 12], [4, 12, 4, 12]].numpy()
        assert (places[:, 1:] == CORNERS).all()
        mine = (places[:, 0] // 4).tolist()
        assert [splits.class_names[label] for label in split.labels] == [
            CLASSES[row % 3] for row in mine
        ]
        if files := split.source.files:
            assert [int(Path(files[row]).stem) for row in split.rows] == mine
        found += mine
    assert sorted(found) == list(rows)
    assert splits.class_names == CLASSES


def everywhere(name: str, capsys: pytest.CaptureFixture[str], *, planned: bool = True) -> str:
    """The one sentence with which data are refused: by loading them, by a plan where heads tell it,
    and by what Launch reads.
    """
    with pytest.raises(MucoreError) as caught:
        datasets.load(name)
    sentence = str(caught.value)
    assert re.search(r"[.]$", sentence)
    with pytest.raises(MucoreError) as caught:
        own_files.facts_of(name, make_recipe("quick"))
    assert str(caught.value) == sentence
    assert cli.main(["plan", "--dataset", name, *PLAN]) == (2 if planned else 0)
    assert (sentence in capsys.readouterr().err) == planned
    return sentence


# -- npz

N, M = len(TRAIN), len(ALL)
X, Y = np.stack([picture(row) for row in ALL]), np.arange(M) % 3
WORDS = np.array(CLASSES)[Y]


def arrays(x: Any = X, y: Any = WORDS, **changes: Any) -> dict[str, np.ndarray]:
    """Training, then test; a change of None removes an array."""
    content = {"x_train": x[:N], "y_train": y[:N], "x_test": x[N:], "y_test": y[N:]} | changes
    return {key: np.asarray(value) for key, value in content.items() if value is not None}


def npz(folder: Path, given: dict[str, np.ndarray]) -> str:
    folder.mkdir(exist_ok=True)
    np.savez_compressed(folder / "mine.npz", **given)  # ty: ignore[invalid-argument-type]
    return f"npz:{folder / 'mine.npz'}"


NPZ: dict[str, dict[str, np.ndarray]] = {
    "text labels": arrays(),
    "a column of text": arrays(y=WORDS[:, None]),
    "colour": arrays(x=np.repeat(X[..., None], 3, axis=3)),
    "one channel": arrays(x=X[..., None]),
    "Fortran's order": arrays(x=np.asfortranarray(X)),
    "validation": arrays(x_train=X[:24], y_train=WORDS[:24], x_val=X[24:30], y_val=WORDS[24:30]),
    **{f"fractions, {kind}": arrays(x=(X / 255).astype(kind)) for kind in ("f2", "f4", "f8")},
    "fractions for training alone": arrays(x_train=X[:N] / 255),
}


@pytest.mark.parametrize("what", NPZ)
def test_arrays_come_out_right(what: str, tmp_path: Path) -> None:
    name = npz(tmp_path, NPZ[what])
    splits = datasets.load(name)
    right(splits)
    assert splits.train.rows.tolist() == (splits.train.pixels[:, 0, 4, 4] // 4).tolist()
    assert tells(" ".join(splits.notes), "3 of 30 training images") == (what != "validation")
    assert not splits.natural and userdata.class_names(name) == CLASSES
    pixels = splits.train.pixels.numpy() / 255
    assert splits.mean == pytest.approx(pixels.mean(axis=(0, 2, 3)))
    assert splits.std == pytest.approx(pixels.std(axis=(0, 2, 3)))
    size = size_of(name)
    assert size is not None and size.shape == splits.shape and size.classes == 3
    assert (size.train, size.validation, size.test) == tuple(
        len(getattr(splits, part)) for part in ("train", "validation", "test")
    )


@pytest.mark.parametrize(
    ("y", "names"),
    [
        (Y, "012"),
        (Y[:, None], "012"),
        (Y.astype(">i4"), "012"),
        (Y[:, None] > 0, "01"),
        ((Y > 0).astype(np.uint8)[:, None], "01"),
    ],
)
def test_labels_by_number_are_classes_one_column_of_them_too(
    y: np.ndarray, names: str, tmp_path: Path
) -> None:
    name = npz(tmp_path, arrays(y=y))
    splits = datasets.load(name)
    assert splits.task == userdata.task_of(name) == "classes"
    assert splits.class_names == tuple(names)
    assert splits.test.labels.tolist() == y[N:].astype(int).ravel().tolist()


def test_attributes_keep_their_proportions(tmp_path: Path) -> None:
    bits = np.array([[number & 1, number >> 1 & 1, number >> 2 & 1] for number in ALL])
    name = npz(tmp_path, arrays(y=bits, y_test=bits[N:].astype(bool)))
    splits = datasets.load(name)
    assert splits.task == userdata.task_of(name) == "attributes"
    assert splits.class_names == ("0", "1", "2") and splits.train.labels.shape == (27, 3)
    np.testing.assert_array_equal(splits.test.labels.numpy(), bits[N:])
    both = np.concatenate([splits.train.labels.numpy(), splits.validation.labels.numpy()])
    np.testing.assert_array_equal(both.sum(axis=0), bits[:N].sum(axis=0))


EYE = np.eye(3, dtype=int)[Y]
NO_ARRAYS: dict[str, tuple[dict[str, np.ndarray], tuple[object, ...]]] = {
    "no labels": (arrays(y_test=None), ("lacks y_test", "x_test, x_train, y_train")),
    "two scales": (arrays(x_test=X[N:] > 100), ("x_test", "bool")),
    "0 to 255 and 0 to 1": (
        arrays(x_test=(X[N:] > 100).astype(np.uint8)),
        ("one scale", "250 in x_train", "1 in x_test"),
    ),
    "cut to nothing": (arrays(x=0 * X), ("several grey levels", "0 in x_train")),
    "resized fractions": (arrays(x=X / 255 + 0.001), ("x_train", "k/255", "round")),
    "not a number": (arrays(x=np.where(X == 250, np.nan, X / 255)), ("x_train holds nan",)),
    "int64": (arrays(x=X.astype(int)), ("x_train must be", "uint8", "int64")),
    "flat": (arrays(x=X.reshape(M, -1)), ("[n, h, w]", "[30, 256]")),
    "channels first": (
        arrays(x=np.repeat(X[:, None], 3, axis=1)),
        ("1 or 3 channels last", "[30, 3, 16, 16]"),
    ),
    "oblong": (arrays(x=X[:, :, :12]), ("square", "[30, 16, 12]")),
    "other sizes": (arrays(x_test=X[N:, :8, :8]), ("x_test", "[12, 8, 8]", "[30, 16, 16]")),
    "none": (arrays(x_test=X[:0], y_test=Y[:0]), ("x_test must be", "[0, 16, 16]")),
    "too few labels": (arrays(y_train=WORDS[:29]), ("y_train is", "[29]", "x_train, [30, 16, 16]")),
    "objects": (arrays(y=WORDS.astype(object)), ("y_train", "never unpickled")),
    "half labels": (arrays(y=Y / 2), ("y_train must be integers or text", "float64 [30]")),
    "words and numbers": (arrays(y_test=Y[N:]), ("y_test is int64", "y_train, <U3")),
    "gaps": (arrays(y=2 * Y), ("3 labels are 0 to 4", "return_inverse")),
    "one class": (arrays(y=0 * Y), ("at least 2", "1 labels")),
    "unseen": (arrays(y_train=Y[:N], y_test=Y[N:] + 1), ("y_test holds labels up to 3", "0 to 2")),
    "an unseen word": (arrays(y_test=np.full(12, "cat")), ("y_test holds 'cat'", "2, 10, fox")),
    "one-hot": (arrays(y=EYE), ("one-hot", "y.argmax(axis=1)")),
    "attributes of 2": (arrays(y=2 * EYE), ("y_train must be 0 and 1",)),
    "half a split": (arrays(x_val=X[:2]), ("x_val needs x_val, y_val",)),
    "persons of the test": (
        arrays(identity_test=np.arange(12)),
        ("identity_test needs", "identity_train"),
    ),
    "persons by name": (arrays(identity_train=WORDS[:N]), ("integers [n]", "<U3 [30]")),
}


@pytest.mark.parametrize("what", NO_ARRAYS)
def test_arrays_are_refused_by_name(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given, facts = NO_ARRAYS[what]
    name = npz(tmp_path, given)
    assert tells(everywhere(name, capsys), "mine.npz", *facts)


def test_npz_of_another_kind_or_damaged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.npz"
    path.write_bytes(b"not a zip file at all")
    assert "is not an npz file" in everywhere(f"npz:{path}", capsys)
    np.save(tmp_path / "one.npy", np.zeros(3))
    assert "is not an npz file" in everywhere(f"npz:{tmp_path / 'one.npy'}", capsys)
    content = bytearray(Path(npz(tmp_path, arrays())[4:]).read_bytes())
    content[200:400] = b"\0" * 200
    path.write_bytes(content)
    assert "mine.npz" in everywhere(f"npz:{path}", capsys)
    assert "There is no file at" in everywhere(f"npz:{tmp_path / 'nowhere.npz'}", capsys)
    assert "npz needs a path: npz:PATH." in everywhere("npz", capsys)


@pytest.mark.slow
def test_what_the_memory_does_not_hold_is_refused_by_its_head(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """300 MB of black images in 300 kB, and 42 small images to be made large, with 500 MB left."""
    black = np.broadcast_to(np.zeros(1, np.uint8), (M, 3200, 3200))
    name = npz(tmp_path, arrays(x=black, y=Y))
    assert (tmp_path / "mine.npz").stat().st_size < 1e6
    monkeypatch.setattr("mucore.fitting.free_memory", lambda: 5e8)
    monkeypatch.setattr(np, "load", lambda *given, **_: pytest.fail("it was unpacked"))
    assert tells(everywhere(name, capsys), "0.4 GB", "1.3 GB", "0.5 GB")
    tree(tmp_path / "set")
    name = f"folder:{tmp_path / 'set'},size=3200"
    assert tells(everywhere(name, capsys), "0.4 GB", "1.3 GB", "0.5 GB")


def test_whole_persons_are_held_out_and_no_class_goes_with_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    persons = {"identity_train": np.arange(N) // 3, "identity_test": np.arange(12) + 100}
    splits = datasets.load(npz(tmp_path, arrays(**persons)))
    right(splits)
    held, kept = splits.validation.identities, splits.train.identities
    assert held is not None and kept is not None and len(held) == 3
    assert not {*held.tolist()} & {*kept.tolist()}
    labels = np.arange(N) % 2
    labels[persons["identity_train"] == int(held[0])] = 2
    name = npz(tmp_path, arrays(y_train=labels, y_test=Y[N:], **persons))
    sentence = everywhere(name, capsys, planned=False)
    assert tells(sentence, "validation", "10%", "30", "persons")


def test_duplicates_between_train_and_test_are_counted(tmp_path: Path) -> None:
    test, held = X[N:].copy(), X[5:6].copy()
    test[:2] = X[0]
    given = arrays(x_test=test, x_val=held, y_val=WORDS[5:6])
    validation, copies = datasets.load(npz(tmp_path, given)).notes
    assert tells(validation, "training images", "1 of 1 validation")
    assert tells(copies, "training images", "2 of 12 test")


# -- folders and zips


def save(path: Path, image: np.ndarray, **options: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(image).save(path, **options)


def tree(
    folder: Path,
    tops: tuple[str, ...] = ("train/", "", "test/"),
    make: Callable[[int], np.ndarray] = picture,
    suffix: str = "png",
    **options: Any,
) -> None:
    """Rows 0 to 23, 24 to 29 and 30 to 41 in three folders; the second is the first if ""."""
    train, val, test = tops
    for row in ALL:
        top = train if row < 24 else val or train if row < 30 else test
        save(folder / f"{top}{CLASSES[row % 3]}/{row:02}.{suffix}", make(row), **options)


def turned(number: int, row: int) -> np.ndarray:
    """What a camera stores with that orientation of Exif, that we may see the picture."""
    image = picture(row)
    undo = [0, 0, 0, 0, 0, 3, 0, 1][number - 1]
    mirrored = {2: np.fliplr, 4: np.flipud, 5: np.transpose, 7: lambda x: np.rot90(x, 2).T}
    return np.ascontiguousarray(
        np.rot90(image, 2)
        if number == 3
        else mirrored[number](image)
        if number in mirrored
        else np.rot90(image, {6: 1, 8: 3}.get(number, undo))
    )


def exif(number: int) -> Image.Exif:
    made = Image.Exif()
    made[0x112] = number
    return made


def table(folder: Path, rows: list[str], heads: str = "file,label") -> None:
    (folder / "labels.csv").write_text("\n".join([heads, *rows]), "utf-8")


def named(folder: Path, place: str, *, heads: str = "file,label", said: bool = True) -> None:
    """Images in one folder, their classes in a table from the last to the first."""
    rows = []
    for row in ALL:
        file = place.format("train" if row < N else "test") + f"{row}.png"
        save(folder / file, picture(row))
        person = f",p{row // 3:02}" if "person" in heads else ""
        rows.append(f"{file if said else Path(file).name},{CLASSES[row % 3]}{person}")
    table(folder, rows[::-1], heads)


def litter(folder: Path) -> None:
    """What systems and people leave beside images."""
    tree(folder)
    for place in (".DS_Store", "train/2/._00.png", "train/.ipynb_checkpoints/00.png"):
        (folder / place).parent.mkdir(exist_ok=True)
        (folder / place).write_bytes(b"x")
    (folder / "train/readme.txt").write_text("x")
    for place in ("cover.png", "train/2/more/00.png"):
        save(folder / place, picture(60))


def broken(folder: Path) -> None:
    """Row 3 is cut off, row 4 no image; 7 is 100 million pixels and more, 8 of fractions."""
    tree(folder)
    noise = np.random.default_rng(0).integers(0, 256, (16, 16), dtype=np.uint8)
    save(folder / "train/2/03.png", noise)
    content = (folder / "train/2/03.png").read_bytes()
    (folder / "train/2/03.png").write_bytes(content[:-60])
    (folder / "train/10/04.png").write_bytes(b"x")
    Image.new("1", (10_001, 10_000)).save(folder / "train/10/07.png")
    (folder / "train/fox/08.png").unlink()
    save(folder / "train/fox/08.tif", X[0] / np.float32(255))


def wide(row: int) -> np.ndarray:
    """Three times the size, with more at the sides of some."""
    return np.pad(picture(row, 3), ((0, 0), (2 * (row % 5), 2 * (row % 5))))


def deep(row: int) -> np.ndarray:
    return picture(row).astype(np.uint16) * 256 + 7


FOLDERS: dict[str, tuple[Callable[[Path], object], str, tuple[object, ...]]] = {
    "divided": (tree, "", ("validation", "3 of 30")),
    "capitals": (lambda at: tree(at, ("Train/", "VAL/", "Test/")), "", ()),
    "around": (lambda at: tree(at / "my pets/new"), "", ("3 of 30",)),
    "undivided": (lambda at: tree(at, ("", "", "")), "", ("test", "8 of 42", "by class", "seed 0")),
    "no test": (lambda at: tree(at, ("train/", "val/", "train/")), "", ("test", "7 of 36")),
    "16 bits in TIFF": (lambda at: tree(at, suffix="tiff", make=deep), "", ("3 of 30",)),
    **{
        f"turned, {suffix} {number}": (
            lambda at, suffix=suffix, number=number: tree(
                at,
                make=lambda row: turned(number, row),
                suffix=suffix,
                exif=exif(number),
                quality=100,
                lossless=True,
            ),
            "",
            ("3 of 30",),
        )
        for suffix, number in [("jpg", n) for n in (3, 6)] + [("png", 6), ("tif", 6), ("webp", 6)]
    },
    "larger": (lambda at: tree(at, make=wide), ",size=16", ("3 of 30",)),
    "a table": (lambda at: named(at, "images/"), "", ("test", "8 of 42")),
    "a table of names": (lambda at: named(at, "a/b/", said=False), "", ("test", "8 of 42")),
    "a divided table": (lambda at: named(at, "{}/"), "", ("3 of 30",)),
    "a table of persons": (
        lambda at: named(at, "images/", heads="file,label,person"),
        "",
        ("test", "9 of 42", "whole persons"),
    ),
    "litter": (litter, "", ("1 no images (train/readme.txt)", "2 outside", "cover.png")),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", FOLDERS)
def test_images_come_out_right_from_a_folder_and_from_a_zip_of_it(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make, settings, facts = FOLDERS[what]
    folder, archive = tmp_path / "set", tmp_path / "set.zip"
    make(folder)
    with zipfile.ZipFile(archive, "w") as made:
        for file in sorted(folder.rglob("*"), reverse=True):  # as `zip -r` names them
            made.write(file, file.relative_to(tmp_path).as_posix())
    name, again = f"folder:{folder}{settings}", f"folder:{archive}{settings}"
    splits, other = datasets.load(name), datasets.load(again)
    for each in (splits, other):
        right(each)
        assert tells(" ".join(each.notes), *facts) if facts else not each.notes
        assert each.natural and each.shape == (3 if "webp" in what else 1, 16, 16)
    assert splits.train.source.files == other.train.source.files
    assert userdata.data_hash(name) == userdata.data_hash(again)
    size = size_of(name)
    assert size is not None and size.shape == splits.shape and size.classes == 3
    if "persons" not in what:
        assert (size.train, size.validation, size.test) == tuple(
            len(getattr(splits, part)) for part in ("train", "validation", "test")
        )
    assert cli.main(["plan", "--dataset", name, *PLAN]) == 0
    assert tells(capsys.readouterr().err, *facts) or "outside" not in str(facts)
    assert own_files.facts_of(name, make_recipe("quick")) is not None


def test_rows_of_a_table_are_those_of_its_file(tmp_path: Path) -> None:
    named(tmp_path, "images/")
    splits = datasets.load(f"folder:{tmp_path}")
    assert splits.test.source is splits.train.source
    assert splits.train.source.files[0] == "images/41.png"
    for split in (splits.train, splits.validation, splits.test):
        assert (split.pixels[:, 0, 4, 4] // 4).tolist() == (41 - split.rows).tolist()


@pytest.mark.slow
def test_broken_images_are_refused_in_one_report_or_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken(tmp_path)
    name = f"folder:{tmp_path}"
    heads = ("3 broken", "train/10/04.png", "10/07.png", "08.tif")
    sentence = everywhere(name, capsys)
    assert tells(sentence, *heads, ",broken=skip") and "03.png" not in sentence
    for file in ("10/04.png", "10/07.png", "fox/08.tif"):
        (tmp_path / "train" / file).unlink()
    assert tells(everywhere(name, capsys, planned=False), "1 broken", "train/2/03.png")
    broken(tmp_path)
    splits = datasets.load(f"{name},broken=skip")
    right(splits, rows=[row for row in ALL if row not in (3, 4, 7, 8)])
    assert tells(splits.notes[0], "Not read", "4 broken", "04.png", "07.png", "03.png")
    assert userdata.data_hash(f"{name},broken=skip") != userdata.data_hash(name)
    for file in (tmp_path / "train/2").iterdir():
        file.write_bytes(b"x")
    assert tells(everywhere(f"{name},broken=skip", capsys), "no image of class 2")


@pytest.mark.slow
def test_images_of_several_sizes_need_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree(tmp_path)
    name = f"folder:{tmp_path}"
    save(tmp_path / "train/2/00.png", picture(0)[:, :12])
    sentence = everywhere(name, capsys)
    assert tells(sentence, "41 of 16 by 16", "1 of 12 by 16", "train/2/00.png", ",size=12")
    tree(tmp_path, make=lambda row: picture(row)[:, :12])
    assert tells(everywhere(name, capsys), "square", "42 of 12 by 16", ",size=12")
    assert datasets.load(f"{name},size=12").shape == (1, 12, 12)
    for wrong in ("size=0", "size=5000", "size=x", "sise=8", "broken=keep"):
        assert tells(everywhere(f"{name},{wrong}", capsys), ",size=PIXELS", wrong)


def only(folder: Path, *rows: int) -> None:
    for row in rows:
        save(folder / f"{CLASSES[row % 3]}/{row}.png", picture(row))


def extra(folder: Path, content: str) -> None:
    tree(folder)
    (folder / "identities.csv").write_bytes(content.encode("latin-1"))


PERSONS = {
    "name,person\n1,2\n": ("file and identity", "person"),
    "file,identity\ntrain/2/00.png,a\n00.png,b\n": ("00.png", "twice"),
    "file,identity\ntrain/2/00.png,a\n": ("no row", "test/2/30.png"),
    "file,identity\ntrain/2/00.png\n": ("file and identity", "train/2/00.png"),
    "file,identity\n,anna\n": ("file and identity", "anna"),
    "file,identity\n\xff\xfe,a\n": ("cannot be read as CSV",),
}
NO_FOLDERS: dict[str, tuple[Callable[[Path], object], tuple[object, ...]]] = {
    "nothing": (lambda at: at.mkdir(), (2, 0, "labels.csv")),
    "one class": (lambda at: only(at, 0, 3, 6), (2, 0, "labels.csv")),
    "test alone": (lambda at: tree(at, ("test/", "", "test/")), (2, 0, "train/CLASS/")),
    "too few": (lambda at: only(at, 0, 1, 2), ("test", "20%", "3 training images")),
    "an unknown class": (
        lambda at: [tree(at), save(at / "test/horse/1.png", picture(1))],
        ("test/horse/1.png", "class horse", "2, 10, fox"),
    ),
    "val twice": (
        lambda at: [tree(at, ("train/", "val/", "test/")), save(at / "valid/2/0.png", X[0])],
        ("val and valid",),
    ),
    "a label missing": (
        lambda at: [named(at, ""), table(at, ["0.png,2", "1.png,"])],
        ("labels.csv", "file and label", "1.png"),
    ),
    "no label": (
        lambda at: [named(at, ""), table(at, ["0.png,2"], "file,class")],
        ("file and label", "class"),
    ),
    "a row too many": (
        lambda at: [named(at, ""), table(at, [f"{row}.png,{row % 3}" for row in range(43)])],
        ("1 rows of labels.csv without their image", "42.png"),
    ),
    "two of a name": (
        lambda at: [named(at, "a/", said=False), save(at / "b/0.png", X[0])],
        ("labels.csv", "0.png", "several images"),
    ),
    **{
        f"persons {number}": (lambda at, content=content: extra(at, content), facts)
        for number, (content, facts) in enumerate(PERSONS.items())
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("what", NO_FOLDERS)
def test_folders_are_refused_by_name(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make, facts = NO_FOLDERS[what]
    make(tmp_path / "set")
    sentence = everywhere(f"folder:{tmp_path / 'set'}", capsys, planned=what != "too few")
    assert tells(sentence, *facts)
    assert "There is no folder at" in everywhere(f"folder:{tmp_path}/set2", capsys)


@pytest.mark.parametrize("by_name", [False, True])
def test_persons_of_a_table(by_name: bool, tmp_path: Path) -> None:
    tree(tmp_path)
    rows = [
        f"{file.name if by_name else file.relative_to(tmp_path).as_posix()},p{int(file.stem) // 3}"
        for file in tmp_path.rglob("*.png")
    ]
    (tmp_path / "identities.csv").write_text("\n".join(["file,identity", *rows, "old.png,a"]))
    splits = datasets.load(f"folder:{tmp_path}")
    right(splits)
    names = ["a", *sorted(f"p{number}" for number in range(14))]
    for split in (splits.train, splits.validation, splits.test):
        assert split.identities is not None
        assert [names[each] for each in split.identities] == [
            f"p{row // 3}" for row in (split.pixels[:, 0, 4, 4] // 4).tolist()
        ]
    assert len(splits.validation) == 3


# -- archives that nobody means well


def archive(path: Path, more: dict[str, bytes]) -> str:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as made:
        for row in ALL:
            image = io.BytesIO()
            Image.fromarray(picture(row)).save(image, format="PNG")
            made.writestr(f"{CLASSES[row % 3]}/{row}.png", image.getvalue())
        for name, content in more.items():
            made.writestr(name, content, zipfile.ZIP_DEFLATED)
    path.write_bytes(stream.getvalue())
    return f"folder:{path}"


def test_nothing_in_an_archive_becomes_a_path(tmp_path: Path) -> None:
    names = ("../out.png", "2/../../out.png", "/etc/2/out.png", "C:\\out.png")
    name = archive(tmp_path / "x.zip", {each: b"x" for each in names})
    splits = datasets.load(f"{name},broken=skip")
    right(splits)
    assert tells(splits.notes[0], "2 outside", "/etc/2/out.png")
    assert [each.name for each in tmp_path.iterdir()] == ["x.zip"]


@pytest.mark.slow
def test_an_image_that_unpacks_to_more_than_it_may_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(images, "MOST_BYTES", 1_000_000)
    name = archive(tmp_path / "x.zip", {"2/big.png": bytes(60_000_000)})
    assert tells(everywhere(name, capsys), "1 broken", "2/big.png")
    path = tmp_path / "x.zip"  # a directory that says an entry is small
    wide, small = struct.pack("<I", 60_000_000), struct.pack("<I", 100)
    path.write_bytes(path.read_bytes().replace(wide, small))
    assert tells(everywhere(name, capsys), "1 broken", "2/big.png")
    path.write_bytes(path.read_bytes()[:-40])
    assert "is no zip archive" in everywhere(name, capsys)


# -- hash


def test_what_the_loader_reads_counts_and_nothing_else(tmp_path: Path) -> None:
    tree(tmp_path)
    name = f"folder:{tmp_path}"
    first = userdata.data_hash(name)
    (tmp_path / "notes.txt").write_text("no image, so it does not count")
    save(tmp_path / "train/2/more/0.png", picture(0))
    save(tmp_path / "cover.png", picture(0))
    assert userdata.data_hash(name) == first and len(first) == 64
    assert userdata.data_hash(f"{name},size=8") != first
    (tmp_path / "train/2/00.png").rename(tmp_path / "train/10/x.png")
    assert userdata.data_hash(name) != first
    assert userdata.data_hash("digits") == ""
    with pytest.raises(BadFile, match="digits takes no path"):
        datasets.load("digits:somewhere")


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    before = datasets.load(npz(tmp_path, arrays()))
    assert datasets.load(npz(tmp_path, arrays())) is before
    after = datasets.load(npz(tmp_path, arrays(x=X[::-1])))
    assert after.test.pixels[0, 0, 4, 4] == 4 * 11 and after.data_hash != before.data_hash


def test_only_images_that_are_turned_now_have_another_hash(tmp_path: Path) -> None:
    """Exif of the upright image was read as it is now."""
    import hashlib
    import os

    for number in (1, 6):
        folder = tmp_path / str(number)
        tree(folder, suffix="jpg", exif=exif(number))
        digest = hashlib.sha256()
        for inside in sorted(
            (each.relative_to(folder).as_posix() for each in folder.rglob("*.jpg")),
            key=images.order,
        ):
            content = (folder / inside).read_bytes()
            digest.update(os.fsencode(inside) + b"\0" + str(len(content)).encode() + b"\0")
            digest.update(content)
        was_so = userdata.data_hash(f"folder:{folder}") == digest.hexdigest()
        assert was_so == (number == 1)


def test_linked_classes_count_with_their_content(tmp_path: Path) -> None:
    """Two data sets of links once had one hash, and the results of the first were the second's."""
    tree(tmp_path / "images")
    for split in ("train", "test"):
        (tmp_path / "links" / split).mkdir(parents=True)
        for number, name in enumerate(CLASSES):
            here, there = (tmp_path / each / split / name for each in ("links", "images"))
            if number:
                here.symlink_to(there)
            else:
                here.mkdir()
                for image in there.iterdir():
                    (here / image.name).symlink_to(image)
    plain, name = f"folder:{tmp_path / 'images'}", f"folder:{tmp_path / 'links'}"
    right(datasets.load(name))
    assert userdata.data_hash(name) == userdata.data_hash(plain)
    save(tmp_path / "images/train/10/04.png", picture(5))
    assert userdata.data_hash(name) == userdata.data_hash(plain)
    assert 5 * 4 in datasets.load(name).train.pixels[8:, 0, 4, 4]


@pytest.mark.slow
def test_links_that_lead_nowhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree(tmp_path / "set")
    (tmp_path / "set/train/2/x.png").symlink_to("nowhere")
    assert tells(everywhere(f"folder:{tmp_path / 'set'}", capsys), "1 broken", "train/2/x.png")
