"""The job table: runs on their way to a result, and analyses of runs.

Life of a job: queued -> running -> done, failed or cancelled. A running job whose worker died goes
back to queued, or to lost when that has happened too often. A key has at most one queued or running
job (a unique index sees to it), so no two workers compute the same key. A person waits for an
analysis, so it goes before every queued run.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from mucore import titles
from mucore.errors import BadValue, StoreError, UnknownName
from mucore.spec import RunSpec
from mucore.store import schema
from mucore.store.engine import Database
from mucore.store.rows import ACTIVE, Job, JobKind, JobState
from mucore.store.schema import now, to_json
from mucore.store.workers import alive

MAX_ATTEMPTS = 3  # how often a job goes back to the queue after its worker died
ENDED_WITHOUT_RESULT: tuple[JobState, ...] = ("failed", "cancelled", "lost")


class LostJob(StoreError):
    """The job is no longer this worker's: it was taken for dead, or somebody finished the job."""


class Jobs(Database):
    """The part of the store that holds the queue."""

    # job id -> worker id, of the jobs claimed through this object
    _claims: dict[int, str] | None = None

    def enqueue(self, specs: Sequence[RunSpec], *, comparison: int | None = None) -> list[Job]:
        """Queue runs behind what is queued already, in the given order.

        A key that has a result is left out; of a key that is queued or running the existing job is
        returned, which then is no longer asked to end.
        """
        wanted = {spec.key: spec for spec in specs}
        table = schema.job
        with self.write() as connection:
            known = set(
                connection.execute(
                    sa.select(schema.result.c.key).where(self.among(schema.result.c.key, wanted))
                ).scalars()
            )
            active = self._active(connection, wanted)
            priority = self._next_priority(connection)
            ids: list[int] = []
            for key, spec in wanted.items():
                if key in known:
                    continue
                if key not in active:
                    row = {
                        "key": key,
                        "spec": to_json(spec.model_dump(mode="json")),
                        "label": spec.label,
                        "needs": to_json([need.key for need in spec.needs()]),
                        "comparison": comparison,
                    }
                    active[key] = _insert(connection, row, priority)
                    priority += 1
                    self.moved(connection, "jobs")
                ids.append(active[key])
            rows = {
                row.id: row
                for row in connection.execute(sa.select(table).where(table.c.id.in_(ids))).all()
            }
        return [_job(rows[number]) for number in ids]

    def enqueue_analysis(self, key: str, spec: Mapping[str, Any], label: str) -> Job:
        """Queue an analysis before everything that is queued. The existing job, if it is queued or
        running, which then is no longer asked to end.
        """
        with self.write("jobs") as connection:
            active = self._active(connection, [key])
            if key not in active:
                row = {
                    "kind": "analysis",
                    "key": key,
                    "spec": to_json(dict(spec)),
                    "label": label,
                    "needs": "[]",
                    "comparison": None,
                }
                active[key] = _insert(connection, row, self._first_priority(connection))
            return _job(self._row(connection, active[key]))

    def claim(self, worker_id: str, *, only: Collection[str] | None = None) -> Job | None:
        """Take the first queued job, none of whose needed keys is queued or running; None if there
        is none.

        `only` restricts the choice to these keys. Jobs that wait for a run which ended without a
        result are failed on the way, and jobs whose result exists by now are done.
        """
        table, need, other = schema.job, schema.job_need, schema.job.alias()
        queued = sa.select(table.c.id).where(table.c.state == "queued")
        if only is not None:
            queued = queued.where(self.among(table.c.key, only))
        # a waiting worker asks often; it shall not hold up the others
        with self.read() as connection:
            if connection.execute(queued.limit(1)).first() is None:
                return None
        waits = (
            sa.exists()
            .where(need.c.job == table.c.id, need.c.key == other.c.key, other.c.state.in_(ACTIVE))
            .correlate(table)
        )
        # On Postgres the lock makes this right even for a writer that does not take the store's
        # own; SQLite leaves it out.
        first = (
            queued.where(~waits)
            .order_by(table.c.priority, table.c.id)
            .limit(1)
            .with_for_update(skip_locked=True)
        )
        with self.write() as connection:
            time = now()
            changed = self._settle(connection)
            values = {
                "state": "running",
                "worker": worker_id,
                "started": time,
                "heartbeat": time,
                "step": "starting",
                "progress": 0.0,
            }
            claim = (
                sa.update(table)
                .where(table.c.id == first.scalar_subquery())
                .values(values)
                .returning(*table.c)
            )
            row = connection.execute(claim).one_or_none()
            if changed or row is not None:
                self.moved(connection, "jobs")
        if row is None:
            return None
        self._claims = {**(self._claims or {}), row.id: worker_id}
        return _job(row)

    def beat(
        self,
        job_id: int,
        *,
        progress: float | None = None,
        step: str | None = None,
        losses: Sequence[float] | None = None,
        worker_id: str | None = None,
    ) -> bool:
        """Write a heartbeat and what is given; return whether somebody asked for the end.

        The worker is the one that claimed the job through this object, unless `worker_id` says so.
        Raises `LostJob` if the job is no longer its own: stop, and store nothing.
        """
        table = schema.job
        values: dict[str, Any] = {"heartbeat": now()}
        if progress is not None:
            values["progress"] = min(max(float(progress), 0.0), 1.0)
        if step is not None:
            values["step"] = step
        if losses is not None:
            values["losses"] = to_json([float(loss) for loss in losses])
        with self.write("jobs") as connection:
            update = (
                sa.update(table)
                .where(self._owned(job_id, worker_id))
                .values(values)
                .returning(table.c.cancel_requested)
            )
            row = connection.execute(update).one_or_none()
        if row is None:
            raise _lost(job_id)
        return bool(row.cancel_requested)

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
        table = schema.job
        values: dict[str, Any] = {"state": state, "error": error, "finished": now()}
        if state == "done":
            values |= {"progress": 1.0, "step": ""}
        with self.write("jobs") as connection:
            owned = self._owned(job_id, worker_id)
            if (
                state == "cancelled"
                and connection.execute(
                    sa.select(table.c.id).where(owned, ~table.c.cancel_requested)
                ).first()
            ):
                values = _requeued()
            if not connection.execute(sa.update(table).where(owned).values(values)).rowcount:
                raise _lost(job_id)
            self._settle(connection)

    def release(self, job_id: int, *, worker_id: str | None = None) -> None:
        """Put a running job back in its place in the queue: the worker is asked to end, and the job
        is not to blame.
        """
        table = schema.job
        with self.write("jobs") as connection:
            row = connection.execute(
                sa.select(table).where(self._owned(job_id, worker_id))
            ).one_or_none()
            if row is None:
                raise _lost(job_id)
            connection.execute(
                sa.update(table)
                .where(table.c.id == job_id)
                .values(_cancelled() if row.cancel_requested else _requeued())
            )
            self._settle(connection)

    def cancel(self, job_id: int) -> Job:
        """Cancel a queued job at once; ask a running one to end. Either way what waits for it is
        cancelled, too (`waiting_for`).

        A job that has ended stays as it is. Raises `UnknownName`.
        """
        table = schema.job
        with self.write("jobs") as connection:
            state = self._row(connection, job_id).state
            if state == "queued":
                connection.execute(
                    sa.update(table).where(table.c.id == job_id).values(_cancelled())
                )
                self._settle(connection)
            elif state == "running":
                connection.execute(
                    sa.update(table).where(table.c.id == job_id).values(cancel_requested=True)
                )
                self._settle(connection)
            return _job(self._row(connection, job_id))

    def waiting_for(self, job_ids: Collection[int]) -> list[Job]:
        """The queued jobs that wait for one of these while it is queued or running, without these
        themselves, in order of priority.
        """
        table, need, other = schema.job, schema.job_need, schema.job.alias()
        waits = (
            sa.exists()
            .where(
                need.c.job == table.c.id,
                need.c.key == other.c.key,
                other.c.id.in_(job_ids),
                other.c.state.in_(ACTIVE),
            )
            .correlate(table)
        )
        query = (
            sa.select(table)
            .where(table.c.state == "queued", waits, table.c.id.not_in(job_ids))
            .order_by(table.c.priority, table.c.id)
        )
        with self.read() as connection:
            return [_job(row) for row in connection.execute(query).all()]

    def retry(self, job_id: int) -> Job:
        """A new job for one that failed, was cancelled or lost, and before it for the needed runs
        that ended that way.

        One of these that was asked to end and still runs is no longer asked to.

        Returns the active job if the key has one by now. Raises `UnknownName`, and `BadValue` for a
        job that has not failed or whose key has a result by now.
        """
        with self.write("jobs") as connection:
            row = self._row(connection, job_id)
            if row.state not in ENDED_WITHOUT_RESULT:
                raise BadValue(
                    "Only a job that failed, was cancelled or lost can be run again, but job "
                    f"{job_id} is {row.state}."
                )
            needs = json.loads(row.needs)
            keys = [*needs, row.key]
            known = set(
                connection.execute(
                    sa.select(schema.result.c.key).where(self.among(schema.result.c.key, keys))
                ).scalars()
            )
            if row.key in known:
                raise BadValue(f"Job {job_id} need not run again: its result exists by now.")
            active = self._active(connection, keys)
            table = schema.job
            first = row.kind == "analysis"
            priority = (self._first_priority if first else self._next_priority)(connection)
            for key in keys:
                newest = connection.execute(
                    sa.select(table).where(table.c.key == key).order_by(table.c.id.desc()).limit(1)
                ).one_or_none()
                if key in known or key in active or newest is None:
                    continue
                copy = {
                    name: newest._mapping[name]
                    for name in ("kind", "key", "spec", "label", "needs", "comparison")
                }
                active[key] = _insert(connection, copy, priority)
                priority += 1
            return _job(self._row(connection, active[row.key]))

    def job(self, job_id: int) -> Job:
        """Raises `UnknownName`."""
        with self.read() as connection:
            return _job(self._row(connection, job_id))

    def jobs(
        self,
        *,
        states: Collection[JobState] | None = None,
        comparison: int | None = None,
        keys: Collection[str] | None = None,
        kind: JobKind | None = None,
        limit: int = 500,
    ) -> list[Job]:
        """The newest `limit` jobs of one kind, or of all, oldest of them first.

        Of a comparison: those it queued, and the newest job of each of its keys, which another
        comparison may have queued.
        """
        table, later, run = schema.job, schema.job.alias(), schema.comparison_run
        query = sa.select(table).order_by(table.c.id.desc()).limit(limit)
        if states is not None:
            query = query.where(table.c.state.in_(list(states)))
        if keys is not None:
            query = query.where(self.among(table.c.key, keys))
        if kind is not None:
            query = query.where(table.c.kind == kind)
        if comparison is not None:
            newest = ~sa.exists().where(
                later.c.key == table.c.key, later.c.id > table.c.id
            ).correlate(table)
            mine = table.c.key.in_(sa.select(run.c.key).where(run.c.comparison == comparison))
            query = query.where(sa.or_(table.c.comparison == comparison, sa.and_(mine, newest)))
        with self.read() as connection:
            rows = connection.execute(query).all()
        return [_job(row) for row in reversed(rows)]

    def count_active(self) -> int:
        """How many runs are queued or running."""
        table = schema.job
        with self.read() as connection:
            return connection.execute(
                sa.select(sa.func.count()).where(table.c.state.in_(ACTIVE), table.c.kind == "run")
            ).scalar_one()

    def reap(self, *, unknown_seconds: float = 8.0) -> list[Job]:
        """Find running jobs whose worker is dead and return them as they are now.

        They go back to queued at most 3 times, then they are lost; one that was asked to end is
        cancelled, one whose result was written before the worker died is done. `unknown_seconds` is
        the age of a heartbeat at which a worker without a process number counts as dead; see
        `workers.alive`. A read-only store leaves them to the others.
        """
        if self.read_only:
            return []
        table = schema.job
        with self.read() as connection:
            running = connection.execute(sa.select(table).where(table.c.state == "running")).all()
        dead = [
            row for row in running if not alive(row.worker or "", row.heartbeat, unknown_seconds)
        ]
        if not dead:
            return []
        changed: list[int] = []
        with self.write("jobs") as connection:
            for row in dead:
                if row.cancel_requested:
                    values = _cancelled()
                elif row.attempts < MAX_ATTEMPTS:
                    values = _requeued() | {"attempts": row.attempts + 1}
                else:
                    error = (
                        f"The worker died {row.attempts + 1} times while it ran this job "
                        f"(last: {row.worker}). Its log may say why; "
                    )
                    values = {
                        "state": "lost",
                        "finished": now(),
                        "error": error + "too little memory is the most frequent cause.",
                    }
                unchanged = sa.and_(
                    table.c.id == row.id, table.c.state == "running", table.c.worker == row.worker
                )
                if connection.execute(sa.update(table).where(unchanged).values(values)).rowcount:
                    changed.append(row.id)
            self._settle(connection)
            rows = connection.execute(
                sa.select(table).where(table.c.id.in_(changed)).order_by(table.c.id)
            ).all()
        return [_job(row) for row in rows]

    # -- inside

    def _owned(self, job_id: int, worker_id: str | None) -> sa.ColumnElement[bool]:
        worker = worker_id or (self._claims or {}).get(job_id)
        return sa.and_(
            schema.job.c.id == job_id,
            schema.job.c.state == "running",
            schema.job.c.worker == worker,
        )

    def _row(self, connection: Connection, job_id: int) -> Any:
        table = schema.job
        row = connection.execute(sa.select(table).where(table.c.id == job_id)).one_or_none()
        if row is None:
            newest = connection.execute(
                sa.select(table.c.id).order_by(table.c.id.desc()).limit(20)
            ).scalars()
            raise UnknownName("job", str(job_id), map(str, newest))
        return row

    def _active(self, connection: Connection, keys: Collection[str]) -> dict[str, int]:
        """The queued or running job of each of these keys, now that it is wanted: a wish that it
        end is taken back.
        """
        table = schema.job
        wanted = sa.and_(
            table.c.state == "running", table.c.cancel_requested, self.among(table.c.key, keys)
        )
        connection.execute(sa.update(table).where(wanted).values(cancel_requested=False))
        query = sa.select(table.c.key, table.c.id).where(
            table.c.state.in_(ACTIVE), self.among(table.c.key, keys)
        )
        return {row.key: row.id for row in connection.execute(query)}

    def _next_priority(self, connection: Connection) -> int:
        last = connection.execute(sa.select(sa.func.max(schema.job.c.priority))).scalar()
        return 0 if last is None else last + 1

    def _first_priority(self, connection: Connection) -> int:
        first = connection.execute(sa.select(sa.func.min(schema.job.c.priority))).scalar()
        return 0 if first is None else first - 1

    def _settle(self, connection: Connection) -> bool:
        """End queued jobs that need not or cannot run any more; True if there were any.

        What waits for a cancelled run is cancelled, also while that one is still coming to its end;
        what waits for one that failed or was lost is failed. Needs are listed with those of needs,
        so one pass is enough.
        """
        table, need, other = schema.job, schema.job_need, schema.job.alias()
        has_result = sa.exists().where(schema.result.c.key == table.c.key)
        done = {"state": "done", "progress": 1.0, "step": "", "finished": now()}
        settled = connection.execute(
            sa.update(table).where(table.c.state == "queued", has_result).values(done)
        ).rowcount
        newer = schema.job.alias()
        newest = (
            sa.select(sa.func.max(newer.c.id))
            .where(newer.c.key == need.c.key)
            .correlate(need)
            .scalar_subquery()
        )
        blocked = (
            sa.select(
                table.c.id, other.c.spec, other.c.state, other.c.error, other.c.cancel_requested
            )
            .join(need, need.c.job == table.c.id)
            .join(other, other.c.id == newest)
            .where(table.c.state == "queued")
            .where(
                sa.or_(
                    other.c.state.in_(ENDED_WITHOUT_RESULT),
                    sa.and_(other.c.state == "running", other.c.cancel_requested),
                )
            )
            .where(~sa.exists().where(schema.result.c.key == need.c.key).correlate(need))
            .order_by(table.c.id, need.c.position.desc())
        )
        # the last one kept is the first need
        ended = {row.id: _blocked(row) for row in connection.execute(blocked)}
        for number, values in ended.items():
            connection.execute(sa.update(table).where(table.c.id == number).values(values))
        return bool(settled or ended)


def _blocked(row: Any) -> dict[str, Any]:
    """How a job ends that waits for one which will have no result."""
    state = "cancelled" if row.cancel_requested or row.state == "cancelled" else "failed"
    how = {"failed": "failed", "lost": "was lost"}.get(row.state, "was cancelled")
    why = f": {row.error}" if row.error and state == "failed" else "."
    return {
        "state": state,
        "error": f"This run needs “{titles.run(json.loads(row.spec))}”, which {how}{why}",
        "finished": now(),
    }


def _insert(connection: Connection, row: dict[str, Any], priority: int) -> int:
    table = schema.job
    fresh = {
        "state": "queued",
        "priority": priority,
        "progress": 0.0,
        "step": "",
        "losses": "[]",
        "attempts": 0,
        "cancel_requested": False,
        "queued": now(),
    }
    number = connection.execute(
        sa.insert(table).values(row | fresh).returning(table.c.id)
    ).scalar_one()
    needs = [
        {"job": number, "position": position, "key": key}
        for position, key in enumerate(json.loads(row["needs"]))
    ]
    if needs:
        connection.execute(sa.insert(schema.job_need), needs)
    return number


def _requeued() -> dict[str, Any]:
    return {
        "state": "queued",
        "worker": None,
        "started": None,
        "heartbeat": None,
        "progress": 0.0,
        "step": "",
    }


def _cancelled() -> dict[str, Any]:
    return {"state": "cancelled", "finished": now()}


def _lost(job_id: int) -> LostJob:
    return LostJob(
        f"Job {job_id} is not this worker's any more: it has ended, or another worker has it."
    )


def _job(row: Any) -> Job:
    fields = dict(row._mapping)
    for name in ("spec", "needs", "losses"):
        fields[name] = json.loads(fields[name])
    fields |= {"needs": tuple(fields["needs"]), "losses": tuple(fields["losses"])}
    return Job(
        **fields, log=f"job-{row.id}.log" if row.started is not None or row.attempts else None
    )
