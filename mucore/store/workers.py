"""Heartbeats: who takes jobs, how a worker says that it lives, when it counts as dead, and what
becomes of its job then.

It counts as dead when its process has ended on this machine, or when its heartbeat is older than
`GRACE_SECONDS` by the database's clock and has stood still for `RECHECK_SECONDS` while somebody
looked. The thread that beats is in mucore/runner/heartbeat.py.
"""

from __future__ import annotations

import functools
import hashlib
import os
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import psutil
import sqlalchemy as sa
from sqlalchemy.engine import Connection

import mucore
from mucore.store import claims, schema
from mucore.store.records import Job, Worker
from mucore.store.schema import now
from mucore.store.transient_errors import patient

# How long a worker may be silent before somebody else may have its job. It beats every two
# seconds; the rest is for locks, networks and machines that pause.
GRACE_SECONDS = 60.0
# How long a heartbeat that has run out must stand still while somebody looks: after a machine
# slept, a server was down, or a clock was set, forth or back, all of them are old until their
# workers have beaten again.
RECHECK_SECONDS = 10.0
# A job is given up when so many workers in a row have died at it before a new checkpoint.
MOST_DEATHS = 3


class Workers(claims.Claims):
    """The part of the store that knows who takes jobs, and who of them still lives."""

    _registered: Worker | None = None  # this process

    def __init__(self, home: Path, url: str | None = None):
        super().__init__(home, url)
        # heartbeats that have run out, and when that was seen first, by the clock of this process
        self._stale: dict[tuple[str, datetime], float] = {}

    @patient
    def register_worker(
        self,
        device: str,
        threads: int,
        *,
        versions: Mapping[str, str] = {},
        facts: Mapping[str, Any] = {},
    ) -> Worker:
        """Make this process known as a worker. Calling it twice in one process renews the row.

        `versions` are those of libraries; that of mucore is added. `facts` are those of
        `Worker.facts`.
        """
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
            versions={"mucore": mucore.__version__, **versions},
            facts=facts,
        )
        return self._put_worker(worker)

    def beat(
        self,
        job_id: int,
        worker_id: str,
        *,
        progress: float | None = None,
        step: str | None = None,
        losses: Sequence[float] | None = None,
        checkpoint: bool = False,
    ) -> bool:
        """Write a heartbeat and what is given; return whether somebody asked for the end.
        `checkpoint`: there is a new one, so deaths until now count no more.

        Raises `LostJob` if the job is no longer this worker's: stop, and store nothing.
        """
        given = {"progress": progress, "step": step, "losses": losses}
        given["deaths"] = 0 if checkpoint else None
        values: dict[str, Any] = {k: v for k, v in given.items() if v is not None}
        with self.write() as connection:
            row = claims.owned(connection, job_id, worker_id)
            values["heartbeat"] = self.time(connection)
            claims.change(connection, job_id, values)
        return bool(row.cancel_requested)

    def beat_worker(
        self,
        worker_id: str,
        state: Literal["idle", "busy"],
        *,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        """Say that the worker of this process lives, and what its `facts` are by now. A row that
        another machine took for dead comes back.
        """
        self.check_writable()
        if self._registered is not None and self._registered.id == worker_id:
            facts = self._registered.facts if facts is None else facts
            self._put_worker(replace(self._registered, state=state, facts=facts))

    @patient
    def reap(self) -> list[Job]:
        """Find running jobs whose worker is dead, or silent for too long, and return them as they
        are now.

        One whose result was written before the worker died is done, one that was asked to end is
        cancelled. The others go back to queued, or are lost after `MOST_DEATHS` deaths. A
        read-only store leaves them to the others.
        """
        if self.read_only:
            return []
        table = schema.job
        known = sa.select(table.c.id, table.c.worker, table.c.heartbeat)
        running = known.where(table.c.state == "running")
        with self.read() as connection:
            time = self.time(connection)
            dead = [
                row
                for row in connection.execute(running)
                if self._expired(f"job {row.id}", row.worker or "", row.heartbeat, time)
            ]
        if not dead:
            return []
        with self.write() as connection:
            still = set(connection.execute(running).all()).intersection(dead)
            mine = sa.select(table).where(table.c.id.in_([row.id for row in still]))
            for row in connection.execute(mine).all():
                claims.change(connection, row.id, _without_worker(connection, row))
            claims.end_obsolete_jobs(connection)
            rows = connection.execute(mine.order_by(table.c.id)).all()
        return [claims.job_of(row) for row in rows]

    @patient
    def workers(self) -> list[Worker]:
        """Workers that live, oldest first. Rows of dead ones are removed."""
        table = schema.worker
        with self.read() as connection:
            rows = connection.execute(sa.select(table).order_by(table.c.started)).all()
            time = self.time(connection)
        every = [Worker(**row._mapping) for row in rows]
        dead = [
            worker
            for worker in every
            if self._expired(worker.id, worker.id, worker.heartbeat, time)
        ]
        if dead and not self.read_only:
            with self.write() as connection:
                for worker in dead:  # unless it has beaten since
                    same = sa.and_(table.c.id == worker.id, table.c.heartbeat == worker.heartbeat)
                    connection.execute(sa.delete(table).where(same))
        return [worker for worker in every if worker not in dead]

    @patient
    def remove_worker(self, worker_id: str) -> None:
        """Take the row away; jobs that it still runs are found by `reap` once the process has
        ended.
        """
        with self.write() as connection:
            connection.execute(sa.delete(schema.worker).where(schema.worker.c.id == worker_id))
        self._registered = None

    def _put_worker(self, worker: Worker) -> Worker:
        with self.write() as connection:
            worker = replace(worker, heartbeat=self.time(connection))
            self._replace(connection, schema.worker.c.id, [asdict(worker)])
        self._registered = worker
        return worker

    def _expired(
        self, holder: str, worker_id: str, heartbeat: datetime | None, now: datetime
    ) -> bool:
        """Whether the worker that wrote this heartbeat for `holder` (a job, itself) has ended,
        hangs or was stopped, by a second look, too. `now` is the time of the database.
        """
        if heartbeat is None or process_lives(worker_id) is False:
            return True
        if abs((now - heartbeat).total_seconds()) < GRACE_SECONDS:
            return False
        moment = time.monotonic()
        return moment - self._stale.setdefault((holder, heartbeat), moment) >= RECHECK_SECONDS


def _without_worker(connection: Connection, row: Any) -> dict[str, Any]:
    """What becomes of a running job whose worker is gone."""
    result = schema.result
    stored = sa.select(result.c.key).where(result.c.key == row.key)
    if connection.execute(stored).first() is not None:
        return claims.done()
    if row.cancel_requested:
        return claims.cancelled()
    deaths = row.deaths + 1
    if deaths < MOST_DEATHS:
        return claims.requeued() | {"deaths": deaths}
    return {
        "deaths": deaths,
        "state": "lost",
        "finished": now(),
        "error": f"The worker died {deaths} times while it ran this job, the last time in "
        f"“{row.step}”. Its log may say why; too little memory is the most frequent cause.",
    }


def process_id(pid: int | None = None) -> str:
    """The id that a process, None being this one, takes jobs under; `process_lives` knows from it
    whether it still lives.
    """
    process = psutil.Process(pid)
    # the hash is of number and start, which psutil reads off no clock that can be set
    return f"{host()}-{process.pid}-{hash(process)}"


@functools.cache
def host() -> str:
    """The name of this machine, made unique by its boot and process-number space: two containers
    may share a host name. Eight digits: with six, as earlier versions have it, an id holds a time
    of the clock, so that their workers here count as another machine's.
    """
    # Linux only
    boot, namespace = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")
    identity = boot.read_text() if boot.exists() else ""
    if namespace.exists():
        identity += str(namespace.stat().st_ino)
    return f"{socket.gethostname()}.{hashlib.sha256(identity.encode()).hexdigest()[:8]}"


def process_lives(worker_id: str) -> bool | None:
    """What this machine's process table says: a zombie is dead, and so is a process that merely
    reuses the number. None for a process of another machine.
    """
    where, _, rest = worker_id.partition(f"{host()}-")
    if where or not rest:
        return None
    pid = int(rest.partition("-")[0])
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE and process_id(pid) == worker_id
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:  # somebody else's process, but it exists
        return True
