"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from mucore.errors import StoreError


@contextmanager
def whole_file(path: Path) -> Generator[Path]:
    """A path beside `path` to write to. What was written takes the place of `path` when the block
    ends well, and goes when it does not.

    A reader, and a second process that writes the same, never see half a file. Raises `OSError`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{uuid.uuid4().hex}.part")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write(path: Path, content: bytes) -> None:
    """Write a whole file or none. Raises `StoreError`."""
    try:
        with whole_file(path) as temporary:
            temporary.write_bytes(content)
    except OSError as error:
        raise StoreError(
            f"{path} could not be written: {error.strerror or error}. Free some space, or choose "
            "another home."
        ) from error
