"""What may pass and is tried again: a lock that another program holds, a full disk, a database that
starts again, files out of reach. `awaited` alone tells it from errors that stay.

Inside `waiting`, what the store is asked for (`patient`) is tried again until it succeeds, so a run
goes on where it was. Nobody else waits: a page says at once what is wrong.
"""

from __future__ import annotations

import errno
import functools
import math
import sqlite3
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

from sqlalchemy import exc

from mucore.errors import MucoreError
from mucore.store.storage import Unreachable

DISK = "free space on the disk"
LOCK = "another program to let go of the database"
DATABASE = "the database to answer"
FILES = "the files of the store to be within reach"

FULL = (errno.ENOSPC, errno.EDQUOT)
# libraries in other languages, and both databases, have their own errors for it
_FULL_WORDS = ("No space left on device", "Disk quota exceeded", "disk is full")
_OPERATIONAL = (exc.OperationalError, sqlite3.OperationalError)
# what a file server that does not answer looks like
_AWAY = (errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.EHOSTUNREACH, errno.ENETUNREACH)
# By the documentation of Postgres, appendix A: connection exceptions, transaction rollback,
# insufficient resources, lock not available, operator intervention, idle session ended.
_PASSING_STATES = ("08", "40", "53", "55P03", "57P", "25P03", "25P04")
# What a server says of an address that will never do; all else that ends a connection passes.
_WRONG_ADDRESS = ("authentication failed", "does not exist", "pg_hba.conf", "no password supplied")

FIRST_SECONDS, LONGEST_SECONDS = 0.2, 30.0  # between tries: each pause is twice the one before

P = ParamSpec("P")
T = TypeVar("T")
_patience: ContextVar[tuple[Callable[[str, float], None], float] | None] = ContextVar(
    "patience", default=None
)


def awaited(error: BaseException) -> str | None:
    """What is waited for where the error, or what caused it, may pass, as "free space on the disk";
    None where the next try would end as this one did.
    """
    cause: BaseException | None = error
    while cause is not None:
        if (what := _awaited(cause)) is not None:
            return what
        cause = cause.__cause__
    return None


def _awaited(error: BaseException) -> str | None:
    text, number = str(error), getattr(error, "errno", None)
    if number in FULL or (not isinstance(error, MucoreError) and is_full(error)):
        return DISK
    if isinstance(error, Unreachable) or (isinstance(error, OSError) and number in _AWAY):
        return FILES
    if isinstance(error, _OPERATIONAL) and "database is locked" in text:
        return LOCK
    if isinstance(error, exc.TimeoutError):  # no connection of the pool is free
        return DATABASE
    if isinstance(error, exc.DBAPIError):
        if state := getattr(error.orig, "sqlstate", None):
            return DATABASE if state.startswith(_PASSING_STATES) else None
        away = error.connection_invalidated or isinstance(error, exc.OperationalError)
        of_sqlite = hasattr(error.orig, "sqlite_errorname")
        if away and not of_sqlite and not any(words in text for words in _WRONG_ADDRESS):
            return DATABASE
    return None


def is_full(error: BaseException) -> bool:
    """Whether a library or a database says that the disk is full."""
    orig = error.orig if isinstance(error, exc.DBAPIError) else error
    # SQLite makes its shared memory longer even to read
    shared = getattr(orig, "sqlite_errorname", "") == "SQLITE_IOERR_SHMSIZE"
    # what a sentence of ours quotes is an own method's, or stands in its cause
    return shared or any(words in str(orig) for words in _FULL_WORDS)


@contextmanager
def waiting(
    wait: Callable[[str, float], None], *, limit: float = math.inf
) -> Generator[None, None, None]:
    """Inside, in this thread, patient calls are tried again for up to `limit` seconds each.

    `wait` gets what is waited for and the seconds until the next try; it sleeps as long, or raises
    where there is no time to wait.
    """
    token = _patience.set((wait, limit))
    try:
        yield
    finally:
        _patience.reset(token)


def patient(call: Callable[P, T]) -> Callable[P, T]:
    """A function that is tried again, inside `waiting`, as long as what stops it may pass. A second
    call must do no harm where the first one succeeded and only its answer was lost.
    """

    @functools.wraps(call)
    def tried(*args: P.args, **named: P.kwargs) -> T:
        if (patience := _patience.get()) is None:
            return call(*args, **named)
        wait, limit = patience
        began, pause = time.monotonic(), FIRST_SECONDS
        token = _patience.set(None)  # what it calls itself need not wait, too
        try:
            while True:
                try:
                    return call(*args, **named)
                except Exception as error:
                    what = awaited(error)
                    if what is None or time.monotonic() + pause - began > limit:
                        raise
                wait(what, pause)
                pause = min(2 * pause, LONGEST_SECONDS)
        finally:
            _patience.reset(token)

    return tried
