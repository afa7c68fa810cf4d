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
from typing import Any

from mucore.errors import LONGEST_PATH, BadFile, said
from mucore.userfiles import doors, paths

SUFFIXES = (".safetensors", ".pt", ".pth")
MOST_BYTES = 4 << 30  # a file is held in memory while it is copied; ViT-B takes 0.35 GB
_OLD_TORCH = bytes.fromhex("80028a0a6cfc9c46f9206aa850192e")  # files before torch 1.6


def file_hash(file: str | os.PathLike[str] | None, *, what: str) -> str:
    """SHA-256 of the content of a file: 64 hexadecimal digits, which are also accepted in the place
    of a path; "" for none.

    `what` opens the sentence of the `BadFile` that is raised where there is no file, where it
    cannot be read, or where its size or first bytes say that it holds no weights: no other file is
    read. Raises `ReadOnly`.
    """
    if not (text := os.fspath(file or "").strip()):
        return ""
    doors.check()
    path = paths.path(text, what=what)
    if is_hash(text) and not os.path.exists(path):
        return text
    try:
        facts = path.stat()
        if os.path.isfile(path) and facts.st_size <= MOST_BYTES and _is_known(path):
            return _hash(path.resolve(), facts.st_size, facts.st_mtime_ns)
        reason = "it is none"
    except OSError as error:
        reason = error.strerror or str(error)
    raise BadFile(
        f"{what} needs a file of weights of at most {MOST_BYTES >> 30} GiB, as safetensors or "
        f"torch save them, but got {said(str(path), LONGEST_PATH)}: {reason}. Save "
        "model.state_dict() with either and name that file."
    )


def is_hash(text: str) -> bool:
    return len(text.strip()) == 64 and not set(text.strip()) - set("0123456789abcdef")


def keep(artifacts: Any, files: Iterable[str]) -> None:
    """Copy each file into the store (mucore/store/artifacts.py), so that its path does not matter
    afterwards. A hash stands for a file that the store must have.

    Files are checked as `file_hash` does before any is copied. Raises `BadFile`, `StoreError`.
    """
    for path in [stored(artifacts, text) for text in files]:
        artifacts.put_given(path.read_bytes())


def stored(artifacts: Any, text: str) -> Path:
    """Where the file lies that a run names by its path or, as the store has it, by its hash. Raises
    `BadFile`.
    """
    sha256 = file_hash(text, what="A run")
    return artifacts.file(sha256) if is_hash(text) else paths.path(text.strip())


def pretrained_file(model: str) -> Path | None:
    """The user's file of a model's pretrained weights, if there is one:
    `weights/<model>.safetensors` (or .pt, .pth) in the data folder.
    """
    paths = [weights_folder() / f"{model}{suffix}" for suffix in SUFFIXES]
    return next((path for path in paths if path.is_file()), None)


def weights_folder() -> Path:
    return Path(os.environ.get("MUCORE_DATA") or Path.home() / ".mucore" / "data") / "weights"


def _is_known(path: Path) -> bool:
    with path.open("rb") as stream:
        start = stream.read(len(_OLD_TORCH))
    if start.startswith(b"PK\x03\x04"):
        return _is_torch(path)
    return start == _OLD_TORCH or is_safetensors(path)


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


@functools.lru_cache(maxsize=64)
def _hash(path: Path, size: int, changed: int) -> str:
    """Remembered as long as size and time of change stay: a form asks again at every key that is
    pressed.
    """
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
