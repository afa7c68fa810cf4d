"""How a worker takes a job, and how it ends it or gives it back.

The next job is the first by `turn` of those that are queued, that are not to wait for a while,
and none of whose needed runs is queued or running. Before that is asked, queued jobs end that need
not or cannot run: their result exists by now, or a run that they need will have none.

A worker that was taken for dead (workers.py) may wake up later; what it would still write for its
job is refused then, in the transaction that would write it.
"""

from __future__ import annotations

from collections.abc import Collection, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from mucore import titles
from mucore.errors import StoreError
from mucore.store import schema
from mucore.store.database import Database
from mucore.store.records import ACTIVE, ENDED_WITHOUT_RESULT, Job, turn
from mucore.store.schema import now
from mucore.store.transient_errors import patient

# A job that met what may pass is tried again after so long.
RETRY_SECONDS = 30.0


class LostJob(StoreError):
    """The job is no longer this worker's: it was taken for dead, or somebody finished the job."""


# The store, job and worker that this thread works for.
_claim: ContextVar[tuple[Database, int, str] | None] = ContextVar("claim", default=None)


class Claims(Database):
    """The part of the store that workers take jobs by."""

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
            if self._first(connection, only) is None:
                return None
        with self.write() as connection:
            end_obsolete_jobs(connection)
            if (number := self._first(connection, only)) is None:
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

    def _first(self, connection: Connection, only: Collection[str] | None) -> int | None:
        """The first job that may be taken now."""
        table, need, other = schema.job, schema.job_need, schema.job.alias()
        unready = (
            sa.exists()
            .where(need.c.job == table.c.id, need.c.key == other.c.key, other.c.state.in_(ACTIVE))
            .correlate(table)
        )
        until = table.c.not_before
        return connection.execute(
            sa.select(table.c.id)
            .where(table.c.state == "queued", ~unready)
            .where(sa.or_(until.is_(None), until <= self.time(connection)))
            .where(table.c.kind != "search" if only is None else self.among(table.c.key, only))
            .order_by(*turn(table.c))
            .limit(1)
        ).scalar()

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
            row = owned(connection, job_id, worker_id)
            values: dict[str, Any] = {"state": state, "error": error, "finished": now()}
            if state == "done":
                values |= done()
            elif state == "cancelled" and not row.cancel_requested:
                values = requeued()
            change(connection, job_id, values)
            end_obsolete_jobs(connection)

    @patient
    def release(self, job_id: int, *, waits_for: str | None = None, worker_id: str) -> None:
        """Put a running job back in its place in the queue: the worker is asked to end, and the job
        is not to blame. Raises `LostJob` if it is not this worker's.

        `waits_for` names what may pass; the next try is half a minute later.
        """
        with self.write() as connection:
            row = owned(connection, job_id, worker_id)
            values = cancelled() if row.cancel_requested else requeued()
            if waits_for is not None and not row.cancel_requested:
                later = self.time(connection) + timedelta(seconds=RETRY_SECONDS)
                values |= {"waits_for": waits_for, "not_before": later}
            change(connection, job_id, values)
            end_obsolete_jobs(connection)

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
            owned(connection, *claim[1:])


def end_obsolete_jobs(connection: Connection) -> None:
    """End queued jobs that need not or cannot run any more.

    What waits for a cancelled run is cancelled, also while that one is still coming to its end;
    what waits for one that failed or was lost is failed. Needs are listed with those of needs,
    so one pass is enough.
    """
    table = schema.job
    connection.execute(
        sa.update(table).where(table.c.state == "queued", _has_result(table)).values(done())
    )
    # the last one kept is the first need
    ended = {row.id: _blocked(row) for row in connection.execute(_stuck())}
    for number, values in ended.items():
        change(connection, number, values)


def _has_result(table: Any) -> sa.ColumnElement[bool]:
    return sa.exists().where(schema.result.c.key == table.c.key).correlate(table)


def _stuck() -> sa.Select[*tuple[Any, ...]]:
    """Queued jobs that need a run which will have no result, with that run's job."""
    table, need, other = schema.job, schema.job_need, schema.job.alias()
    newer = schema.job.alias()
    newest = (
        sa.select(sa.func.max(newer.c.id))
        .where(newer.c.key == need.c.key)
        .correlate(need)
        .scalar_subquery()
    )
    return (
        sa.select(table.c.id, other.c.spec, other.c.state, other.c.error, other.c.cancel_requested)
        .join(need, need.c.job == table.c.id)
        .join(other, other.c.id == newest)
        .where(table.c.state == "queued")
        .where(
            sa.or_(
                other.c.state.in_(ENDED_WITHOUT_RESULT),
                sa.and_(other.c.state == "running", other.c.cancel_requested),
            )
        )
        .where(~_has_result(need))
        .order_by(table.c.id, need.c.position.desc())
    )


def _blocked(row: Any) -> dict[str, Any]:
    """How a job ends that waits for one which will have no result."""
    state = "cancelled" if row.cancel_requested or row.state == "cancelled" else "failed"
    title, why = titles.run(row.spec), row.error or f"it is {state}."
    return {
        "state": state,
        "error": f"This run needs “{title}”, which has no result: {why}",
        "finished": now(),
    }


def done() -> dict[str, Any]:
    return {"state": "done", "progress": 1.0, "step": "", "finished": now()}


def cancelled() -> dict[str, Any]:
    return {"state": "cancelled", "finished": now()}


def requeued() -> dict[str, Any]:
    return {
        "state": "queued",
        "worker": None,
        "started": None,
        "heartbeat": None,
        "progress": 0.0,
        "step": "",
    }


def owned(connection: Connection, job_id: int, worker_id: str) -> Any:
    """The row of a job that runs under this worker. Raises `LostJob`."""
    table = schema.job
    row = connection.execute(sa.select(table).where(table.c.id == job_id)).one_or_none()
    if row is None or (row.state, row.worker) != ("running", worker_id):
        raise LostJob(
            f"Job {job_id} is no longer this worker's: it has ended, or another worker has it."
        )
    return row


def change(connection: Connection, job_id: int, values: dict[str, Any]) -> None:
    texts = {name: storable(text) for name, text in values.items() if isinstance(text, str)}
    update = sa.update(schema.job).where(schema.job.c.id == job_id)
    connection.execute(update.values(values | texts))


def storable(text: str) -> str:
    """The text of somebody's error or log, less what no database keeps: NUL, halves of a pair."""
    return text.encode(errors="replace").decode().replace("\0", "")


def job_of(row: Any) -> Job:
    """Raises `StoreError` for a damaged row."""
    fields: dict[str, Any] = dict(zip(schema.job.c.keys(), row, strict=True))
    fields |= {"needs": tuple(row.needs), "losses": tuple(row.losses)}
    begun = row.started is not None or row.deaths
    return Job(**fields, log=f"job-{row.id}.log" if begun else None)
