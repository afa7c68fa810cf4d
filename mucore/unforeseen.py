"""The last step of every door (command line, Python, pages): what nobody foresaw becomes a
sentence, and its traceback goes to a log under a number that the sentence names.
"""

from __future__ import annotations

import errno
import os
import sysconfig
import tempfile
import traceback
import uuid
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import mucore
from mucore.errors import (
    LONGEST_PATH,
    BadFile,
    BadValue,
    Cancelled,
    MucoreError,
    StoreError,
    Unforeseen,
    said,
)

FILE = "unforeseen.log"  # in the folder `logs` of the home
_FULL = (errno.ENOSPC, errno.EDQUOT)
_HERE = str(Path(__file__).resolve().parent)
# code of mucore, Python and installed packages, and what these made on the way, as a dataclass's
_KNOWN = (_HERE, sysconfig.get_path("stdlib"), "<frozen", "<string")


def told(error: Exception, door: str, *, home: Path | None = None) -> MucoreError:
    """The sentence for an error that reached a door: that of `foreseen`, else `Unforeseen`, once
    the traceback was written to the log of `home` (or where temporary files lie, where that cannot
    be written).
    """
    if (sentence := foreseen(error)) is not None:
        return sentence
    reference = uuid.uuid4().hex[:8]
    path = _write(error, door, reference, home)
    where = f"{path} has the details under {reference}" if path else "No log could be written"
    return Unforeseen(
        f"Something went wrong that was not foreseen: {type(error).__name__}, {said(str(error))}. "
        f"What is stored is sound: a record is written whole or not at all. {where}.",
        reference,
    )


def foreseen(error: Exception) -> MucoreError | None:
    """The error itself where it is a sentence, another for what the machine lacks or a path that
    cannot be used, None for a defect of mucore.
    """
    if isinstance(error, MucoreError):
        return error
    if _lacks_memory(error):
        return MucoreError(
            "This takes more memory than there is. Choose a smaller batch size or model, another "
            f"device, or end other programs. The device said: {error}"
        )
    if isinstance(error, OSError) and error.errno in _FULL:
        return StoreError(
            f"No space is left on the disk ({error}). Free some, or choose another folder with "
            "--home."
        )
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return BadFile(
            f"{said(str(error.filename), LONGEST_PATH)} cannot be used: {error.strerror}. Check "
            "the path and who may read and write there."
        )
    if isinstance(error, ValueError) and "embedded null" in str(error):
        return BadValue("A path may not hold the character NUL. Take it out.")
    if isinstance(error, UnicodeEncodeError) and error.reason == "surrogates not allowed":
        return BadValue(f"{said(error.object)} is no text. Write it in UTF-8.")
    return None


def _lacks_memory(error: Exception) -> bool:
    """Also where torch, which is not imported for this, has no room on a GPU or on the CPU."""
    text = str(error)
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError)
        and ("out of memory" in text or "can't allocate memory" in text)
    )


def passes(error: Exception) -> bool:
    """Whether the Python door lets an error through as it is: a sentence, a warning that the
    caller turned into an error, or one out of code of the caller's that was called from here.
    """
    if isinstance(error, MucoreError | Cancelled | Warning):
        return True
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    inside = next((n for n, file in enumerate(files) if file.startswith(_HERE)), len(files))
    known = (file.startswith(_KNOWN) or "site-packages" in file for file in files[inside:])
    return not all(known)


def _write(error: Exception, door: str, reference: str, home: Path | None) -> Path | None:
    when = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
    trace = "".join(traceback.format_exception(error))
    text = f"[{reference}] {when}, {door}, mucore {mucore.__version__}\n{trace}\n"
    own = Path(home or os.environ.get("MUCORE_HOME") or "~/.mucore", "logs")
    for folder in (own, Path(tempfile.gettempdir(), "mucore-logs")):
        with suppress(OSError, ValueError, RuntimeError):  # ~somebody whom this machine lacks
            path = folder.expanduser() / FILE
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
            return path
    return None
