"""Worker rows: who takes jobs, with which code, and who of them still lives."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, Literal

import psutil
import sqlalchemy as sa

import mucore
from mucore.store import schema
from mucore.store.heartbeat import Heartbeats, process_id
from mucore.store.retry import patient
from mucore.store.rows import Worker
from mucore.store.schema import now


class Workers(Heartbeats):
    """The part of the store that knows who takes jobs."""

    _registered: Worker | None = None  # this process

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
    def remove_worker(self, worker_id: str) -> None:
        """Take the row away; jobs that it still runs are found by `reap` once the process has
        ended.
        """
        with self.write() as connection:
            connection.execute(sa.delete(schema.worker).where(schema.worker.c.id == worker_id))
        self._registered = None

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

    def _put_worker(self, worker: Worker) -> Worker:
        table = schema.worker
        with self.write() as connection:
            worker = replace(worker, heartbeat=self.time(connection))
            connection.execute(sa.delete(table).where(table.c.id == worker.id))
            connection.execute(sa.insert(table).values(asdict(worker)))
        self._registered = worker
        return worker
