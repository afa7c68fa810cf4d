"""The user's own files, seen without torch: where `npz:PATH` and `folder:PATH` point, and a hash of
what is there.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from mucore import catalog
from mucore.catalog.cards import Task
from mucore.errors import BadFile
from mucore.userfiles import doors, paths

CHUNK = 1 << 20
IMAGE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".webp", ".gif"})
GREY = ("1", "L", "I;16", "I", "F", "LA")  # modes of Pillow without colour
IDENTITIES = "identities.csv"
SPLITS = ("train", "val", "test")  # val may be missing
DIGITS = 20  # of a class folder's number
_WHOLE = re.compile(r"[0-9]{1,20}")


def path_of(name: str) -> Path:
    """The path in `npz:PATH` or `folder:PATH`. Raises `BadFile` where there is nothing of that
    kind, `ReadOnly` to who may not name files.
    """
    doors.check()
    kind, _, text = name.partition(":")
    card = catalog.dataset(kind)
    if not card.takes_path:
        raise BadFile(f"{card.id} is a catalogued data set and has no path of its own.")
    if not text:
        raise BadFile(f"{kind} needs a path: {kind}:PATH. {card.where}")
    path = paths.path(text, what=f"The path of {kind}")
    wanted = "file" if kind == "npz" else "folder"
    if paths.kind(path) != wanted:
        raise BadFile(f"There is no {wanted} at {path}. {card.where}")
    return path


def task_of(name: str) -> Task:
    """Whether the labels of a data set are classes or attributes, as far as that is known before it
    is loaded.

    For `npz:PATH` the header of y_train says it, which costs no more than a look at the file. A
    file that cannot be read counts as classes: loading it says what is wrong.
    """
    card = catalog.dataset(name)
    if card.id != "npz":
        return card.task
    from mucore.userfiles import npz  # pages that name no file need no numpy for it

    try:
        header = npz.headers(path_of(name), ["y_train"]).get("y_train")
    except BadFile:
        return "classes"
    return "attributes" if header is not None and len(header.shape) == 2 else "classes"


def class_names(name: str) -> tuple[str, ...]:
    """The names of a data set's classes as far as they are known before it is loaded: the card's,
    those of a folder's classes; none of an npz file, whose classes are numbers.
    """
    card = catalog.dataset(name)
    if card.id != "folder":
        return card.class_names
    return tuple(folder.name for folder in class_folders(path_of(name), "train"))


def data_hash(name: str) -> str:
    """SHA-256 of the content behind `npz:PATH` or `folder:PATH`, "" for a catalogued data set.

    A folder counts with what its loader reads, `files_in`, links with what they lead to; where it
    lies does not matter. Files are streamed. Raises `BadFile`, `UnknownName`.
    """
    card = catalog.dataset(name)
    if not card.takes_path:
        if ":" in name:
            raise BadFile(f"{card.id} takes no path, but got {name!r}. Only npz and folder do.")
        return ""
    path = path_of(name)
    digest = hashlib.sha256()
    try:
        for file in [path] if path.is_file() else files_in(path):
            if path.is_dir():
                digest.update(
                    os.fsencode(file.relative_to(path).as_posix())
                    + b"\0"
                    + str(file.stat().st_size).encode()
                    + b"\0"
                )
            with file.open("rb") as stream:
                while chunk := stream.read(CHUNK):
                    digest.update(chunk)
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error}.") from error
    return digest.hexdigest()


def files_in(folder: Path) -> list[Path]:
    """The files of a `folder:` data set that are read: the images of each split's classes and
    identities.csv, sorted by their path inside the folder. Raises `BadFile`.
    """
    found = [
        image
        for split in SPLITS
        for of_class in class_folders(folder, split)
        for image in images_in(of_class)
    ]
    table = _followed(folder / IDENTITIES)
    if table.is_file():
        found.append(table)
    return sorted(found, key=lambda file: _order(file.relative_to(folder).as_posix()))


def class_folders(folder: Path, split: str) -> list[Path]:
    """The folders of a split's classes by name, linked ones among them; none without the split.
    Names that are whole numbers stand in the order of numbers: 2 comes before 10.

    Raises `BadFile` for a link that leads nowhere, or back to a folder that it lies in.
    """
    place = _followed(folder / split)
    found = [entry for entry in _entries(place) if _followed(entry).is_dir()]
    return sorted(found, key=lambda entry: _order(f"{entry.name}/"))


def images_in(folder: Path) -> list[Path]:
    """The images of a class by name, linked ones among them. Raises `BadFile` as `class_folders`
    does.
    """
    images = [entry for entry in _entries(folder) if entry.suffix.lower() in IMAGE_SUFFIXES]
    return [image for image in images if _followed(image).is_file()]


def _order(path: str) -> str:
    """What a path is sorted by: folders named by whole numbers with zeros before these."""
    *folders, last = path.split("/")
    numbered = [each.zfill(DIGITS) if _WHOLE.fullmatch(each) else each for each in folders]
    return "/".join([*numbered, last])


def _entries(folder: Path) -> list[Path]:
    """What is in a folder by name; hidden files and folders are the machine's, not the data's."""
    try:
        found = sorted(folder.iterdir()) if folder.is_dir() else []
        return [entry for entry in found if not entry.name.startswith(".")]
    except OSError as error:
        raise BadFile(f"{folder} cannot be read: {error.strerror or error}.") from error


def _followed(path: Path) -> Path:
    """The path itself. Raises `BadFile` where it is a link that cannot be followed."""
    if path.is_symlink():
        try:
            target = path.resolve(strict=True)
        except (OSError, RuntimeError):  # RuntimeError: a loop, before Python 3.13
            raise BadFile(
                f"{path} is a link that leads nowhere. Remove it, or point it at what it stands "
                "for."
            ) from None
        if path.parent.resolve().is_relative_to(target):
            raise BadFile(
                f"{path} is a link back to {target}, a folder that it lies in. Remove it."
            )
    return path
