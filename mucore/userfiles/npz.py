"""A user's npz file. What it says that it holds is looked at before anything of it is unpacked: a
few kilobytes may promise any number of gigabytes. Nothing is ever unpickled.
"""

from __future__ import annotations

import hashlib
import io
import math
import zipfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.lib.format as npy

from mucore.catalog.cards import Task
from mucore.errors import BadFile, BadValue, said
from mucore.fitting import SMALL, check_fits
from mucore.userfiles.images import by_number

SPLITS = ("train", "val", "test")  # val may be missing
KINDS = ("x", "y", "identity")
REQUIRED = ("x_train", "y_train", "x_test", "y_test")
STEP = 0.1  # of a grey level, by which fractions may lie beside it
_HEADER = 10_000  # bytes, as much as numpy itself reads
_SAVE = "Save it with numpy.savez(path, x_train=..., y_train=..., x_test=..., y_test=...)."
# what arrays must be
_FORMS = {
    "x": "square images, [n, h, w] or [n, h, w, c] with 1 or 3 channels last, in uint8 from 0 to "
    "255 or fractions k/255 from 0 to 1",
    "y": "integers or text [n], or 0 and 1 [n, attributes]",
    "identity": "integers [n]",
}

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Header:
    """What the file says of one array."""

    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def labels(path: Path) -> Header:
    """What the file says of y_train, of an array without a shape where it has none. Raises
    `BadFile`.
    """
    return headers(path, ["y_train"]).get("y_train") or Header((), np.dtype(np.uint8))


def task_of(path: Path) -> Task:
    """By the labels' shape: a column is one class an image. Raises `BadFile`."""
    return "attributes" if _is_table(labels(path).shape) else "classes"


def _is_table(shape: tuple[int, ...]) -> bool:
    return len(shape) == 2 and shape[1] > 1


def words(path: Path) -> tuple[str, ...]:
    """The classes where labels are words, those that are numbers as numbers; else none."""
    if labels(path).dtype.kind != "U":
        return ()
    return tuple(sorted({*_read(path, ["y_train"])["y_train"].ravel().tolist()}, key=by_number))


def digest(path: Path) -> hashlib._Hash:
    """SHA-256 of the file, and of a column of labels, once an attribute, that it is classes now."""
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256")
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error}.") from error
    with suppress(BadFile):  # reading it says what is wrong
        if labels(path).shape[1:] == (1,):
            found.update(b"classes")
    return found


def checked(path: Path) -> dict[str, Header]:
    """The headers of a data set's arrays, which fit each other and the memory. Raises `BadFile`,
    `BadValue`.
    """
    found = headers(path, [f"{kind}_{split}" for split in SPLITS for kind in KINDS])
    if missing := [key for key in REQUIRED if key not in found]:
        has = said(", ".join(sorted(found)[:10])).strip("'\"") or "nothing"
        raise BadFile(
            f"{path} lacks {', '.join(missing)}; it holds {has}. Needed are {', '.join(REQUIRED)}."
        )
    kept = {key: header for key, header in found.items() if header is not None}
    for key, header in kept.items():
        kind, split = key.split("_")
        if not _has_form(kind, header.dtype, header.shape):
            raise BadValue(
                f"{path}: {key} must be {_FORMS[kind]}, but is {header.dtype} "
                f"{list(header.shape)}. Convert it: x.transpose(0, 2, 3, 1) puts channels last; "
                "objects are never unpickled."
            )
        images, training = kept.get(f"x_{split}"), kept.get(f"{kind}_train")
        if images is None or training is None or f"y_{split}" not in kept:
            raise BadValue(
                f"{path}: {key} needs x_{split}, y_{split} and {kind}_train beside it. Add what is "
                "missing, or leave it out."
            )
        if images.shape[:1] != header.shape[:1] or _item(kind, header) != _item(kind, training):
            raise BadValue(
                f"{path}: {key} is {header.dtype} {list(header.shape)}, which does not fit "
                f"x_{split}, {list(images.shape)}, or {kind}_train, {training.dtype} "
                f"{list(training.shape)}. Give one entry an image, alike in all splits."
            )
    check_fits(path, sum(header.bytes for header in kept.values()))
    return kept


def _has_form(kind: str, dtype: np.dtype, shape: tuple[int, ...]) -> bool:
    """Whether an array is as `_FORMS` says, as far as its head tells."""
    if kind == "x":
        is_square = len(shape) in (3, 4) and shape[1] == shape[2] > 0 and shape[0] > 0
        is_grey_level = dtype == np.uint8 or dtype.kind == "f"
        return is_square and is_grey_level and shape[3:] in ((), (1,), (3,))
    if kind == "identity":
        return len(shape) == 1 and dtype.kind in "iu"
    if _is_table(shape):
        return dtype.kind in "iub"
    return (len(shape) == 1 or shape[1:] == (1,)) and dtype.kind in "iubU"


def _item(kind: str, header: Header) -> object:
    """What is the same in all splits."""
    shape = header.shape[1:]
    return (*shape, 1) if kind == "x" and len(shape) == 2 else shape, header.dtype.kind == "U"


def classes_of(path: Path, found: Mapping[str, Header]) -> int:
    """How many classes or attributes there are. A small file is read and checked as a whole, of
    others the labels alone. Raises `BadFile`, `BadValue`.
    """
    if sum(header.bytes for header in found.values()) <= SMALL:
        return len(arrays(path)[1])
    labels = _read(path, [key for key in found if key.startswith("y_")])
    return len(_classes(path, labels, words(path)))


def arrays(path: Path) -> tuple[Arrays, tuple[str, ...]]:
    """The arrays of a data set: images (n, h, w) or (n, h, w, c) uint8, labels (n,) integers or
    (n, A) of 0 and 1, identities (n,); and the names of classes or attributes. Raises `BadFile`,
    `BadValue`.
    """
    found = _read(path, checked(path))
    names = _classes(path, found, words(path))
    images = {key: _bytes(f"{path}: {key}", x) for key, x in found.items() if key[0] == "x"}
    tops = {key: int(x.max()) for key, x in images.items()}
    if images["x_train"].min() == tops["x_train"] or len({top > 1 for top in tops.values()}) > 1:
        raise BadValue(
            f"{path}: images must all be on one scale of several grey levels, but the brightest "
            f"pixels are {', '.join(f'{top} in {key}' for key, top in tops.items())}. Save all as "
            "uint8 from 0 to 255."
        )
    return found | images, names


def _bytes(what: str, x: np.ndarray) -> np.ndarray:
    """Fractions k/255 of 0 to 1 as the grey levels k, to within a rounding error."""
    if x.dtype == np.uint8:
        return x
    beside = 255 * x
    levels = np.rint(beside)
    with np.errstate(invalid="ignore"):
        beside -= levels
    wrong = ~((beside <= STEP) & (beside >= -STEP) & (levels >= 0) & (levels <= 255))
    if wrong.any():
        raise BadValue(
            f"{what} holds {x[wrong][0]:.6g}, but fractions must be grey levels k/255 from 0 to 1. "
            "Bring them to 0 to 255, round, and save as uint8."
        )
    return levels.astype(np.uint8)


def _classes(path: Path, found: Arrays, names: tuple[str, ...]) -> tuple[str, ...]:
    """The names of classes or attributes, once the labels in `found` were made numbers."""
    for key in [key for key in found if key[0] == "y"]:
        y = found[key][:, 0] if found[key].shape[1:] == (1,) else found[key]
        if y.dtype.kind == "U":
            known, places = np.unique(y, return_inverse=True)
            if unknown := sorted({*known.tolist()} - {*names}):
                raise BadValue(
                    f"{path}: {key} holds {said(unknown[0])}, which training does not have. It "
                    f"knows {', '.join(names[:10])}."
                )
            y = np.array([names.index(name) for name in known])[places]
        if y.ndim == 2 and (y.min() < 0 or y.max() > 1 or (y.sum(axis=1) == 1).all()):
            raise BadValue(
                f"{path}: {key} must be 0 and 1, more than one of which may be 1 in a row. Of "
                "one-hot classes give the numbers, y.argmax(axis=1)."
            )
        found[key] = y
    y = found["y_train"]
    if y.ndim == 2:
        return tuple(map(str, range(y.shape[1])))
    present = np.unique(y)
    classes = len(present)
    # a huge label must not become a huge list
    if classes < 2 or present[0] != 0 or present[-1] != classes - 1:
        raise BadValue(
            f"{path}: y_train must use every class from 0 on, at least 2, but its {classes:,} "
            f"labels are {present[0]} to {present[-1]}. Number them: "
            "numpy.unique(y, return_inverse=True)[1]."
        )
    for key in [key for key in found if key[0] == "y"]:
        if not np.isin(found[key], present).all():
            raise BadValue(
                f"{path}: {key} holds labels up to {found[key].max()}, but training knows only 0 "
                f"to {classes - 1}."
            )
    return names or tuple(map(str, range(classes)))


def _read(path: Path, names: Iterable[str]) -> Arrays:
    found, key = {}, "it"
    try:
        with np.load(path, allow_pickle=False) as content:
            for key in names:
                found[key] = content[key]
    except Exception as error:  # of an archive that was damaged, or changed between two looks
        raise BadFile(
            f"{path}: {key} is damaged ({said(str(error))}). Save the file again."
        ) from error
    return found


def headers(path: Path, wanted: Iterable[str]) -> dict[str, Header | None]:
    """By name every array of the file, with what it says of itself where it is one of those that
    are `wanted`. Raises `BadFile`.
    """
    wanted = set(wanted)
    try:
        with zipfile.ZipFile(path) as archive:
            names = [each.removesuffix(".npy") for each in archive.namelist()]
            return {name: _header(archive, name) if name in wanted else None for name in names}
    except Exception as error:  # zipfile and numpy raise a dozen kinds for what is damaged
        raise BadFile(f"{path} is not an npz file ({said(str(error))}). {_SAVE}") from error


def _header(archive: zipfile.ZipFile, name: str) -> Header:
    with archive.open(f"{name}.npy") as stream:
        start = io.BytesIO(stream.read(_HEADER))
    version = npy.read_magic(start)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read(start)
    return Header(shape, dtype)
