"""A user's own images: `npz:PATH` and `folder:PATH`. Nothing in them is ever unpickled or
executed.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from PIL import Image

from mucore.datasets.splits import Part, Source, Splits, assemble, hold_out_part
from mucore.errors import BadFile, BadValue, said
from mucore.fitting import free_memory
from mucore.userfiles import datasets, npz

REQUIRED = ("x_train", "y_train", "x_test", "y_test")
OPTIONAL = ("x_val", "y_val", "identity_train", "identity_test", "identity_val")
MAX_SIDE = 4096  # pixels; a larger image is a mistake or an attack on memory
MAX_BYTES = 16 << 30  # unpacked; a compressed file can promise any size
COPIES = 3  # of an npz file's arrays while they become a data set
SMALL_BYTES = 64 << 20  # not worth a look at the memory


def load_npz(name: str, root: Path) -> Splits:
    """The arrays of an npz file as a data set; class names are the numbers. Raises `BadFile`,
    `BadValue`.
    """
    path = datasets.path_of(name)
    arrays = _read_npz(path)
    train = _part(path, arrays, "train")
    test = _part(path, arrays, "test")
    validation = _part(path, arrays, "val") if "x_val" in arrays or "y_val" in arrays else None
    _same_shape(path, train, validation, test)
    class_names = [str(number) for number in range(_count_classes(path, train, validation, test))]
    task = "attributes" if train.y.ndim == 2 else "classes"
    return _assemble(name, train, validation, test, class_names, natural=False, task=task)


def load_folder(name: str, root: Path) -> Splits:
    """Images in train/CLASS, test/CLASS and, if there, val/CLASS as a data set; classes sorted by
    name, those named by whole numbers as numbers.

    Raises `BadFile`, `BadValue`.
    """
    path = datasets.path_of(name)
    for split in ("train", "test"):
        if not (path / split).is_dir():
            raise BadFile(
                f"{path} has no folder {split}. A data set of images needs train/CLASS/* and "
                "test/CLASS/*."
            )
    class_names = [folder.name for folder in datasets.class_folders(path, "train")]
    if len(class_names) < 2:
        raise BadFile(
            f"{path / 'train'} holds {_folders(len(class_names))}, but at least 2 are needed: "
            "train/CLASS/*.png for each class."
        )
    people = _read_identities(path)
    mode = _common_mode(path)
    train = _read_images(path, "train", class_names, mode, people)
    test = _read_images(path, "test", class_names, mode, people)
    validation = (
        _read_images(path, "val", class_names, mode, people) if (path / "val").is_dir() else None
    )
    _same_shape(path, train, validation, test)
    return _assemble(name, train, validation, test, class_names, natural=True)


def _assemble(
    name: str,
    train: Part,
    validation: Part | None,
    test: Part,
    class_names: Sequence[str],
    *,
    natural: bool,
    task: Literal["classes", "attributes"] = "classes",
) -> Splits:
    notes = []
    if validation is None:
        train, validation, note = _hold_out(train, class_names)
        notes.append(note)
    return assemble(
        name,
        train=train,
        validation=validation,
        test=test,
        class_names=class_names,
        natural=natural,
        data_hash=datasets.data_hash(name),
        division_notes=notes,
        task=task,
    )


def _folders(count: int) -> str:
    return f"{count or 'no'} class {'folder' if count == 1 else 'folders'}"


def _hold_out(train: Part, class_names: Sequence[str]) -> tuple[Part, Part, str]:
    """A tenth of training as validation, and a sentence that says so."""
    kept, held = hold_out_part(train)
    if not len(held.y) or not len(kept.y):
        raise BadValue(
            f"{len(train.y)} training images are too few to hold a tenth out for validation. "
            "Add images, or give validation data (x_val and y_val, or val/)."
        )
    gone = np.setdiff1d(held.y, kept.y) if train.y.ndim == 1 else ()
    if len(gone):
        raise BadValue(
            "No validation data given, and a tenth of the training images held out for it takes "
            f"all of class {class_names[gone[0]]}"
            f"{'' if train.identities is None else ', whose persons stay whole'}. Give validation "
            "data (x_val and y_val, or val/), or add "
            f"{'images' if train.identities is None else 'persons'} to this class."
        )
    what = "images" if train.identities is None else "images, whole persons,"
    return (
        kept,
        held,
        (
            f"No validation data given: {len(held.y):,} of {len(train.y):,} training {what} are "
            "held out for it."
        ),
    )


# -- npz


def _read_npz(path: Path) -> dict[str, np.ndarray]:
    """The arrays of the file, once what their headers say was looked at: nothing is unpacked that
    is no array of numbers, or that the memory does not hold.
    """
    found = npz.headers(path, REQUIRED + OPTIONAL)
    if missing := [key for key in REQUIRED if key not in found]:
        has = said(", ".join(sorted(found)[:10])).strip("'\"") or "nothing"
        raise BadFile(
            f"{path} lacks {', '.join(missing)}; it holds {has}. Needed are {', '.join(REQUIRED)}."
        )
    kept = {key: header for key, header in found.items() if header is not None}
    for key, header in kept.items():
        if header.dtype.hasobject:
            raise BadFile(
                f"{path}: {key} is an array of Python objects, which would have to be unpickled; "
                "that is never done. Save it as plain numbers: uint8 images of one size, integer "
                "labels."
            )
    _check_size(path, sum(header.bytes for header in kept.values()))
    try:
        with np.load(path, allow_pickle=False) as content:
            return {
                key: _read_array(path, content, key) for key in REQUIRED + OPTIONAL if key in kept
            }
    except BadFile:
        raise
    except Exception as error:  # of an archive that was changed between two looks, for one
        raise BadFile(f"{path} is damaged ({said(str(error))}). Save the file again.") from error


def _check_size(path: Path, size: int) -> None:
    """Raise `BadFile` where arrays of so many bytes do not fit into memory."""
    if size > MAX_BYTES:
        raise BadFile(
            f"{path} unpacks to {size / 2**30:.1f} GiB, but at most {MAX_BYTES >> 30} GiB are "
            "read into memory. Give fewer images."
        )
    if size > SMALL_BYTES and COPIES * size > (free := free_memory()):
        raise BadFile(
            f"{path} unpacks to {size / 1e9:.1f} GB and takes {COPIES * size / 1e9:.1f} GB while "
            f"it is read, but {free / 1e9:.1f} GB of memory are free. Give fewer images, or end "
            "other programs."
        )


def _read_array(path: Path, content: np.lib.npyio.NpzFile, key: str) -> np.ndarray:
    try:
        return content[key]
    except Exception as error:
        raise BadFile(
            f"{path}: {key} is damaged ({said(str(error))}). Save the file again."
        ) from error


def _part(path: Path, arrays: dict[str, np.ndarray], split: str) -> Part:
    """One split, checked."""
    x_name, y_name, identity_name = f"x_{split}", f"y_{split}", f"identity_{split}"
    for key, other in ((x_name, y_name), (y_name, x_name)):
        if key not in arrays:
            raise BadFile(f"{path} has {other} without {key}. Give both or neither.")
    x, y, identities = arrays[x_name], arrays[y_name], arrays.get(identity_name)
    if x.dtype != np.uint8:
        hint = (
            " Multiply by 255 and round."
            if x.dtype.kind == "f" and x.size and 0 <= x.min() and x.max() <= 1
            else ""
        )
        raise BadValue(
            f"{path}: {x_name} must be uint8, pixels from 0 to 255, but it is {x.dtype}.{hint}"
        )
    if x.ndim not in (3, 4):
        raise BadValue(
            f"{path}: {x_name} must have shape [n, h, w] or [n, h, w, c], but has {list(x.shape)}."
        )
    if x.ndim == 4 and x.shape[3] not in (1, 3):
        hint = (
            " It looks like [n, c, h, w]; use x.transpose(0, 2, 3, 1)."
            if x.shape[1] in (1, 3)
            else ""
        )
        raise BadValue(
            f"{path}: {x_name} must have 1 or 3 channels in its last axis, but its shape is "
            f"{list(x.shape)}.{hint}"
        )
    if x.shape[1] < 1 or x.shape[1] != x.shape[2]:
        raise BadValue(
            f"{path}: images must be square, but those of {x_name} are {x.shape[1]} by "
            f"{x.shape[2]} pixels. Crop or pad them."
        )
    if not len(x):
        raise BadValue(f"{path}: {x_name} is empty. At least one image is needed.")
    _check_labels(path, y_name, y)
    _check_length(path, x_name, x, y_name, y)
    if identities is not None:
        if identities.ndim != 1 or identities.dtype.kind not in "iu":
            raise BadValue(
                f"{path}: {identity_name} must be integers [n], but is {identities.dtype} "
                f"{list(identities.shape)}."
            )
        _check_length(path, x_name, x, identity_name, identities)
    return Part(x=x, y=y, identities=identities)


def _check_labels(path: Path, name: str, y: np.ndarray) -> None:
    if y.ndim == 2 and y.shape[1] and y.dtype.kind in "iub" and np.isin(y, (0, 1)).all():
        if y.shape[1] > 1 and len(y) and (y.sum(axis=1) == 1).all():
            raise BadValue(
                f"{path}: {name} is a 0/1 matrix {list(y.shape)} with a single 1 in each row, "
                "which are one-hot classes and no attributes. Give one class number an image, "
                "[n], as y.argmax(axis=1) does."
            )
        return
    if y.ndim != 1 or y.dtype.kind not in "iu":
        raise BadValue(
            f"{path}: {name} must be integers [n], or 0 and 1 [n, attributes], but is {y.dtype} "
            f"{list(y.shape)}."
        )
    if len(y) and y.min() < 0:
        raise BadValue(f"{path}: {name} must count classes from 0, but holds {y.min()}.")


def _check_length(
    path: Path, name: str, array: np.ndarray, other_name: str, other: np.ndarray
) -> None:
    if len(array) != len(other):
        raise BadValue(
            f"{path}: {name} has {len(array):,} entries and {other_name} {len(other):,}. They "
            "must be equally many, in the same order."
        )


def _count_classes(path: Path, train: Part, validation: Part | None, test: Part) -> int:
    for name, part in (("y_val", validation), ("y_test", test)):
        if part is not None and part.y.shape[1:] != train.y.shape[1:]:
            raise BadValue(
                f"{path}: {name} is {list(part.y.shape)}, but y_train {list(train.y.shape)}. All "
                "must have the same attributes."
            )
    if train.y.ndim == 2:
        return train.y.shape[1]
    present = np.unique(train.y)
    classes = int(present.max()) + 1
    if classes != len(present):
        # The first gap is where the sorted labels leave the sequence 0, 1, 2, ...; a huge label
        # must not become a huge list.
        gap = int(np.argmax(present != np.arange(len(present))))
        raise BadValue(
            f"{path}: y_train must use every class from 0 to {classes - 1}, but no image has "
            f"label {gap}. Number the classes without gaps: numpy.unique(y, "
            "return_inverse=True)[1]."
        )
    if classes < 2:
        raise BadValue(f"{path}: y_train holds one class only. At least 2 are needed.")
    for name, part in (("y_val", validation), ("y_test", test)):
        if part is not None and part.y.max() >= classes:
            raise BadValue(
                f"{path}: {name} holds label {part.y.max()}, but training knows only 0 to "
                f"{classes - 1}."
            )
    return classes


def _same_shape(path: Path, train: Part, validation: Part | None, test: Part) -> None:
    for name, part in (("validation", validation), ("test", test)):
        if part is not None and _image_shape(part) != _image_shape(train):
            raise BadValue(
                f"{path}: {name} images are {_size(part)}, but training images are "
                f"{_size(train)}. All must have one size."
            )
    given = {part.identities is None for part in (train, validation, test) if part is not None}
    if len(given) > 1 and train.identities is None:
        raise BadValue(
            f"{path} gives identities, but none for the training images. Forgetting persons needs "
            "identity_train."
        )


def _image_shape(part: Part) -> tuple[int, ...]:
    return part.x.shape[1:] if len(part.x.shape) == 4 else (*part.x.shape[1:], 1)


def _size(part: Part) -> str:
    height, width, channels = _image_shape(part)
    return f"{height} by {width} pixels with {channels} channel{'' if channels == 1 else 's'}"


# -- folder


def _read_images(
    path: Path, split: str, class_names: Sequence[str], mode: str, people: dict[str, int] | None
) -> Part:
    known = {class_name: number for number, class_name in enumerate(class_names)}
    folders = datasets.class_folders(path, split)
    for folder in folders:
        if folder.name not in known:
            raise BadFile(
                f"{folder} is a class that train/ does not have. Training knows "
                f"{', '.join(class_names[:10])}."
            )
    images, labels, persons, names = [], [], [], []
    for folder in folders:
        files = datasets.images_in(folder)
        if not files:
            raise BadFile(
                f"{folder} holds no image. Put images there "
                f"({', '.join(sorted(datasets.IMAGE_SUFFIXES))}), or remove the folder."
            )
        for file in files:
            image = _read_image(file, mode)
            if images and image.shape != images[0].shape:
                first, this = images[0].shape, image.shape
                raise BadFile(
                    f"{file} has {this[1]} by {this[0]} pixels, but the images before it "
                    f"{first[1]} by {first[0]}. Bring all to one size."
                )
            images.append(image)
            labels.append(known[folder.name])
            names.append(file.relative_to(path).as_posix())
            if people is not None:
                persons.append(_identity(path, file, people))
    if not images:
        raise BadFile(
            f"{path / split} holds no class folder with images. It needs {split}/CLASS/*.png."
        )
    if images[0].shape[0] != images[0].shape[1]:
        raise BadFile(
            f"Images must be square, but those in {path / split} have {images[0].shape[1]} by "
            f"{images[0].shape[0]} pixels. Crop them."
        )
    return Part(
        x=np.stack(images),
        y=np.array(labels),
        identities=np.array(persons) if people is not None else None,
        source=Source(len(names), tuple(names)),
    )


def _open_image(file: Path) -> Image.Image:
    try:
        image = Image.open(file)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise BadFile(
            f"{file} is not an image that can be read ({_reason(error)}). Remove or replace it."
        ) from error
    if max(image.size) > MAX_SIDE:
        image.close()
        raise BadFile(
            f"{file} has {image.size[0]} by {image.size[1]} pixels, but {MAX_SIDE} a side is the "
            "limit. Shrink the images."
        )
    return image


def _common_mode(path: Path) -> str:
    """Grey if all images are, else colour: one colour image among grey ones must not lose its
    colour.
    """
    for file in datasets.files_in(path):
        if file.suffix.lower() in datasets.IMAGE_SUFFIXES:
            with _open_image(file) as image:
                if image.mode not in datasets.GREY:
                    return "RGB"
    return "L"


def _read_image(file: Path, mode: str) -> np.ndarray:
    """Pixels (h, w) or (h, w, 3) uint8; deep grey images are scaled from 16 to 8 bits."""
    with _open_image(file) as image:
        try:
            if image.mode in ("I;16", "I"):
                return _from_16_bits(np.asarray(image), mode)
            return np.asarray(image.convert(mode), np.uint8)
        except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError) as error:
            raise BadFile(f"{file} is damaged ({_reason(error)}). Remove or replace it.") from error


def _from_16_bits(pixels: np.ndarray, mode: str) -> np.ndarray:
    grey = (pixels.astype(np.int64) >> 8).clip(0, 255).astype(np.uint8)
    return grey if mode == "L" else np.repeat(grey[..., None], 3, axis=2)


def _reason(error: BaseException) -> str:
    return str(error) or type(error).__name__


def _read_identities(path: Path) -> dict[str, int] | None:
    """Identity by file, from identities.csv (columns file and identity), persons numbered in sorted
    order; None without the file. A file is a path in the folder, or the name of one image alone.
    """
    table = path / datasets.IDENTITIES
    if not table.is_file():
        return None
    try:
        with table.open(newline="", encoding="utf-8-sig") as stream:
            reader = csv.DictReader(stream)
            if not {"file", "identity"} <= set(reader.fieldnames or ()):
                raise BadFile(
                    f"{table} needs the columns file and identity, but has "
                    f"{', '.join(reader.fieldnames or ()) or 'none'}."
                )
            rows = [
                ((row["file"] or "").strip().replace("\\", "/"), (row["identity"] or "").strip())
                for row in reader
            ]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadFile(
            f"{table} is not a readable CSV file ({error}). Save it as UTF-8 with the columns "
            "file and identity."
        ) from error
    doubled = [file for file, count in Counter(file for file, _ in rows).items() if count > 1]
    if doubled:
        raise BadFile(f"{table} names {doubled[0]} more than once. One row a file.")
    images = Counter(file.name for file in datasets.files_in(path))
    for file, person in rows:
        if not file or not person:
            raise BadFile(
                f"{table} has a row without {'an identity' if file else 'a file'}: "
                f"{file},{person}. Fill it in, or remove the row and its image."
            )
        if images[file] > 1:
            raise BadFile(
                f"{table} names {file}, but {images[file]} images have that name. Give the path of "
                f"each, such as train/CLASS/{file}."
            )
    numbers = {
        person: number for number, person in enumerate(sorted({person for _, person in rows}))
    }
    return {file: numbers[person] for file, person in rows}


def _identity(path: Path, file: Path, people: dict[str, int]) -> int:
    inside = file.relative_to(path).as_posix()
    for key in (inside, file.name):
        if key in people:
            return people[key]
    raise BadFile(
        f"{path / datasets.IDENTITIES} has no row for {inside}. Every image needs one, or remove "
        "the file."
    )
