"""The job table: runs on their way to a result, analyses of runs, and searches of settings.

Life of a job: queued -> running -> done, failed or cancelled. A running job whose worker died goes
back to queued, or to lost when that has happened too often (workers.py); one that meets what may
pass (transient_errors.py) goes back for a while. A key has at most one queued or running job (a
unique index sees to it), so no two workers compute the same key, and a worker that has lost its job
to another one can write nothing more for it. A person waits for an analysis, so it goes before
every queued run. A search leaves files on the machine that was asked for it, so no worker that
takes what comes takes one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from mucore.errors import BadValue
from mucore.runs import RunSpec
from mucore.store import schema
from mucore.store.claims import Claims, cancelled, end_obsolete_jobs, job_of, storable
from mucore.store.database import unknown
from mucore.store.records import ACTIVE, ENDED_WITHOUT_RESULT, Job, JobKind, JobState, turn
from mucore.store.schema import now
from mucore.store.transient_errors import patient

MOST_ID = 2**31 - 1  # of a row, and what a statement may ask for at once


class Jobs(Claims):
    """The part of the store that holds the queue."""

    @patient
    def enqueue(self, specs: Sequence[RunSpec], *, comparison: int | None = None) -> list[Job]:
        """Queue runs behind what is queued already, in the given order.

        A key that has a result is left out; of a key that is queued or running the existing job is
        returned, which then is no longer asked to end.
        """
        rows = [
            {
                "kind": "run",
                "key": spec.key,
                "spec": spec.model_dump(mode="json"),
                "label": spec.label,
                "needs": [need.key for need in spec.needs()],
                "comparison": comparison,
            }
            for spec in {spec.key: spec for spec in specs}.values()
        ]
        with self.write() as connection:
            return self._queue(connection, rows)

    def enqueue_other(
        self, kind: Literal["analysis", "search"], key: str, spec: Mapping[str, Any], label: str
    ) -> Job:
        """Queue an analysis, or a search, which `claim` gives to who asks for its key alone, before
        everything that is queued. The existing job, if it is queued or running, which then is no
        longer asked to end.
        """
        row = {"kind": kind, "key": key, "spec": dict(spec), "label": label}
        with self.write() as connection:
            return self._queue(connection, [row | {"needs": [], "comparison": None}])[0]

    @patient
    def cancel(self, *job_ids: int) -> list[Job]:
        """Cancel queued jobs at once; ask running ones to end. Either way what waits for them is
        cancelled, too (`dependents`). The jobs as they are then.

        A job that has ended stays as it is. Raises `UnknownName`.
        """
        table = schema.job
        these = table.c.id.in_(job_ids)
        ways = {"queued": cancelled(), "running": {"cancel_requested": True}}
        with self.write() as connection:
            end_obsolete_jobs(connection)  # whose result is there by now is done
            for state, way in ways.items():
                update = sa.update(table).where(these, table.c.state == state)
                connection.execute(update.values(way))
            end_obsolete_jobs(connection)
            found = {row.id: row for row in connection.execute(sa.select(table).where(these))}
            return [job_of(found.get(one) or self._row(connection, one)) for one in job_ids]

    def dependents(self, job_ids: Collection[int]) -> list[Job]:
        """The queued jobs that wait for one of these while it is queued or running, without these
        themselves, as they are taken.
        """
        table, need, other = schema.job, schema.job_need, schema.job.alias()
        these = sa.select(other.c.key).where(other.c.id.in_(job_ids), other.c.state.in_(ACTIVE))
        waiting = sa.select(need.c.job).where(need.c.key.in_(these))
        query = (
            sa.select(table)
            .where(table.c.state == "queued", table.c.id.in_(waiting), table.c.id.not_in(job_ids))
            .order_by(*turn(table.c))
        )
        with self.read() as connection:
            return [self.shown(job_of(row)) for row in connection.execute(query)]

    def retry(self, job_id: int) -> Job:
        """A new job for one that failed, was cancelled or lost, and before it for the needed runs
        that ended that way. One of these that was asked to end and still runs is no longer asked
        to.

        Returns the active job if the key has one by now. Raises `UnknownName`, and `BadValue` for a
        job that has not failed or whose key has a result by now.
        """
        table = schema.job
        with self.write() as connection:
            row = self._row(connection, job_id)
            known = self._known(connection, [row.key])
            if row.state not in ENDED_WITHOUT_RESULT or known:
                state = "has a result by now" if known else f"is {row.state}"
                raise BadValue(
                    "Only a job that failed, was cancelled or lost can be run again, but job "
                    f"{job_id} {state}."
                )
            names = ("kind", "key", "spec", "label", "needs", "comparison")
            newest = sa.select(*(table.c[name] for name in names)).order_by(table.c.id.desc())
            found = [
                connection.execute(newest.where(table.c.key == key).limit(1)).mappings().first()
                for key in (*row.needs, row.key)
            ]
            return self._queue(connection, [dict(one) for one in found if one is not None])[-1]

    @patient
    def job(self, job_id: int) -> Job:
        """Raises `UnknownName`."""
        with self.read() as connection:
            return self.shown(job_of(self._row(connection, job_id)))

    @patient
    def jobs(
        self,
        *,
        states: Collection[JobState] | None = None,
        comparison: int | None = None,
        keys: Collection[str] | None = None,
        kind: JobKind | None = None,
        limit: int | None = 500,
    ) -> list[Job]:
        """The newest `limit` jobs (None: all) of one kind, or of all, oldest of them first.

        Of a comparison: those it queued, and the newest job of each of its keys, which another
        comparison may have queued.
        """
        table, later, run = schema.job, schema.job.alias(), schema.comparison_run
        query = sa.select(table).order_by(table.c.id.desc()).limit(limit and min(limit, MOST_ID))
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
            return [self.shown(job_of(row)) for row in reversed(connection.execute(query).all())]

    @patient
    def count_active(self) -> int:
        """How many runs are queued or running."""
        table = schema.job
        with self.read() as connection:
            return connection.execute(
                sa.select(sa.func.count()).where(table.c.state.in_(ACTIVE), table.c.kind == "run")
            ).scalar_one()

    def keep_log(self, job_id: int, text: str, *, worker_id: str) -> None:
        """Keep the end of a job's log, for readers on other machines, in the place of what was kept
        before; unless the job runs under another worker by now.
        """
        table = schema.job
        ours = sa.or_(table.c.worker == worker_id, table.c.state != "running")
        with self.write() as connection:
            query = sa.select(table.c.id).where(table.c.id == job_id, ours)
            if connection.execute(query).first() is not None:
                row = {"job": job_id, "text": storable(text)}
                self._replace(connection, schema.job_log.c.job, [row])

    def kept_log(self, job_id: int) -> str:
        """What `keep_log` keeps of a job; "" where that is nothing."""
        log = schema.job_log
        with self.read() as connection:
            query = sa.select(log.c.text).where(log.c.job == job_id)
            return connection.execute(query).scalar() or ""

    # -- inside

    def _row(self, connection: Connection, job_id: int) -> Any:
        table = schema.job
        query = sa.select(table).where(table.c.id == min(job_id, MOST_ID))
        if (row := connection.execute(query).one_or_none()) is None:
            raise unknown(connection, table, job_id)
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

    def _known(self, connection: Connection, keys: Collection[str]) -> set[str]:
        """Those of these keys that have a result."""
        key = schema.result.c.key
        return set(connection.execute(sa.select(key).where(self.among(key, keys))).scalars())

    def _queue(self, connection: Connection, rows: Sequence[dict[str, Any]]) -> list[Job]:
        """The active job of each key, a new one where there is none; keys that have a result are
        left out. Runs go behind everything that is queued, others before.
        """
        keys = [row["key"] for row in rows]
        known, active = self._known(connection, keys), self._active(connection, keys)
        priority = schema.job.c.priority
        low, high = connection.execute(
            sa.select(sa.func.min(priority), sa.func.max(priority))
        ).one()
        new = [row for row in rows if row["key"] not in known and row["key"] not in active]
        for place, row in enumerate(new):
            last = row["kind"] == "run"
            next_one = (high or 0) + 1 + place if last else (low or 0) - 1
            active[row["key"]] = _insert(connection, row, next_one)
        return [job_of(self._row(connection, active[key])) for key in keys if key not in known]


def _insert(connection: Connection, row: dict[str, Any], priority: int) -> int:
    table = schema.job
    fresh = {
        "state": "queued",
        "priority": priority,
        "progress": 0.0,
        "step": "",
        "losses": [],
        "deaths": 0,
        "cancel_requested": False,
        "queued": now(),
    }
    number = connection.execute(
        sa.insert(table).values(row | fresh).returning(table.c.id)
    ).scalar_one()
    needs = [
        {"job": number, "position": position, "key": key}
        for position, key in enumerate(row["needs"])
    ]
    if needs:
        connection.execute(sa.insert(schema.job_need), needs)
    return number
