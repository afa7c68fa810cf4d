"""Paths that a person names."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Literal

from mucore.errors import LONGEST_PATH, BadFile, said


def path(text: str, *, what: str = "A path") -> Path:
    """The path of a text, `~` and `~user` for their folders. Raises `BadFile` for one that no
    system takes; `what` opens the sentence.
    """
    try:
        text.encode()  # no database keeps the bytes of a name that is no text
        if "\0" not in text:
            return Path(text).expanduser()
    except (UnicodeEncodeError, RuntimeError):
        pass
    raise BadFile(
        f"{what} names no place on this machine: {said(text)}. Write the whole path, in text."
    )


def default_home() -> Path:
    """`MUCORE_HOME`, or `.mucore` in the user's home folder. Raises `BadFile`."""
    return path(os.environ.get("MUCORE_HOME") or str(Path.home() / ".mucore"), what="The home")


def kind(path: Path) -> Literal["file", "folder", "other", ""]:
    """What lies at a path, links followed: a pipe or a device is "other", and "" nothing. Raises
    `BadFile` where nobody can say, as with a name that is too long.
    """
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, ValueError) as error:
        raise BadFile(
            f"{said(str(path), LONGEST_PATH)} cannot be looked at: "
            f"{getattr(error, 'strerror', None) or error}. Check the path."
        ) from None
    if stat.S_ISREG(mode):
        return "file"
    return "folder" if stat.S_ISDIR(mode) else "other"
