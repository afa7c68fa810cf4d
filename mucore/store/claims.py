"""Whose a job is. A worker that was taken for dead may wake up later; what it would still write for
its job is refused then, in the transaction that would write it.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from mucore.errors import StoreError
from mucore.store import schema
from mucore.store.engine import Database


class LostJob(StoreError):
    """The job is no longer this worker's: it was taken for dead, or somebody finished the job."""


# The store, job and worker that this thread works for.
_claim: ContextVar[tuple[Database, int, str] | None] = ContextVar("claim", default=None)


class Claims(Database):
    """The part of the store that knows for which job a thread writes."""

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
        if claim is None or claim[0] is not self:
            return
        _, job_id, worker_id = claim
        mine = sa.select(schema.job.c.id).where(runs_under(job_id, worker_id))
        if connection.execute(mine).first() is None:
            raise lost(job_id)


def runs_under(job_id: int, worker_id: str | None) -> sa.ColumnElement[bool]:
    """The job runs under this worker."""
    table = schema.job
    return sa.and_(table.c.id == job_id, table.c.state == "running", table.c.worker == worker_id)


def lost(job_id: int) -> LostJob:
    return LostJob(
        f"Job {job_id} is no longer this worker's: it has ended, or another worker has it."
    )
