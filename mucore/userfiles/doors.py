"""The doors to files that a user names, and to code of theirs: closed to who may only read.

Whoever serves pages to others says with `guard` who that is. What opens such a file asks `check`
first, wherever the name came from, so that no address of a page and no message to it finds a way
around.
"""

from __future__ import annotations

from collections.abc import Callable

from mucore.errors import ReadOnly

_why_closed: Callable[[], str] | None = None


def guard(why_closed: Callable[[], str] | None) -> None:
    """From now on `why_closed` is asked at every door of this process: "" opens it, a sentence
    says why it stays closed. None opens all, as they are at first.
    """
    global _why_closed
    _why_closed = why_closed


def check() -> None:
    """Raise `ReadOnly` with the sentence where the door is closed to who asks."""
    if _why_closed is not None and (sentence := _why_closed()):
        raise ReadOnly(sentence)
