"""Trouble that passes: a lock that another program holds, a full disk, a database that starts
again, files out of reach for a while. `awaited` alone tells it from trouble that stays.

Inside `waiting`, what the store is asked for (`patient`) is tried again until it succeeds, so a run
goes on where it was. Nobody else waits: a page says at once what is wrong.
"""

from __future__ import annotations

import errno
import functools
import math
import sqlite3
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from sqlalchemy import exc

from mucore.store.places import Unreachable

DISK = "free space on the disk"
LOCK = "another program to let go of the database"
DATABASE = "the database to answer"
FILES = "the files of the store to be within reach"

FULL = (errno.ENOSPC, errno.EDQUOT)
# what a file server that does not answer looks like
_AWAY = tuple(
    getattr(errno, name)
    for name in ("EIO", "ESTALE", "ETIMEDOUT", "EHOSTDOWN", "EHOSTUNREACH", "ENETUNREACH")
    if hasattr(errno, name)
)
_FULL_WORDS = ("No space left on device", "Disk quota exceeded", "is full")
# What a server says of an address that will never do; all else that ends a connection passes.
_WRONG_ADDRESS = ("authentication failed", "does not exist", "pg_hba.conf", "no password supplied")
# By the documentation of Postgres, appendix A: connection exceptions, transaction rollback,
# insufficient resources, lock not available, operator intervention, idle session ended.
_PASSING_STATES = ("08", "40", "53", "55P03", "57P", "25P03", "25P04")
_REFUSED = ("PermissionError", "NoCredentialsError", "PartialCredentialsError")

FIRST_SECONDS, LONGEST_SECONDS = 0.2, 30.0

P = ParamSpec("P")
T = TypeVar("T")


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
    if isinstance(error, Unreachable):
        return None if type(error.__cause__).__name__ in _REFUSED else FILES
    if isinstance(error, OSError):
        return DISK if error.errno in FULL else FILES if error.errno in _AWAY else None
    if isinstance(error, exc.TimeoutError):  # no connection of the pool is free
        return DATABASE
    if isinstance(error, exc.DBAPIError):
        ended = error.connection_invalidated or isinstance(error, exc.OperationalError)
        return _of_database(error.orig, ended=ended)
    if isinstance(error, sqlite3.Error):
        return _of_database(error, ended=False)
    # libraries in other languages have their own errors for it
    return DISK if isinstance(error, Exception) and _FULL_WORDS[0] in str(error) else None


def _of_database(error: BaseException | None, *, ended: bool) -> str | None:
    """Of the driver's own error; `ended`: the connection is gone."""
    text, name = str(error), getattr(error, "sqlite_errorname", "")
    state = getattr(error, "sqlstate", None) or ""
    # a full disk also shows where SQLite makes its shared memory longer
    if state == "53100" or name == "SQLITE_IOERR_SHMSIZE" or any(w in text for w in _FULL_WORDS):
        return DISK
    if "is locked" in text:
        return LOCK
    if name:
        return None
    if state:
        return DATABASE if state.startswith(_PASSING_STATES) else None
    return DATABASE if ended and not any(words in text for words in _WRONG_ADDRESS) else None


def pauses() -> Iterator[float]:
    """Seconds between tries: each pause is twice the one before, up to half a minute."""
    seconds = FIRST_SECONDS
    while True:
        yield seconds
        seconds = min(2 * seconds, LONGEST_SECONDS)


@dataclass(frozen=True)
class _Patience:
    wait: Callable[[str, float], None]
    limit: float


_patience: ContextVar[_Patience | None] = ContextVar("patience", default=None)


@contextmanager
def waiting(
    wait: Callable[[str, float], None], *, limit: float = math.inf
) -> Generator[None, None, None]:
    """Inside, in this thread, patient calls are tried again for up to `limit` seconds each.

    `wait` gets what is waited for and the seconds until the next try; it sleeps as long, or raises
    where there is no time to wait.
    """
    token = _patience.set(_Patience(wait, limit))
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
        patience = _patience.get()
        if patience is None:
            return call(*args, **named)
        token = _patience.set(None)  # what it calls itself need not wait, too
        began = time.monotonic()
        try:
            coming = pauses()
            while True:
                try:
                    return call(*args, **named)
                except Exception as error:
                    what, pause = awaited(error), next(coming)
                    if what is None or time.monotonic() + pause - began > patience.limit:
                        raise
                patience.wait(what, pause)
        finally:
            _patience.reset(token)

    return tried
