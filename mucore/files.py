"""Files that are there as a whole or not at all."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import tempfile
import time
import uuid
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from mucore.errors import StoreError

SUFFIX = ".part"
# A part that nobody has written to for so long is left over: of this machine, once its process is
# gone (another container may have the machine's name, but other processes), and of any other.
_SURE, _ELSEWHERE = 3600.0, 7 * 86400.0


@contextmanager
def whole_file(path: Path) -> Generator[Path]:
    """A path beside `path` to write to. What was written takes the place of `path` when the block
    ends well, and goes when it does not.

    A reader, and a second process that writes the same, never see half a file. Raises `OSError`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{_machine()}.{os.getpid()}.{uuid.uuid4().hex[:16]}{SUFFIX}")
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
            "another home."
        ) from error


@contextmanager
def temporary_folder(name: str) -> Generator[Path]:
    """A folder among the temporary files, which goes with the block. Those of processes of this
    machine that were killed in theirs go first.
    """
    mine = f"{name}-{_machine()}-"
    for folder in Path(tempfile.gettempdir()).glob(f"{mine}*"):
        pid = folder.name.removeprefix(mine).partition("-")[0]
        if pid.isdecimal() and not psutil.pid_exists(int(pid)):
            shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f"{mine}{os.getpid()}-") as path:
        yield Path(path)


def remove_left_over(folder: Path) -> list[Path]:
    """Remove the parts under a folder whose writers ended without a word, and name them; none that
    somebody may still write to.
    """
    removed = []
    for part in folder.rglob(f".*{SUFFIX}"):
        with suppress(OSError):
            if _left_over(part):
                part.unlink()
                removed.append(part)
    return removed


def _left_over(part: Path) -> bool:
    silent = time.time() - part.stat().st_mtime
    machine, _, rest = part.name.removeprefix(".").partition(".")
    pid = rest.partition(".")[0]
    if machine == _machine() and pid.isdecimal():
        return silent > _SURE and not psutil.pid_exists(int(pid))
    return silent > _ELSEWHERE  # of another machine, or of an earlier version


def _machine() -> str:
    """A name of this machine that fits in any file name."""
    return hashlib.sha256(platform.node().encode(errors="replace")).hexdigest()[:8]
