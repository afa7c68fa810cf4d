"""Files of weights that a user uploads, seen without torch: their hash, where pretrained ones lie,
and the store's copies of the others.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from mucore.errors import BadFile

SUFFIXES = (".safetensors", ".pt", ".pth")


def file_hash(text: str, *, what: str) -> str:
    """SHA-256 of the content of a file: 64 hexadecimal digits, which are also accepted in the place
    of a path.

    `what` opens the sentence of the `BadFile` that is raised where there is no file, or where it
    cannot be read.
    """
    path = _path(text)
    if is_hash(text) and not path.exists():
        return text.strip()
    try:
        facts = path.stat()
        if not path.is_file():
            raise BadFile(f"{what} needs a file, but {path} is a folder.")
        return _hash(path.resolve(), facts.st_size, facts.st_mtime_ns)
    except OSError as error:
        raise BadFile(
            f"{what} needs a file, but {path} cannot be read: {error.strerror or error}. Check "
            "the path."
        ) from None


def is_hash(text: str) -> bool:
    return len(text.strip()) == 64 and not set(text.strip()) - set("0123456789abcdef")


class Files(Protocol):
    """A store of files that are named by their content (mucore/store/artifacts.py)."""

    def put_file(self, path: Path) -> str: ...

    def file(self, sha256: str) -> Path: ...


def keep(artifacts: Files, files: Iterable[str]) -> None:
    """Copy each file into the store, so that its path does not matter afterwards. A hash stands for
    a file that the store must have.

    Raises `BadFile`, `StoreError`.
    """
    for text in files:
        path = _path(text)
        if path.is_file():
            artifacts.put_file(path)
        else:
            artifacts.file(file_hash(text, what="A run"))


def pretrained_file(model: str) -> Path | None:
    """The user's file of a model's pretrained weights, if there is one:
    `weights/<model>.safetensors` (or .pt, .pth) in the data folder.
    """
    paths = [weights_folder() / f"{model}{suffix}" for suffix in SUFFIXES]
    return next((path for path in paths if path.is_file()), None)


def weights_folder() -> Path:
    return Path(os.environ.get("MUCORE_DATA") or Path.home() / ".mucore" / "data") / "weights"


def _path(text: str) -> Path:
    return Path(text.strip()).expanduser()


@functools.lru_cache(maxsize=64)
def _hash(path: Path, size: int, changed: int) -> str:
    """Remembered as long as size and time of change stay: a form asks again at every key that is
    pressed.
    """
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
