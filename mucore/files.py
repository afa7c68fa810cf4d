"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from mucore.errors import StoreError

SUFFIX = ".part"
_LEFT_OVER = 86400.0  # seconds without a change, of a part whose writer was killed


@contextmanager
def whole_file(path: Path) -> Generator[Path]:
    """A path beside `path` to write to. What was written takes the place of `path` when the block
    ends well, and goes when it does not.

    A reader, and a second process that writes the same, never see half a file. Raises `OSError`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{uuid.uuid4().hex[:16]}{SUFFIX}")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_lasting(path: Path, content: bytes) -> None:
    """Write a whole file or none, which a power cut leaves so once this has returned. Raises
    `OSError`.
    """
    with whole_file(path) as temporary, temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    if os.name == "posix":  # the move itself must survive, too
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def write(path: Path, content: bytes) -> None:
    """`write_lasting`, with a sentence where it fails. Raises `StoreError`."""
    try:
        write_lasting(path, content)
    except OSError as error:
        raise StoreError(
            f"{path} could not be written: {error.strerror or error}. Free some space, or choose "
            "another place."
        ) from error


def remove_left_over(folder: Path) -> list[Path]:
    """Remove the parts under a folder that nobody has written to for a day, and name them."""
    removed = []
    for part in folder.rglob(f".*{SUFFIX}"):
        with suppress(OSError):
            if time.time() - part.stat().st_mtime > _LEFT_OVER:
                part.unlink()
                removed.append(part)
    return removed
