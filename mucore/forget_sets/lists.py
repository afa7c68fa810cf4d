"""Lists of samples as people have them, read alike at every door: numbers or files in a text, a
table with a column `id`, JSON, arrays of NumPy and PyTorch, a saved forget set.

A list means what it says or is refused whole, with the first places that are wrong: of a list that
was read in part nobody knows what was forgotten. Nothing is ever unpickled.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from mucore.errors import BadFile
from mucore.forget_sets.saved import NamedSet, parse
from mucore.numbers import whole_range
from mucore.runs.values import MOST_VALUES
from mucore.userfiles import doors

MOST_BYTES: Final = 256 << 20  # of a file
_HEADS: Final = ("id", "ids", "row", "file", "path")  # of a table's column of samples
_RULE: Final = (
    "A list of samples is a text with one number, range such as 4-8 or file name a line, a table "
    "with a column `id`, a JSON list, an array (.npy, .npz, .pt) or a saved forget set"
)


_FILE: Final = re.compile(r"\.[A-Za-z]\w*$")


@dataclass(frozen=True, eq=False)
class Listed:
    """What a list names, in its order: sample ids as `numbers`, or `files` of a folder. `length` is
    that of a mask, which must be as long as what it masks; `saved` is the forget set that it is.
    """

    numbers: tuple[int, ...] = ()
    files: tuple[str, ...] = ()
    length: int | None = None
    saved: NamedSet | None = None


def read_file(path: Path | str) -> Listed:
    """`read_list` of a file. Raises `BadFile`."""
    doors.check()
    path = Path(path)
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe or a device may never end
        raise BadFile(f"{path} is no file. Name a file.")
    try:
        if path.stat().st_size > MOST_BYTES:
            raise BadFile(f"{path} is too large for a list of samples. {_RULE}.")
        return read_list(path.read_bytes(), name=path.name)
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror}. Check the path.") from None


def to_csv(rows: Iterable[int]) -> bytes:
    """Samples as a table that `read_list` reads."""
    return "\n".join(["id", *map(str, sorted(rows)), ""]).encode()


def read_list(content: bytes, *, name: str) -> Listed:
    """What a file called `name` lists. Raises `BadFile`."""
    bad = _refusal(name)
    if content.startswith((b"PK", b"\x93NUMPY")):
        return read_array(_array(content, bad), name=name)
    text = _text(content, bad).strip()
    if text.startswith("{") and '"mucore forget set"' in text[:200]:
        saved = parse(content, name=name)
        return Listed(numbers=tuple(saved.ids.tolist()), saved=saved)
    return _values(_json(text, bad) if text.startswith(("[", "{")) else [*_cells(text, bad)], bad)


def read_array(found: np.ndarray, *, name: str) -> Listed:
    """What an array called `name` lists: numbers, names of files, or a mask of bool. Raises
    `BadFile`.
    """
    bad = _refusal(name)
    if found.ndim != 1:
        raise bad(f"holds an array of shape {[*found.shape]}, not one row")
    if found.dtype == bool:
        chosen = np.flatnonzero(found)
        if not len(chosen):
            raise bad("names no sample")
        return Listed(numbers=tuple(chosen.tolist()), length=len(found))
    if found.dtype.kind in "US":
        return _values([str(each) for each in found.tolist()], bad)
    if found.dtype.kind not in "iuf":
        raise bad(f"holds {found.dtype}")
    return _values(found.tolist(), bad)


def _refusal(name: str) -> Callable[[str], BadFile]:
    return lambda what: BadFile(f"{_RULE}, but {name} {what}.")


def _text(content: bytes, bad: Callable[[str], BadFile]) -> str:
    wide = content.startswith((b"\xff\xfe", b"\xfe\xff"))  # as Excel saves "Unicode text"
    try:
        return content.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError:
        raise bad("is no text") from None


def _json(text: str, bad: Callable[[str], BadFile]) -> list[Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise bad("is no JSON, though it begins like it") from None
    if isinstance(found, dict):
        found = found.get("ids")
    if not isinstance(found, list):
        raise bad("is JSON without a list `ids`")
    return found


def _cells(text: str, bad: Callable[[str], BadFile]) -> Iterator[str]:
    """The cells of a text that name samples: of a table its column, else all of one line, or the
    only one of each. Several a line may be a table without its head.
    """
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if not lines:
        return
    tab = next((mark for mark in ("\t", ";", ",") if mark in lines[0]), ",")
    if len(lines) == 1:
        cells = re.split(r"[\s,;]+", lines[0].strip().rstrip(",;"))
        yield from [] if cells[0].lower() in _HEADS and len(cells) == 1 else cells
        return
    try:
        rows = [*csv.reader((f"{line}\n" for line in lines), delimiter=tab, skipinitialspace=True)]
    except csv.Error as error:
        raise bad(f"is no table ({error})") from None
    head = [cell.strip().lower() for cell in rows[0]]
    if columns := [place for place, cell in enumerate(head) if cell in _HEADS]:
        if len(columns) > 1:
            raise bad("has more than one column of samples")
        for number, row in enumerate(rows[1:], start=2):
            if len(row) != len(head):
                raise bad(f"has {len(row)} cells in line {number} under {len(head)} names")
            yield row[columns[0]]
        return
    if any(len(row) != 1 for row in rows):
        raise bad("has several cells a line and no column `id` in its first line")
    yield from (row[0] for row in rows)


def _values(cells: Sequence[Any], bad: Callable[[str], BadFile]) -> Listed:
    """Cells as numbers where the first is one, else as files."""
    texts = [str(cell).strip() for cell in cells]
    if not texts:
        raise bad("names no sample")
    if _written(texts[0]) is None and all(_FILE.search(text) for text in texts):
        return Listed(files=tuple(text.replace("\\", "/") for text in texts))
    found = {text: _written(text) for text in texts}
    if wrong := [text for text, numbers in found.items() if numbers is None]:
        shown = ", ".join(repr(each[:40]) for each in wrong[:5])
        raise bad(f"holds {shown}{', ...' * (len(wrong) > 5)}")
    if (count := sum(len(found[text] or ()) for text in texts)) > MOST_VALUES:
        raise bad(f"holds {count:,} numbers, more than {MOST_VALUES:,}")
    numbers = [number for text in texts for number in found[text] or ()]
    if len(numbers) > 2 and {*numbers} <= {0, 1}:
        raise bad("holds 0 and 1 alone; a mask is an array of type bool")
    return Listed(numbers=tuple(numbers))


def _written(text: str) -> Sequence[int] | None:
    """The numbers that a text stands for; None where it stands for none. Tools that keep numbers as
    floats write 45.0 or 4.5e+01.
    """
    if text.isascii() and text.isdigit():
        return (int(text),) if len(text) < 19 else None
    try:
        value = float(text)
    except ValueError:
        return whole_range(text) or None
    return (int(value),) if value.is_integer() and 0 <= value <= 2**53 else None


def _array(content: bytes, bad: Callable[[str], BadFile]) -> np.ndarray:
    try:
        if content.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                size = sum(entry.file_size for entry in archive.infolist())
                tensor = any(entry.endswith("data.pkl") for entry in archive.namelist())
            if size > 8 * MOST_VALUES + 4096:
                raise bad(f"unpacks to {size / 1e6:.0f} MB")
            return _tensor(content) if tensor else _only(content, bad)
        return np.load(io.BytesIO(content), allow_pickle=False)
    except BadFile:
        raise
    except Exception as error:  # of zipfile, zlib, numpy and torch, each with kinds of its own
        raise bad(f"cannot be read ({' '.join(str(error).split())[:120]})") from None


def _only(content: bytes, bad: Callable[[str], BadFile]) -> np.ndarray:
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        if "ids" not in file.files and len(file.files) != 1:
            raise bad("holds several arrays, none of them `ids`")
        return file["ids" if "ids" in file.files else file.files[0]]


def _tensor(content: bytes) -> np.ndarray:
    import torch

    found = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    if not isinstance(found, torch.Tensor):
        raise ValueError(f"a {type(found).__name__}, not a tensor")
    return found.numpy()
