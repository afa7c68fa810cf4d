"""Whether who holds a job still lives, by its process where that is of this machine, and by its
heartbeat.
"""

from __future__ import annotations

import functools
import hashlib
import os
import socket
import time
from datetime import datetime
from pathlib import Path

import psutil

# How long a worker may be silent before somebody else may have its job. It beats every two
# seconds; the rest is for locks, networks and machines that pause.
GRACE_SECONDS = 60.0
# How long a heartbeat that has run out must stand still while somebody looks: after a machine
# slept, or a server was down, all of them are old until their workers have beaten again.
RECHECK_SECONDS = 10.0
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
    reuses the number. None for a process of another machine.
    """
    where, _, rest = worker_id.partition(f"{host()}-")
    if where or not rest:
        return None
    pid, _, created = rest.partition("-")
    try:
        process = psutil.Process(int(pid))
        return (
            process.status() != psutil.STATUS_ZOMBIE
            and abs(process.create_time() - float(created)) < _SAME_START_SECONDS
        )
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:  # somebody else's process, but it exists
        return True


class Leases:
    """Which heartbeats have run out, by the database's clock and a second look."""

    def __init__(self) -> None:
        self._stale: dict[tuple[str, datetime], float] = {}

    def expired(
        self, holder: str, worker_id: str, heartbeat: datetime | None, now: datetime
    ) -> bool:
        """Whether the worker that wrote this heartbeat for `holder` (a job, itself) has ended,
        hangs or was stopped. `now` is the time of the database.
        """
        if heartbeat is None or process_lives(worker_id) is False:
            return True
        if (now - heartbeat).total_seconds() < GRACE_SECONDS:
            return False
        moment = time.monotonic()
        return moment - self._stale.setdefault((holder, heartbeat), moment) >= RECHECK_SECONDS
