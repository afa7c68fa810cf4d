"""What workers do with jobs: take one, say that they live, end it or give it back; and what
becomes of the jobs of dead ones.

A worker that was taken for dead may wake up later; what it would still write for its job is refused
then, in the transaction that would write it.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from mucore.errors import StoreError
from mucore.store import dependencies, schema
from mucore.store.database import Database
from mucore.store.dependencies import cancelled, done
from mucore.store.retry import patient
from mucore.store.rows import ACTIVE, Job
from mucore.store.schema import now

# A job is given up when so many workers in a row have died at it before a new checkpoint.
MOST_ATTEMPTS = 3
# A job that met what may pass is tried again after so long.
RETRY_SECONDS = 30.0
_KEEP_LOG = sa.text(
    "INSERT INTO job_log (job, text) VALUES (:job, :text) "
    "ON CONFLICT (job) DO UPDATE SET text = excluded.text"
)


class LostJob(StoreError):
    """The job is no longer this worker's: it was taken for dead, or somebody finished the job."""


# The store, job and worker that this thread works for.
_claim: ContextVar[tuple[Database, int, str] | None] = ContextVar("claim", default=None)


class Claims(Database):
    """The part of the store that workers take jobs by."""

    @contextmanager
    def working_on(self, job_id: int, worker_id: str) -> Generator[None, None, None]:
        """Inside, in this thread, results and models are written only while the job is this
        worker's; else `LostJob` is raised.
        """
        token = _claim.set((self, job_id, worker_id))
        try:
            yield
        finally:
            _claim.reset(token)

    def check_claim(self, connection: Connection) -> None:
        """Raise `LostJob` if the job that this thread works on is no longer its own."""
        claim = _claim.get()
        if claim is not None and claim[0] is self:
            _owned(connection, *claim[1:])

    @patient
    def claim(self, worker_id: str, *, only: Collection[str] | None = None) -> Job | None:
        """Take the first queued job, none of whose needed keys is queued or running; None if there
        is none.

        `only` restricts the choice to these keys; a search is given to who names its key. Jobs that
        wait for a run which ended without a result are failed on the way, and jobs whose result
        exists by now are done.
        """
        table = schema.job
        with self.read() as connection:
            # a waiting worker asks often; it shall not hold up the others
            if not dependencies.is_due(connection) and self._first(connection, only) is None:
                return None
        with self.write() as connection:
            dependencies.end_waiting_jobs(connection)
            number = self._first(connection, only)
            if number is None:
                return None
            values = {
                "state": "running",
                "worker": worker_id,
                "started": now(),
                "heartbeat": self.time(connection),
                "step": "starting",
                "progress": 0.0,
                "waits_for": None,
                "not_before": None,
            }
            update = sa.update(table).where(table.c.id == number).values(values)
            return job_of(connection.execute(update.returning(*table.c)).one())

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
        values = {
            "progress": progress,
            "step": step,
            "losses": losses,
            "attempts": 0 if checkpoint else None,
        }
        with self.write() as connection:
            row = _owned(connection, job_id, worker_id)
            values["heartbeat"] = self.time(connection)
            _update(connection, job_id, {k: v for k, v in values.items() if v is not None})
        return bool(row.cancel_requested)

    def keep_log(self, job_id: int, text: str, *, worker_id: str) -> None:
        """Keep the end of a job's log, for readers on other machines, in the place of what was kept
        before; unless the job runs under another worker by now.
        """
        table = schema.job
        ours = sa.or_(table.c.worker == worker_id, table.c.state != "running")
        with self.write() as connection:
            query = sa.select(table.c.id).where(table.c.id == job_id, ours)
            if connection.execute(query).first() is not None:
                connection.execute(_KEEP_LOG, {"job": job_id, "text": text.replace("\0", "")})

    def kept_log(self, job_id: int) -> str:
        """What `keep_log` keeps of a job; "" where that is nothing."""
        log = schema.job_log
        with self.read() as connection:
            query = sa.select(log.c.text).where(log.c.job == job_id)
            return connection.execute(query).scalar() or ""

    @patient
    def finish_job(
        self,
        job_id: int,
        state: Literal["done", "failed", "cancelled"],
        *,
        error: str | None = None,
        worker_id: str,
    ) -> None:
        """End a running job. Jobs that wait for one without a result are failed. Raises `LostJob`
        if it is not this worker's.

        One that was cancelled and is wanted again by now (`retry`, `enqueue`) goes back to the
        queue.
        """
        with self.write() as connection:
            row = _owned(connection, job_id, worker_id)
            values: dict[str, Any] = {"state": state, "error": error, "finished": now()}
            if state == "done":
                values |= done()
            elif state == "cancelled" and not row.cancel_requested:
                values = requeued()
            _update(connection, job_id, values)
            dependencies.end_waiting_jobs(connection)

    @patient
    def release(self, job_id: int, *, waits_for: str | None = None, worker_id: str) -> None:
        """Put a running job back in its place in the queue: the worker is asked to end, and the job
        is not to blame. Raises `LostJob` if it is not this worker's.

        `waits_for` names what may pass; the next try is half a minute later.
        """
        with self.write() as connection:
            row = _owned(connection, job_id, worker_id)
            values = cancelled() if row.cancel_requested else requeued()
            if waits_for is not None and not row.cancel_requested:
                later = self.time(connection) + timedelta(seconds=RETRY_SECONDS)
                values |= {"waits_for": waits_for, "not_before": later}
            _update(connection, job_id, values)
            dependencies.end_waiting_jobs(connection)

    @patient
    def reap(self) -> list[Job]:
        """Find running jobs whose worker is dead, or silent for too long, and return them as they
        are now.

        One whose result was written before the worker died is done, one that was asked to end is
        cancelled. The others go back to queued, or are lost after `MOST_ATTEMPTS` deaths. A
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
                if self.leases.expired(f"job {row.id}", row.worker or "", row.heartbeat, time)
            ]
        if not dead:
            return []
        with self.write() as connection:
            still = set(connection.execute(running).all()).intersection(dead)
            mine = sa.select(table).where(table.c.id.in_([row.id for row in still]))
            for row in connection.execute(mine).all():
                _update(connection, row.id, _without_worker(connection, row))
            dependencies.end_waiting_jobs(connection)
            rows = connection.execute(mine.order_by(table.c.id)).all()
        return [job_of(row) for row in rows]

    # -- inside

    def _first(self, connection: Connection, only: Collection[str] | None) -> int | None:
        """The first job that may be taken now."""
        table, need, other = schema.job, schema.job_need, schema.job.alias()
        waits = (
            sa.exists()
            .where(need.c.job == table.c.id, need.c.key == other.c.key, other.c.state.in_(ACTIVE))
            .correlate(table)
        )
        until = table.c.not_before
        return connection.execute(
            sa.select(table.c.id)
            .where(table.c.state == "queued", ~waits)
            .where(sa.or_(until.is_(None), until <= self.time(connection)))
            .where(table.c.kind != "search" if only is None else self.among(table.c.key, only))
            .order_by(table.c.priority, table.c.id)
            .limit(1)
        ).scalar()


def _owned(connection: Connection, job_id: int, worker_id: str) -> Any:
    """The row of a job that runs under this worker. Raises `LostJob`."""
    table = schema.job
    row = connection.execute(sa.select(table).where(table.c.id == job_id)).one_or_none()
    if row is None or (row.state, row.worker) != ("running", worker_id):
        raise LostJob(
            f"Job {job_id} is no longer this worker's: it has ended, or another worker has it."
        )
    return row


def _update(connection: Connection, job_id: int, values: dict[str, Any]) -> None:
    connection.execute(sa.update(schema.job).where(schema.job.c.id == job_id).values(values))


def _without_worker(connection: Connection, row: Any) -> dict[str, Any]:
    """What becomes of a running job whose worker is gone."""
    result = schema.result
    stored = sa.select(result.c.key).where(result.c.key == row.key)
    if connection.execute(stored).first() is not None:
        return done()
    if row.cancel_requested:
        return cancelled()
    attempts = row.attempts + 1
    if attempts < MOST_ATTEMPTS:
        return requeued() | {"attempts": attempts}
    return {
        "attempts": attempts,
        "state": "lost",
        "finished": now(),
        "error": f"The worker died {attempts} times while it ran this job, the last time in "
        f"“{row.step}”. Its log may say why; too little memory is the most frequent cause.",
    }


def requeued() -> dict[str, Any]:
    return {
        "state": "queued",
        "worker": None,
        "started": None,
        "heartbeat": None,
        "progress": 0.0,
        "step": "",
    }


def job_of(row: Any) -> Job:
    """Raises `StoreError` for a damaged row."""
    fields: dict[str, Any] = dict(row._mapping)
    fields |= {"needs": tuple(row.needs), "losses": tuple(row.losses)}
    begun = row.started is not None or row.attempts
    return Job(**fields, log=f"job-{row.id}.log" if begun else None)
