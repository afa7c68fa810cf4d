"""Paths that a person names."""

from __future__ import annotations

import os
from pathlib import Path

from mucore.errors import BadFile, said


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
