"""Files of weights that a user uploads, seen without torch: their hash, where pretrained ones lie,
and the store's copies of the others.
"""

from __future__ import annotations

import functools
import hashlib
import os
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from mucore.errors import LONGEST_PATH, BadFile, said
from mucore.userfiles import doors, paths

SUFFIXES = (".safetensors", ".pt", ".pth")
MOST_BYTES = 4 << 30  # a file is held in memory while it is copied; ViT-B takes 0.35 GB
_OLD_TORCH = bytes.fromhex("80028a0a6cfc9c46f9206aa850192e")  # files before torch 1.6


def file_hash(text: str, *, what: str) -> str:
    """SHA-256 of the content of a file: 64 hexadecimal digits, which are also accepted in the place
    of a path.

    `what` opens the sentence of the `BadFile` that is raised where there is no file, where it
    cannot be read, or where its size or first bytes say that it holds no weights: no other file is
    read. Raises `ReadOnly`.
    """
    doors.check()
    path = _path(text, what)
    found = paths.kind(path)
    if is_hash(text) and not found:
        return text.strip()
    try:
        facts = path.stat()
        if found != "file":
            kind = "a folder" if found == "folder" else "none"
            raise BadFile(f"{what} needs a file, but {path} is {kind}.")
        _check_content(path, facts.st_size, what)
        return _hash(path.resolve(), facts.st_size, facts.st_mtime_ns)
    except OSError as error:
        raise BadFile(
            f"{what} needs a file, but {said(str(path), LONGEST_PATH)} cannot be read: "
            f"{error.strerror or error}. Check "
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

    Files are checked as `file_hash` does before any is copied. Raises `BadFile`, `StoreError`.
    """
    for path in [stored(artifacts, text) for text in files]:
        artifacts.put_file(path)


def stored(artifacts: Files, text: str) -> Path:
    """Where the file lies that a run names by its path or, as the store has it, by its hash. Raises
    `BadFile`.
    """
    sha256 = file_hash(text, what="A run")
    return artifacts.file(sha256) if is_hash(text) else _path(text)


def pretrained_file(model: str) -> Path | None:
    """The user's file of a model's pretrained weights, if there is one:
    `weights/<model>.safetensors` (or .pt, .pth) in the data folder.
    """
    paths = [weights_folder() / f"{model}{suffix}" for suffix in SUFFIXES]
    return next((path for path in paths if path.is_file()), None)


def weights_folder() -> Path:
    return Path(os.environ.get("MUCORE_DATA") or Path.home() / ".mucore" / "data") / "weights"


def _check_content(path: Path, size: int, what: str) -> None:
    """Raise `BadFile` unless size and header are those of a file of weights."""
    if size > MOST_BYTES:
        raise BadFile(
            f"{what} may come from a file of at most {MOST_BYTES >> 30} GiB, but {path} has "
            f"{size / 2**30:.1f}."
        )
    with path.open("rb") as stream:
        start = stream.read(len(_OLD_TORCH))
    known = start == _OLD_TORCH or (
        _is_torch(path) if start.startswith(b"PK\x03\x04") else is_safetensors(path)
    )
    if not known:
        raise BadFile(
            f"{what} needs weights as safetensors or torch save them, but {path} is a file of "
            "another kind. Save model.state_dict() with either and name that file."
        )


def _is_torch(path: Path) -> bool:
    """Whether a zip archive has the part that torch writes first."""
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
            # torch compresses nothing, so a file that unpacks to more is none of its
            small = sum(part.file_size for part in parts) <= MOST_BYTES
            return small and any(part.filename.endswith("/data.pkl") for part in parts)
    except Exception:  # zipfile raises a dozen kinds for archives that were damaged
        return False


def is_safetensors(path: Path) -> bool:
    """Whether a file opens with the length of a dictionary in JSON, as no other kind does."""
    with path.open("rb") as stream:
        length, first = int.from_bytes(stream.read(8), "little"), stream.read(1)
    return 2 <= length <= path.stat().st_size - 8 and first == b"{"


def _path(text: str, what: str = "A file of weights") -> Path:
    return paths.path(text.strip(), what=what)


@functools.lru_cache(maxsize=64)
def _hash(path: Path, size: int, changed: int) -> str:
    """Remembered as long as size and time of change stay: a form asks again at every key that is
    pressed.
    """
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
