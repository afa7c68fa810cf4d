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
        pair = [f"{each}_{split}" for each in "xy"]
        training = kept.get(f"{kind}_train", header)
        lengths = {each: kept[each].shape[:1] for each in (*pair, key) if each in kept}
        _hold(
            f"{path}: {key}",
            (
                not header.dtype.hasobject,
                "is an array of Python objects, which would have to be unpickled; that is never "
                "done. Save it as plain numbers: uint8 images of one size, integer labels.",
            ),
            ({*pair} <= {*kept}, f"needs x_{split} and y_{split} beside it. Give both or neither."),
            *_RULES[kind](header.dtype, header.shape),
            (
                len({*lengths.values()}) == 1,
                "must have an entry an image, but "
                f"{', '.join(f'{each} has {str(*n)}' for each, n in lengths.items())}.",
            ),
            (
                f"{kind}_train" in kept,
                "gives identities, but none for the training images. Add identity_train.",
            ),
            (
                _form(kind, header) == _form(kind, training),
                f"is {header.dtype} {list(header.shape)}, but {kind}_train {training.dtype} "
                f"{list(training.shape)}. All must be alike but for the first number.",
            ),
        )
    check_fits(path, sum(header.bytes for header in kept.values()))
    return kept


Rule = tuple[bool, str]  # what must hold, and what is said where it does not


def _hold(what: str, *rules: Rule) -> None:
    for holds, sentence in rules:
        if not holds:
            raise BadValue(f"{what} {sentence}")


def _form(kind: str, header: Header) -> object:
    """What is the same in all splits."""
    shape = header.shape[1:]
    return (*shape, 1) if kind == "x" and len(shape) == 2 else shape, header.dtype.kind == "U"


def _image_rules(dtype: np.dtype, shape: tuple[int, ...]) -> list[Rule]:
    looks = " It looks like [n, c, h, w]; use x.transpose(0, 2, 3, 1)."
    return [
        (
            dtype == np.uint8 or dtype.kind == "f",
            "must be uint8, pixels from 0 to 255, or fractions k/255 from 0 to 1, but it is "
            f"{dtype}. If its values are 0 to 255, use .astype(numpy.uint8).",
        ),
        (
            len(shape) in (3, 4),
            f"must have shape [n, h, w] or [n, h, w, c], but has {list(shape)}.",
        ),
        (
            shape[3:] in ((), (1,), (3,)),
            f"must have 1 or 3 channels in its last axis, but its shape is {list(shape)}."
            f"{looks if shape[1:2] in ((1,), (3,)) else ''}",
        ),
        (
            shape[1:2] == shape[2:3] != (0,),
            f"must hold square images, but its shape is {list(shape)}. Crop or pad them.",
        ),
        (shape[:1] != (0,), "is empty. At least one image is needed."),
    ]


def _label_rules(dtype: np.dtype, shape: tuple[int, ...]) -> list[Rule]:
    one = len(shape) == 1 or shape[1:] == (1,)
    return [
        (
            (one or _is_table(shape)) and dtype.kind in ("iubU" if one else "iub"),
            "must be integers or text [n], or 0 and 1 [n, attributes], but is "
            f"{dtype} {list(shape)}.",
        )
    ]


def _identity_rules(dtype: np.dtype, shape: tuple[int, ...]) -> list[Rule]:
    fits = len(shape) == 1 and dtype.kind in "iu"
    return [(fits, f"must be integers [n], but is {dtype} {list(shape)}.")]


_RULES = {"x": _image_rules, "y": _label_rules, "identity": _identity_rules}


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
    lost = "holds one grey level alone, as fractions that were cut to uint8. Save 255 * x, rounded."
    _hold(f"{path}: x_train", (images["x_train"].min() < tops["x_train"], lost))
    for key, top in tops.items():
        if (top > 1) != (tops["x_train"] > 1):
            raise BadValue(
                f"{path}: x_train holds pixels up to {tops['x_train']} and {key} up to {top}, "
                "which are two scales. Save all as uint8 from 0 to 255."
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
        found[key] = y
        _hold(
            f"{path}: {key}",
            (y.ndim == 1 or bool((y <= 1).all()), f"must be 0 and 1, but holds {y.max()}."),
            (y.min() >= 0, f"must count classes from 0, but holds {y.min()}."),
            (
                y.ndim == 1 or not (y.sum(axis=1) == 1).all(),
                f"is a 0/1 matrix {list(y.shape)} with a single 1 in each row, which are one-hot "
                "classes and no attributes. Give one class number an image, [n], as "
                "y.argmax(axis=1) does.",
            ),
        )
    y = found["y_train"]
    if y.ndim == 2:
        return tuple(map(str, range(y.shape[1])))
    present = np.unique(y)
    classes = int(present.max()) + 1
    # The first gap is where the sorted labels leave the sequence 0, 1, 2, ...; a huge label must
    # not become a huge list.
    gap = int(np.argmax(present != np.arange(len(present))))
    _hold(
        f"{path}: y_train",
        (
            classes == len(present),
            f"must use every class from 0 to {classes - 1}, but no image has label {gap}. Number "
            "the classes without gaps: numpy.unique(y, return_inverse=True)[1].",
        ),
        (classes > 1, "holds one class only. At least 2 are needed."),
    )
    for key in [key for key in found if key[0] == "y"]:
        if found[key].max() >= classes:
            raise BadValue(
                f"{path}: {key} holds label {found[key].max()}, but training knows only 0 to "
                f"{classes - 1}."
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
            entries = {each.filename.removesuffix(".npy"): each for each in archive.infolist()}
            return {
                name: _header(path, archive, entry) if name in wanted else None
                for name, entry in entries.items()
            }
    except BadFile:
        raise
    except Exception as error:  # zipfile raises a dozen kinds for archives that were damaged
        raise BadFile(f"{path} is not an npz file ({said(str(error))}). {_SAVE}") from error


def _header(path: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Header:
    name = entry.filename.removesuffix(".npy")
    try:
        with archive.open(entry) as stream:
            start = io.BytesIO(stream.read(_HEADER))
    except Exception as error:
        raise BadFile(
            f"{path}: {name} is damaged ({said(str(error))}). Save the file again."
        ) from error
    try:
        version = npy.read_magic(start)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read(start)
    except Exception as error:  # a header is read as Python writes it: any text may stand there
        raise BadFile(f"{path}: {name} is not an array ({said(str(error))}). {_SAVE}") from error
    found = Header(shape, dtype)
    if not dtype.hasobject and found.bytes > entry.file_size - start.tell():
        raise BadFile(
            f"{path}: {name} is damaged: it says that it holds {found.bytes:,} bytes, but there "
            f"are {max(entry.file_size - start.tell(), 0):,}. Save the file again."
        )
    return found
