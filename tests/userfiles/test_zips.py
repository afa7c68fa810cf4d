"""Archives of class folders: unpacked as data, whatever else is in them refused with a sentence."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mucore.datasets import load
from mucore.errors import BadFile, ReadOnly
from mucore.userfiles import doors, zips


def picture(value: int = 0, side: int = 8, form: str = "PNG") -> bytes:
    stream = io.BytesIO()
    Image.fromarray(np.full((side, side), value, np.uint8)).save(stream, format=form)
    return stream.getvalue()


def archive(files: dict[str, bytes] | list[tuple[Any, bytes]]) -> bytes:
    """The same bytes for the same files: entries bear no time of day."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as made:
        for name, content in files.items() if isinstance(files, dict) else files:
            entry = name if isinstance(name, zipfile.ZipInfo) else zipfile.ZipInfo(name)
            made.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def pets(around: str = "", count: int = 10) -> dict[str, bytes]:
    return {
        f"{around}{name}/{number}.png": picture(10 * number + shift)
        for shift, name in enumerate(("cats", "dogs"))
        for number in range(count)
    }


def tree(folder: Path) -> list[str]:
    return sorted(
        each.relative_to(folder).as_posix() for each in folder.rglob("*") if each.is_file()
    )


def test_who_unpacks_the_same_at_once_gets_what_the_other_made(tmp_path, monkeypatch):
    write = zips._write

    def both(opened, images, folder):
        write(opened, images, folder)
        if not [each for each in tmp_path.iterdir() if each != folder]:
            zips.unpack(archive(pets()), tmp_path)

    monkeypatch.setattr(zips, "_write", both)
    place = zips.unpack(archive(pets()), tmp_path)
    assert len(tree(place)) == 20 and list(tmp_path.iterdir()) == [place]


@pytest.mark.parametrize("around", ["", "pets/", "a/b/"])
def test_class_folders_alone_are_divided_by_content(around, tmp_path):
    place = zips.unpack(archive(pets(around)), tmp_path)
    assert len(tree(place)) == 20
    splits = load(f"folder:{place}")
    assert splits.class_names == ("cats", "dogs") and len(splits.test) == 4
    # other names for the same images: the same are for testing
    other = {name.replace("/", "/x"): content for name, content in pets().items()}
    again = load(f"folder:{zips.unpack(archive(other), tmp_path)}")
    assert sorted(again.test.pixels.flatten(1)[:, 0].tolist()) == sorted(
        splits.test.pixels.flatten(1)[:, 0].tolist()
    )


def test_given_splits_stay_and_what_systems_add_goes(tmp_path):
    files = pets("train/") | pets("test/", 3) | {f"__MACOSX/{n}": b"x" for n in pets()}
    files |= {"train/cats/.DS_Store": b"x", "train/cats/readme.txt": b"x"}
    place = zips.unpack(archive(files), tmp_path)
    assert len(tree(place)) == 26 and len(load(f"folder:{place}").test) == 6
    assert zips.unpack(archive(files), tmp_path) == place
    assert [each.name for each in tmp_path.iterdir()] == [place.name]


def link(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry


def bomb() -> bytes:
    """An image of a gigabyte of nothing, which is a megabyte here."""
    return archive({**pets(), "cats/big.png": bytes(60_000_000)})


def lying() -> bytes:
    """A directory that says an entry is small."""
    content = bytearray(bomb())
    return bytes(content.replace(struct.pack("<I", 60_000_000), struct.pack("<I", 100)))


def noise() -> bytes:
    stream = io.BytesIO()
    pixels = np.random.default_rng(0).integers(0, 256, (64, 64), dtype=np.uint8)
    Image.fromarray(pixels).save(stream, format="PNG")
    return stream.getvalue()


def wide() -> bytes:
    stream = io.BytesIO()
    Image.new("1", (20_000, 10)).save(stream, format="PNG")
    return archive({**pets(), "cats/wide.png": stream.getvalue()})


NAMES = ["../out.png", "cats/../../out.png", "/tmp/out.png", "C:/out.png", "a\\..\\x.png/x.png"]
NAMES += ["cats/\x07.png", "con/1.png", f"{'x' * 300}/1.png"]
HOSTILE: dict[str, tuple[Any, str]] = {
    **{name: (lambda name=name: archive({**pets(), name: picture()}), "no name") for name in NAMES},
    "a link": (lambda: archive([*pets().items(), (link("cats/x.png"), b"/etc/x")]), "link"),
    "a bomb": (bomb, "holds more"),
    "a bomb that lies": (lying, "cannot be read|unpacks"),
    "a wide image": (wide, "20000 by 10 pixels"),
    "no image": (lambda: archive({**pets(), "cats/none.png": b"no image"}), "none.png"),
    "half an image": (lambda: archive({**pets(), "cats/half.png": noise()[:900]}), "half.png"),
    "deeper": (lambda: archive({**pets(), "cats/more/1.png": picture()}), "elsewhere"),
    "beside": (lambda: archive({**pets(), "1.png": picture()}), "elsewhere"),
    "few": (lambda: archive(pets(count=4)), "5 are needed"),
    "persons": (
        lambda: archive({**pets("train/"), "identities.csv": b"file,identity\n"}),
        "by its path",
    ),
    "nothing": (lambda: archive({}), "no image"),
    "no archive": (lambda: b"PK\x03\x04 torn", "cannot be read"),
    "half an archive": (lambda: archive(pets())[:-40], "cannot be read"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_nobody_means_well_is_a_sentence_and_leaves_nothing(what, tmp_path):
    home = tmp_path / "home" / "uploads"
    make, says = HOSTILE[what]
    with pytest.raises(BadFile, match=says):
        zips.unpack(make(), home)
    assert not [each for each in tmp_path.rglob("*") if each.is_file()]


def test_broken_images_are_named(tmp_path):
    files = pets() | {f"cats/none{number}.png": b"x" for number in range(7)}
    with pytest.raises(BadFile) as raised:
        zips.unpack(archive(files), tmp_path)
    told = str(raised.value)
    assert told.count("none") == zips.MOST_NAMED and "2 more" in told


def test_many_small_images_are_too_many(tmp_path, monkeypatch):
    monkeypatch.setattr(zips, "MOST_IMAGES", 15)
    with pytest.raises(BadFile, match="15 images"):
        zips.unpack(archive(pets()), tmp_path)
    monkeypatch.setattr(zips, "MOST_BYTES", 1000)
    with pytest.raises(BadFile):
        zips.unpack(archive(pets()), tmp_path)


def test_who_only_reads_unpacks_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(doors, "_why_closed", lambda: "Closed here.")
    with pytest.raises(ReadOnly):
        zips.unpack(archive(pets()), tmp_path)
    assert not list(tmp_path.iterdir())
