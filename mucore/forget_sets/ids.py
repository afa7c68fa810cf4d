"""Sample ids in files: a CSV file with a column `id`, or the file of a named forget set."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path

from mucore.errors import BadFile
from mucore.forget_sets.saved import check_fits, parse
from mucore.numbers import MOST, whole_number
from mucore.userfiles import datasets, doors, paths


def read_ids(path: Path | str, *, dataset: str = "") -> list[int]:
    """The sample ids of a CSV file with a column `id`, in file order, or of a forget set's file.
    Raises `BadFile` with what is wrong.

    With `dataset`, a set of another data set raises `BadValue`; a CSV file does not say what it is
    of.
    """
    doors.check()
    path = Path(path)
    # a pipe or a device may never end
    if (found := paths.kind(path)) in ("other", "folder"):
        raise BadFile(f"{path} is {'a folder' if found == 'folder' else 'no file'}. Name a file.")
    try:
        return parse_ids(path.read_bytes(), name=path.name, dataset=dataset)
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror}. Check the path.") from None


def parse_ids(content: bytes, *, name: str, dataset: str = "") -> list[int]:
    """As `read_ids`, from what a file called `name` holds."""
    if content.lstrip().startswith(b"{"):
        found = parse(content, name=name)
        if dataset:
            check_fits(found, dataset, datasets.data_hash(dataset))
        return found.ids.tolist()
    rule = (
        "A list of sample ids is a CSV file whose first line is `id`, then one whole number a line"
    )
    try:
        rows = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))
        if "id" not in (rows.fieldnames or ()):
            raise BadFile(f"{rule}, but {name} has no column `id`. Add that line at the top.")
        found = []
        for row in rows:
            text = (row["id"] or "").strip()
            number = whole_number(text)
            if number is None or not 0 <= number <= MOST:
                raise BadFile(f"{rule}, but line {rows.line_num} of {name} holds {text[:40]!r}.")
            found.append(number)
    except (UnicodeDecodeError, csv.Error):
        raise BadFile(f"{rule}, but {name} is no text file of that kind.") from None
    if not found:
        raise BadFile(f"{rule}, but {name} holds no id.")
    return found


def write_ids(path: Path | str, ids: Iterable[int]) -> None:
    """Write ids, sorted, as `read_ids` reads them."""
    Path(path).write_text(
        "id\n" + "".join(f"{int(i)}\n" for i in sorted(ids)), encoding="utf-8", newline="\n"
    )
