"""The doors to files that a user names, and to code of theirs: closed to who may only read.

Whoever serves pages to others says with `guard` who that is. What opens such a file asks `check`
first, wherever the name came from, so that no address of a page and no message to it finds a way
around.
"""

from __future__ import annotations

from collections.abc import Callable

from mucore.errors import ReadOnly

Why = Callable[[], str] | None

_why_closed: Why = None
_why_no_code: Why = None


def guard(why_closed: Why, why_no_code: Why = None) -> None:
    """From now on `why_closed` is asked at every door of this process, and `why_no_code` besides
    where code comes in: "" opens it, a sentence says why it stays closed. None opens all, as they
    are at first.
    """
    global _why_closed, _why_no_code
    _why_closed, _why_no_code = why_closed, why_no_code


def check() -> None:
    """Raise `ReadOnly` with the sentence where the door is closed to who asks."""
    if _why_closed is not None and (sentence := _why_closed()):
        raise ReadOnly(sentence)


def check_code() -> None:
    """As `check`, for code that comes from a page: who may name a file of this machine need not be
    one who may write a program that runs on it.
    """
    check()
    if _why_no_code is not None and (sentence := _why_no_code()):
        raise ReadOnly(sentence)
