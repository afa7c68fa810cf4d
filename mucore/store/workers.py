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
from mucore.errors import said
from mucore.store import schema
from mucore.store.engine import Database
from mucore.store.liveness import process_id
from mucore.store.planned import revisions
from mucore.store.rows import Worker
from mucore.store.schema import check_times, from_json, now, to_json, whole_row
from mucore.store.trouble import patient


class Workers(Database):
    """The part of the store that knows who takes jobs."""

    _registered: dict[str, Worker] | None = None

    @patient
    def register_worker(
        self,
        device: str,
        threads: int,
        *,
        versions: Mapping[str, str] | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> Worker:
        """Make this process known as a worker. Calling it twice in one process renews the row.

        `versions` are those of libraries; the version of mucore and the revisions of its cards are
        added. `facts` are those of `Worker.facts`.
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
            versions={"mucore": mucore.__version__, **(versions or {}), **revisions()},
            facts=facts or {},
        )
        self._registered = {**(self._registered or {}), worker.id: worker}
        return self._put_worker(worker)

    def beat_worker(
        self,
        worker_id: str,
        state: Literal["idle", "busy"],
        note: str = "",
        *,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        """Say that the worker lives. A row that another machine took for dead comes back.

        `note`: a sentence why it is idle although runs wait. `facts`: what they are by now.
        """
        table = schema.worker
        mine = table.c.id == worker_id
        alike = sa.and_(mine, table.c.state == state, table.c.note == note)
        with self.write(alone=False) as connection:
            now_so = {"facts": to_json(dict(facts))} if facts is not None else {}
            beat = sa.update(table).where(alike).values(heartbeat=self.clock(), **now_so)
            if connection.execute(beat).rowcount:
                return
        with self.write("jobs") as connection:
            values = {"state": state, "note": note, "heartbeat": self.clock(), **now_so}
            if connection.execute(sa.update(table).where(mine).values(values)).rowcount:
                return
        if self._registered and worker_id in self._registered:
            known = self._registered[worker_id]
            self._put_worker(replace(known, state=state, note=note, facts=facts or known.facts))

    @patient
    def remove_worker(self, worker_id: str) -> None:
        """Take the row away; jobs that it still runs are found by `reap` once the process has
        ended.
        """
        with self.write("jobs") as connection:
            connection.execute(sa.delete(schema.worker).where(schema.worker.c.id == worker_id))
        if self._registered:
            self._registered.pop(worker_id, None)

    @patient
    def workers(self) -> list[Worker]:
        """Workers that live, oldest first. Rows of dead ones are removed, and damaged ones, which
        their workers write anew.
        """
        with self.read() as connection:
            rows = connection.execute(
                sa.select(schema.worker).order_by(schema.worker.c.started)
            ).all()
            moment = self.moment(connection)
        every = self._whole("worker", rows, _worker, lambda row: row.id)
        dead = [
            worker
            for worker in every
            if not self.lookout.lives(worker.id, worker.id, worker.heartbeat, moment)
        ]
        damaged = {row.id for row in rows} - {worker.id for worker in every}
        if (dead or damaged) and not self.read_only:
            table = schema.worker
            with self.write("jobs") as connection:
                connection.execute(sa.delete(table).where(table.c.id.in_(damaged)))
                for worker in dead:  # unless it has beaten since
                    same = sa.and_(table.c.id == worker.id, table.c.heartbeat == worker.heartbeat)
                    connection.execute(sa.delete(table).where(same))
        return [worker for worker in every if worker not in dead]

    @patient
    def count_workers(self) -> int:
        """How many there are, with those that died a moment ago."""
        with self.read() as connection:
            query = sa.select(sa.func.count()).select_from(schema.worker)
            return connection.execute(query).scalar_one()

    def _put_worker(self, worker: Worker) -> Worker:
        table = schema.worker
        row: dict[str, Any] = asdict(worker)
        row |= {name: to_json(dict(row[name])) for name in ("versions", "facts")}
        with self.write("jobs") as connection:
            row["heartbeat"] = self.clock()
            connection.execute(sa.delete(table).where(table.c.id == worker.id))
            put = sa.insert(table).values(row).returning(table.c.heartbeat)
            return replace(worker, heartbeat=connection.execute(put).scalar_one())


def _worker(row: Any) -> Worker:
    """Raises `StoreError` for a damaged row."""
    fields = dict(row._mapping)
    with whole_row():
        check_times(row.started, row.heartbeat)
        for name in ("versions", "facts"):
            if not isinstance(value := from_json(fields[name]), dict):
                raise TypeError(f"{name} is {said(value)}")
            fields[name] = value
    return Worker(**fields)
