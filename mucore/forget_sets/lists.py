"""Lists of sample ids as people have them: a table, numbers in any arrangement, a saved forget set,
an array. Nothing is ever unpickled.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mucore.errors import BadFile
from mucore.forget_sets.saved import parse
from mucore.numbers import whole_range

MOST = 10_000_000  # ids in one list
MOST_NAMED = 5  # places of a list that a sentence names
_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")
_RULE = (
    "A list of sample ids is a table with a column `id`, whole numbers and ranges such as 4-8, a "
    "saved forget set (JSON), or an npz file with an array `ids`"
)


@dataclass(frozen=True, eq=False)
class Sifted:
    """A list against the ids that there are: `ids` (n,) int64 sorted, each once; what was left out,
    each once in the order of the list.
    """

    ids: np.ndarray
    unknown: tuple[int, ...]
    negative: tuple[int, ...]
    repeated: tuple[int, ...]

    @property
    def sentences(self) -> list[str]:
        """What a reader must know about the list; nothing where all of it is used."""
        told = []
        if self.unknown:
            told.append(
                f"{_are(self.unknown)} no training sample of this data set and left out: "
                f"{_some(self.unknown)}."
            )
        if self.negative:
            told.append(
                f"{_are(self.negative)} negative and left out, for ids count from 0: "
                f"{_some(self.negative)}."
            )
        if self.repeated:
            told.append(
                f"{_are(self.repeated)} named more than once and counted once: "
                f"{_some(self.repeated)}."
            )
        return told


@dataclass(frozen=True)
class Listed:
    """What a list holds: its `numbers`, whatever they are, in its order, ranges written out; `bad`,
    a sentence for each place that holds no number.
    """

    numbers: list[int]
    bad: tuple[str, ...] = ()

    @property
    def sentences(self) -> list[str]:
        """What a reader must know: the first places that were passed over, and how many more."""
        more = len(self.bad) - MOST_NAMED
        return [
            *(f"{each} It is left out." for each in self.bad[:MOST_NAMED]),
            *([f"{more:,} more places hold no id and are left out."] if more > 0 else []),
        ]


def read_list(content: bytes, *, name: str) -> Listed:
    """The numbers that a file called `name` lists; a range such as 4-8 stands for all of its
    numbers. Raises `BadFile` where there is none, or more than `MOST`, with the first place that is
    wrong.
    """
    if content.startswith(b"PK"):
        return Listed(_array(content, name))
    if content.lstrip().startswith(b"{"):
        return Listed(parse(content, name=name).ids.tolist())
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadFile(f"{_RULE}, but {name} is neither text nor an npz file.") from None
    has_head = re.match(r"[^\d+-].*[A-Za-z]|[A-Za-z]", text.lstrip().partition("\n")[0])
    parts = _table(text.lstrip(), name) if has_head else _parts(text, name)
    numbers: list[int] = []
    bad: list[str] = []
    for part, where in parts:
        found = _written(part)
        if isinstance(found, str):
            bad.append(f"{where} holds {part.strip()[:40]!r}{found}.")
            continue
        if len(numbers) + len(found) > MOST:
            raise BadFile(
                f"A list of sample ids has at most {MOST:,}, but {name} has more, at {where}. "
                "Leave some out."
            )
        numbers += found
    if not numbers:
        what = f"{bad[0][0].lower()}{bad[0][1:-1]}" if bad else f"{name} holds no id"
        raise BadFile(f"{_RULE}, but {what}.")
    return Listed(numbers, tuple(bad))


def sift(numbers: Iterable[int], known: np.ndarray) -> Sifted:
    """`numbers` as samples of a training set whose ids are `known` (m,)."""
    given = np.asarray(list(numbers), np.int64)
    once, first, times = np.unique(given, return_index=True, return_counts=True)
    there = np.isin(once, known)
    order = np.argsort(first)

    def listed(which: np.ndarray) -> tuple[int, ...]:
        return tuple(once[order][which[order]].tolist())

    return Sifted(once[there], listed(~there & (once >= 0)), listed(once < 0), listed(times > 1))


def _table(text: str, name: str) -> Iterator[tuple[str, str]]:
    """What each line has in the column `id`, and which line that is."""
    try:
        rows = csv.DictReader(io.StringIO(text, newline=""), skipinitialspace=True)
        columns = {(column or "").strip().lower(): column for column in rows.fieldnames or ()}
        if "id" not in columns:
            raise BadFile(f"{_RULE}, but {name} has no column `id` in its first line.")
        for row in rows:
            yield row[columns["id"]] or "", f"Line {rows.line_num} of {name}"
    except csv.Error as error:
        raise BadFile(f"{_RULE}, but {name} is no table ({error}).") from None


def _parts(text: str, name: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(text.splitlines(), start=1):
        for part in re.split(r"[\s,;]+", line):
            if part:
                yield part, f"Line {number} of {name}"


def _written(text: str) -> Sequence[int] | str:
    """The numbers that a text stands for; where it stands for none, what else is wrong."""
    text = text.strip()
    if _NUMBER.fullmatch(text):
        return (int(text),)
    if (found := whole_range(text)) is None:
        return ""
    return found or ", which counts down"


def _array(content: bytes, name: str) -> list[int]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        if size > 8 * MOST:
            raise BadFile(
                f"{name} unpacks to {size / 1e6:.0f} MB, but a list of ids has at most "
                f"{8 * MOST / 1e6:.0f} MB."
            )
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            found = (
                file["ids"]
                if "ids" in file.files
                else file[file.files[0]]
                if len(file.files) == 1
                else None
            )
    # zipfile says NotImplementedError of a compression that it does not know, RuntimeError of an
    # encrypted file.
    except (
        OSError,
        ValueError,
        EOFError,
        KeyError,
        zipfile.BadZipFile,
        zlib.error,
        NotImplementedError,
        RuntimeError,
    ) as error:
        raise BadFile(
            f"{_RULE}, but {name} cannot be read ({' '.join(str(error).split())[:120]})."
        ) from None
    if found is None or found.ndim != 1 or found.dtype.kind not in "iu":
        has = (
            "several arrays, none of them `ids`"
            if found is None
            else f"{found.dtype} {list(found.shape)}"
        )
        raise BadFile(f"{_RULE}, which are whole numbers in one row, but {name} holds {has}.")
    if not len(found):
        raise BadFile(f"{_RULE}, but {name} holds no id.")
    return found.tolist()


def _are(values: Sequence[int]) -> str:
    return "1 is" if len(values) == 1 else f"{len(values):,} are"


def _some(values: Sequence[int]) -> str:
    return ", ".join(map(str, values[:5])) + (", ..." if len(values) > 5 else "")
