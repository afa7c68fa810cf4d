"""Whether the process behind an id still lives, and how long its heartbeat has not moved."""

from __future__ import annotations

import functools
import hashlib
import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import psutil

# How long a worker may be silent before somebody else may have its job. It beats every five
# seconds; the rest is for locks, networks and machines that pause.
GRACE_SECONDS = 60.0
# How far two readings of a process's start may lie apart (the kernel counts in clock ticks since
# boot).
_SAME_START_SECONDS = 2.0


def process_id() -> str:
    """The id that this process takes jobs under; `process_lives` knows from it whether it still
    lives.
    """
    return f"{host()}-{os.getpid()}-{psutil.Process().create_time():.2f}"


@functools.cache
def host() -> str:
    """The name of this machine, made unique by its boot and process-number space: two containers
    may share a host name.
    """
    # Linux only
    boot, namespace = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")
    identity = boot.read_text() if boot.exists() else ""
    if namespace.exists():
        identity += str(namespace.stat().st_ino)
    return f"{socket.gethostname()}.{hashlib.sha256(identity.encode()).hexdigest()[:6]}"


def process_lives(worker_id: str) -> bool | None:
    """What this machine's process table says: a zombie is dead, and so is a process that merely
    reuses the number. None for a process of another machine, or an id that names none.
    """
    where, _, rest = worker_id.rpartition("-")
    where, _, pid = where.rpartition("-")
    try:
        number, created = int(pid), float(rest)
    except ValueError:
        return None
    if where != host():
        return None
    try:
        process = psutil.Process(number)
        return (
            process.status() != psutil.STATUS_ZOMBIE
            and abs(process.create_time() - created) < _SAME_START_SECONDS
        )
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:  # somebody else's process, but it exists
        return True


@dataclass(frozen=True)
class Moment:
    """The time by the database's clock, and since when its server has been up, where it has one."""

    now: datetime
    up_since: datetime | None = None


class Lookout:
    """Judges who lives. It remembers the heartbeats that it has seen and since when, by a clock of
    this process that nobody can set, and that stands still while the machine sleeps.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self.clock = clock
        self._seen: dict[str, tuple[datetime | None, float]] = {}

    def lives(
        self,
        what: str,
        worker_id: str,
        heartbeat: datetime | None,
        moment: Moment,
        grace_seconds: float = GRACE_SECONDS,
    ) -> bool:
        """Whether the worker that wrote this heartbeat of `what` (a job, itself) lives and works.

        The process table of this machine finds a dead process at once. One that is there but was
        stopped, or hangs, is known by a heartbeat that has not moved while this object looked. For
        another machine's process the database's clock says how old the heartbeat is, beginning
        anew when the server started; one from the future, of a clock that was set back, and what
        is no time are judged like those of this machine.
        """
        here = process_lives(worker_id)
        silent = self._silent(what, heartbeat)
        if here is False or (here is None and heartbeat is None):
            return False
        if here is None and isinstance(heartbeat, datetime):
            last = max(heartbeat, moment.up_since or heartbeat)
            if (age := (moment.now - last).total_seconds()) >= 0:
                return age < grace_seconds
        return silent < grace_seconds

    def forget(self) -> None:
        """Begin anew: what was seen so far says nothing, since nobody could write."""
        self._seen = {}

    def _silent(self, what: str, heartbeat: datetime | None) -> float:
        """Seconds since this heartbeat was first seen."""
        now = self.clock()
        seen, since = self._seen.get(what, (None, now))
        if seen != heartbeat:
            since = now
        self._seen[what] = heartbeat, since
        return now - since
