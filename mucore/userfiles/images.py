"""The images of `folder:PATH`, a folder or a zip archive: which are read, of which split, class and
person, and one report of all the others. Seen without torch. Nothing in an archive becomes a path.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
import re
import warnings
import zipfile
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, NamedTuple

from mucore.errors import BadFile, said
from mucore.fitting import check_fits

SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".webp", ".gif", ".tif", ".tiff"})
SPLITS = {"train": "train", "val": "val", "valid": "val", "validation": "val", "test": "test"}
LABELS, IDENTITIES = "labels.csv", "identities.csv"
FORM = (
    "Images lie in train/CLASS/ and test/CLASS/, in CLASS/ alone, or are named in labels.csv with "
    "the columns file and label."
)
MOST_BYTES = 400_000_000  # of one file, more than its pixels may be
MOST_PIXELS = 100_000_000  # of one image
NAMED = 3  # files of a kind that a report names
DIGITS = 20  # of a class that is a number
UNREADABLE = "broken, too large or no images"
# Modes of Pillow without colour. Of "F" nobody knows the range.
GREY = ("1", "L", "LA", "I", "I;16", "I;16B", "I;16L")
_ORIENTED = (b"Exif", b"EXIF", b"eXIf", b"tiff:Orientation")  # what an image says it with
_ORIENTATION = 0x112
_HIDDEN = re.compile(r"(^|/)(\.|__MACOSX(/|$))")  # the machine's, not the data's
_WHOLE = re.compile(r"[0-9]{1,20}")


@dataclass(frozen=True)
class Report:
    """Files that are not read, by what they are: `skipped` are none of the data set, `broken`
    should be.
    """

    skipped: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    broken: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def refuse(self, path: Path, skip: bool) -> None:
        """Raise `BadFile` where anything is broken, unless that may be left out."""
        if self.broken and not skip:
            raise BadFile(
                f"{path} has files that cannot be used: {_told(self.broken)}. Replace them, or "
                "leave them out: write ,broken=skip behind the path."
            )

    @property
    def sentences(self) -> list[str]:
        told = _told({**self.skipped, **self.broken})
        return [f"Not read: {told}."] if told else []


def _told(found: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(
        f"{len(names):,} {what} ({', '.join(sorted(names)[:NAMED])}"
        + (", ...)" if len(names) > NAMED else ")")
        for what, names in found.items()
        if names
    )


class Image(NamedTuple):
    """A file by its path in the data set; its class and its person by number."""

    file: str
    split: str
    label: int
    person: int | None


@dataclass(frozen=True)
class Listing:
    """What is read: images in the order of rows, and the tables about them. Images have `side`
    pixels a side and `channels` once their heads were looked at.
    """

    place: Place
    images: list[Image]
    class_names: tuple[str, ...]
    tables: list[str]
    persons: tuple[str, ...] = ()  # by number
    side: int = 0
    channels: int = 0

    def of(self, split: str) -> list[Image]:
        return [image for image in self.images if image.split == split]


class Place:
    """The files of a folder or a zip archive by their path in it, without hidden ones. One folder
    around everything, `base`, is passed over.
    """

    def __init__(self, path: Path):
        self.path, self.report = path, Report()
        self.archive = None if path.is_dir() else _archive(path)
        names = _walked(path) if self.archive is None else self.archive.namelist()
        found = (each for each in names if not (each.endswith("/") or _HIDDEN.search(each)))
        every = sorted(found)
        self.base = _base(every)
        self.files = [file.removeprefix(self.base) for file in every]

    @property
    def paths(self) -> list[Path]:
        return [self.path / self.base / file for file in self.files]

    def open(self, file: str) -> BinaryIO:
        """A stream in which can be sought. Raises `OSError`."""
        if self.archive is None:
            return (self.path / self.base / file).open("rb")
        try:
            with self.archive.open(self.base + file) as stream:
                return io.BytesIO(stream.read(MOST_BYTES + 1))
        except Exception as error:  # zipfile raises a dozen kinds for archives that were damaged
            raise OSError(str(error)) from error


def _walked(folder: Path) -> Iterator[str]:
    """The files in a folder; links are followed."""

    def refuse(error: OSError) -> None:
        raise BadFile(f"{error.filename} cannot be read: {error.strerror}.") from error

    for top, _, files in os.walk(folder, followlinks=True, onerror=refuse):
        inside = Path(top).relative_to(folder)
        yield from ((inside / file).as_posix() for file in files)


def _archive(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except Exception as error:
        raise BadFile(f"{path} is no zip archive ({said(str(error))}). {FORM}") from error


def order(path: str) -> str:
    """What a path is sorted by: folders named by whole numbers with zeros before these."""
    *folders, last = path.split("/")
    numbered = [each.zfill(DIGITS) if _WHOLE.fullmatch(each) else each for each in folders]
    return "/".join([*numbered, last])


def listed(path: Path) -> Listing:
    """What is read of a folder or a zip archive, by names and tables alone. Raises `BadFile`."""
    place = Place(path)
    pictures = [file for file in place.files if Path(file).suffix.lower() in SUFFIXES]
    tables = [name for name in (LABELS, IDENTITIES) if name in place.files]
    place.report.skipped["no images"] += {*place.files} - {*pictures, *tables}
    labels = _rows(place, LABELS, "label", pictures)
    known = {*pictures}
    splits = _splits(path, {file.partition("/")[0] for file in pictures})
    found: dict[str, tuple[str, str]] = {}
    for file in sorted(pictures, key=order) if labels is None else labels:
        if file not in known:
            place.report.broken[f"rows of {LABELS} without their image"].append(file)
            continue
        *folders, _ = file.split("/")
        split = splits.get(folders.pop(0)) if splits and folders else None if splits else "train"
        if split and labels is not None:
            found[file] = split, labels[file]["label"].strip()
        elif split and len(folders) == 1:
            found[file] = split, folders[0]
    why = "outside the folders of classes" if labels is None else f"without a row in {LABELS}"
    place.report.skipped[why] += [file for file in pictures if file not in found]
    names = sorted({name for split, name in found.values() if split == "train"}, key=by_number)
    if len(names) < 2:
        raise BadFile(
            f"At least 2 classes are needed for training, but {path} shows {len(names)}. {FORM}"
        )
    numbers = {name: number for number, name in enumerate(names)}
    if unknown := [file for file, (_, name) in found.items() if name not in numbers]:
        raise BadFile(
            f"{unknown[0]} in {path} is of class {found[unknown[0]][1]}, which training does not "
            f"have. It knows {', '.join(names[:10])}."
        )
    people, persons = _persons(place, labels, found)
    images = [
        Image(file, split, numbers[name], persons.get(file))
        for file, (split, name) in found.items()
    ]
    return Listing(place, images, tuple(names), tables, people)


def by_number(name: str) -> str:
    return order(f"{name}/")


def _base(files: Sequence[str]) -> str:
    """The folders around everything, "" or with a slash at the end."""
    base = ""
    while files:
        tops = {file[len(base) :].partition("/")[0] for file in files}
        top = f"{base}{tops.pop()}/"
        if tops or top[len(base) : -1].lower() in SPLITS or not files[0].startswith(top):
            break
        base = top
    return base


def _splits(path: Path, tops: Iterable[str]) -> dict[str, str]:
    """Split by the name of its folder; none where nobody divided the images."""
    found = {top: SPLITS[top.lower()] for top in tops if top.lower() in SPLITS}
    for split in {*found.values()}:
        if len(names := [top for top in sorted(found) if found[top] == split]) > 1:
            raise BadFile(f"{path} holds {' and '.join(names)}, which mean the same. Keep one.")
    return found


def _rows(
    place: Place, table: str, column: str, images: Iterable[str]
) -> dict[str, dict[str, str]] | None:
    """Rows by image in the order of a table, which names an image by its path or, where one alone
    has it, its name; those of no image by what they say. None without the table.
    """
    if table not in place.files:
        return None
    where = place.path / table
    try:
        with place.open(table) as stream:
            text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
            rows = [*csv.DictReader(text, restval="", restkey="")]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadFile(f"{where} cannot be read as CSV in UTF-8: {error}. Save it anew.") from error
    named = defaultdict(list)
    for file in images:
        named[file].append(file)
        if "/" in file:
            named[file.rpartition("/")[2]].append(file)
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        file = (row.get("file") or "").strip().replace("\\", "/").removeprefix("./")
        if not file or not (row.get(column) or "").strip():
            raise BadFile(
                f"{where} needs the columns file and {column}, filled in every row, but has "
                f"{said(row)}."
            )
        meant = [file] if file in named[file] else named[file]
        if len(meant) > 1 or {*meant, file} & {*found}:
            raise BadFile(
                f"{where} names {file} twice, or several images have that name. Give one row an "
                "image, with its path."
            )
        found[meant[0] if meant else file] = row
    return found


def _persons(
    place: Place, labels: dict[str, dict[str, str]] | None, found: Iterable[str]
) -> tuple[tuple[str, ...], dict[str, int]]:
    """Names in their order, which numbers them, and person by image; none where no table says who
    is on it.
    """
    rows, column = labels, "person"
    if not any("person" in row for row in (rows or {}).values()):
        rows, column = _rows(place, IDENTITIES, "identity", place.files), "identity"
    if rows is None:
        return (), {}
    if missing := [file for file in found if file not in rows]:
        raise BadFile(
            f"{place.path / IDENTITIES} has no row for {missing[0]}. Every image needs one, "
            "or remove the file."
        )
    people = tuple(sorted({row[column].strip() for row in rows.values()}))
    numbers = {person: number for number, person in enumerate(people)}
    return people, {file: numbers[rows[file][column].strip()] for file in found}


def checked(path: Path, side: int, *, skip: bool) -> Listing:
    """What is read, once the head of every image was looked at; cut to `side` pixels a side, 0 for
    what all have. Broken ones are left out where they may be. Raises `BadFile`.
    """
    listing = listed(path)
    report, heads = listing.place.report, {}
    sizes: dict[str, list[str]] = defaultdict(list)
    for image in listing.images:
        try:
            width, height, _ = heads[image] = _head(listing.place, image.file)
            sizes[f"of {width} by {height} pixels"].append(image.file)
        except Exception:  # Pillow raises many kinds for what is no image
            report.broken[UNREADABLE].append(image.file)
    report.refuse(path, skip)
    check_classes(listing, [image.label for image in heads if image.split == "train"])
    least = min(min(head[:2]) for head in heads.values())
    if not side and (len(sizes) > 1 or max(max(head[:2]) for head in heads.values()) > least):
        told = _told(dict(sorted(sizes.items(), key=lambda each: -len(each[1]))[:NAMED]))
        raise BadFile(
            f"Images must be square and of one size, but {path} has {told}. Write a side to which "
            f"all are brought behind the path, such as ,size={least}."
        )
    channels = 3 if any(colour for *_, colour in heads.values()) else 1
    found = replace(listing, images=[*heads], side=side or least, channels=channels)
    check_fits(path, len(heads) * found.channels * found.side**2)
    return found


def check_classes(listing: Listing, labels: Container[int]) -> None:
    """Raise `BadFile` where training has lost a class with what is left out."""
    for number, name in enumerate(listing.class_names):
        if number not in labels:
            raise BadFile(f"{listing.place.path} has no image of class {name} left for training.")


def _head(place: Place, file: str) -> tuple[int, int, bool]:
    """Width and height of an image as it is seen, and whether it has colour. Raises for one that
    may not be read.
    """
    from PIL import Image as Pillow

    with warnings.catch_warnings(), place.open(file) as stream:
        warnings.simplefilter("ignore")  # of sizes, which are looked at here
        with Pillow.open(stream) as image:
            width, height = image.size
            if width * height > MOST_PIXELS or image.mode == "F":
                raise ValueError
            # Pillow decodes a PNG as a whole to look for Exif behind its pixels
            late = image.format == "PNG" and "exif" not in image.info
            if not late and image.getexif().get(_ORIENTATION, 1) in range(5, 9):
                width, height = height, width
            return width, height, image.mode not in GREY


def digest(path: Path) -> hashlib._Hash:
    """SHA-256 of the files that are read, and of which are turned, as once none was."""
    listing = listed(path)
    found, turned = hashlib.sha256(), []
    for file in sorted([*listing.tables, *(each.file for each in listing.images)], key=order):
        content = b""
        with suppress(OSError), listing.place.open(file) as stream:  # reading it says what is wrong
            content = stream.read(MOST_BYTES + 1)
        found.update(os.fsencode(file) + b"\0" + str(len(content)).encode() + b"\0")
        found.update(content)
        if any(mark in content for mark in _ORIENTED) and _is_turned(content):
            turned.append(file)
    if turned:
        found.update("\0".join(["turned", *turned]).encode())
    return found


def _is_turned(content: bytes) -> bool:
    from PIL import Image as Pillow

    try:
        with warnings.catch_warnings(), Pillow.open(io.BytesIO(content)) as image:
            return image.getexif().get(_ORIENTATION, 1) in range(2, 9)
    except Exception:  # reading it says what is wrong
        return False
