"""Worker rows, and whether the process behind one still lives."""

from __future__ import annotations

import functools
import hashlib
import os
import socket
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

import psutil
import sqlalchemy as sa

from mucore.store import schema
from mucore.store.engine import Database
from mucore.store.rows import Worker
from mucore.store.schema import now

# A process of another machine can only be judged by its heartbeat; clocks differ and networks
# pause.
REMOTE_SECONDS = 60.0
# How far two readings of a process's start may lie apart (the kernel counts in clock ticks since
# boot).
_SAME_START_SECONDS = 2.0


class Workers(Database):
    """The part of the store that knows who takes jobs."""

    _registered: dict[str, Worker] | None = None

    def register_worker(self, device: str, threads: int) -> Worker:
        """Make this process known as a worker. Calling it twice in one process renews the row."""
        time = now()
        worker = Worker(
            id=process_id(),
            host=socket.gethostname(),
            pid=os.getpid(),
            pid_created=psutil.Process().create_time(),
            device=device,
            threads=threads,
            state="idle",
            started=time,
            heartbeat=time,
        )
        self._registered = {**(self._registered or {}), worker.id: worker}
        self._put_worker(worker)
        return worker

    def beat_worker(self, worker_id: str, state: Literal["idle", "busy"]) -> None:
        """Say that the worker lives. A row that another machine took for dead comes back."""
        table = schema.worker
        with self.write() as connection:
            row = connection.execute(
                sa.select(table.c.state).where(table.c.id == worker_id)
            ).one_or_none()
            connection.execute(
                sa.update(table).where(table.c.id == worker_id).values(state=state, heartbeat=now())
            )
            if row is not None and row.state != state:
                self.moved(connection, "jobs")
        if row is None and self._registered and worker_id in self._registered:
            self._put_worker(replace(self._registered[worker_id], state=state, heartbeat=now()))

    def remove_worker(self, worker_id: str) -> None:
        """Take the row away; jobs that it still runs are found by `reap` once the process has
        ended.
        """
        with self.write("jobs") as connection:
            connection.execute(sa.delete(schema.worker).where(schema.worker.c.id == worker_id))
        if self._registered:
            self._registered.pop(worker_id, None)

    def workers(self) -> list[Worker]:
        """Workers that live, oldest first. Rows of dead ones are removed."""
        with self.read() as connection:
            every = [
                Worker(**row)
                for row in connection.execute(
                    sa.select(schema.worker).order_by(schema.worker.c.started)
                ).mappings()
            ]
        dead = [
            worker.id for worker in every if not alive(worker.id, worker.heartbeat, REMOTE_SECONDS)
        ]
        if dead and not self.read_only:
            with self.write("jobs") as connection:
                connection.execute(sa.delete(schema.worker).where(schema.worker.c.id.in_(dead)))
        return [worker for worker in every if worker.id not in dead]

    def _put_worker(self, worker: Worker) -> None:
        with self.write("jobs") as connection:
            connection.execute(sa.delete(schema.worker).where(schema.worker.c.id == worker.id))
            connection.execute(sa.insert(schema.worker).values(asdict(worker)))


def process_id() -> str:
    """The id that this process takes jobs under; `alive` knows from it whether it still lives."""
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


def alive(worker_id: str, heartbeat: datetime | None, unknown_seconds: float) -> bool:
    """Whether the worker's process lives.

    On this machine the process table answers (a zombie is dead, and so is a process that merely
    reuses the number). Elsewhere a heartbeat within 60 s does; an id that names no process is
    judged by a heartbeat within `unknown_seconds`.
    """
    where, _, rest = worker_id.rpartition("-")
    where, _, pid = where.rpartition("-")
    try:
        number, created = int(pid), float(rest)
    except ValueError:
        return _recent(heartbeat, unknown_seconds)
    if where != host():
        return _recent(heartbeat, max(unknown_seconds, REMOTE_SECONDS))
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


def _recent(heartbeat: datetime | None, seconds: float) -> bool:
    return heartbeat is not None and now() - heartbeat < timedelta(seconds=seconds)
