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
    if "\0" in text:
        raise BadFile(f"{what} may not hold the character NUL, but got {said(text)}.")
    try:
        text.encode()
    except UnicodeEncodeError:  # the bytes of a name that is no text, which no database keeps
        raise BadFile(f"{what} must be text, but got {said(text)}. Rename what it names.") from None
    try:
        return Path(text).expanduser()
    except RuntimeError:
        user = text.partition("/")[0]
        raise BadFile(
            f"{what} begins with {said(user)}, but this machine knows no folder of such a user. "
            "Write the whole path."
        ) from None


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
