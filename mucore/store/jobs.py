"""The job table: runs on their way to a result, analyses of runs, and searches of settings.

Life of a job: queued -> running -> done, failed or cancelled. A running job whose worker died goes
back to queued, or to lost when that has happened too often (poison.py); one that meets trouble that
passes (trouble.py) goes back for a while. A key has at most one queued or running job (a unique
index sees to it), so no two workers compute the same key, and a worker that has lost its job to
another one can write nothing more for it. A person waits for an analysis, so it goes before every
queued run. A search leaves files on the machine that was asked for it, so no worker that takes what
comes takes one.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from mucore import titles
from mucore.errors import BadValue, StoreError, UnknownName, said
from mucore.spec import RunSpec
from mucore.store import planned, poison, schema
from mucore.store.claims import Claims, lost, runs_under
from mucore.store.liveness import GRACE_SECONDS, Moment
from mucore.store.rows import ACTIVE, Job, JobKind, JobState
from mucore.store.schema import check_spec, check_times, from_json, now, to_json, whole_row
from mucore.store.trouble import patient

ENDED_WITHOUT_RESULT: tuple[JobState, ...] = ("failed", "cancelled", "lost")
# A job that met passing trouble is tried again after 5 seconds, then after twice as long each time.
FIRST_DELAY, LONGEST_DELAY = 5.0, 300.0
# A look for dead workers that had to wait so long for its turn proves nothing of the others.
_HELD_UP_SECONDS = 5.0
# in `store_info`, before the revisions of metrics: in which order this store has met them
_GENERATION = "metrics:"
_UNMET = 2**31 - 1
MOST_ID = 2**31 - 1  # of a row, and what a statement may ask for at once
# columns that no page shows
_INSIDE = ("short_of_memory", "delays", "generation")
# `not_before` is not among them: a pause whose end cannot be read is over
_TIMES = [
    column
    for column in schema.job.c
    if isinstance(column.type, schema.Time) and column is not schema.job.c.not_before
]
_KEEP_LOG = sa.text(
    "INSERT INTO job_log (job, text) VALUES (:job, :text) "
    "ON CONFLICT (job) DO UPDATE SET text = excluded.text"
)


class Jobs(Claims):
    """The part of the store that holds the queue."""

    # job id -> worker id, of the jobs claimed through this object
    _claims: dict[int, str] | None = None
    # key of a queued run -> whether this code gives the run that key
    _same: dict[str, bool] | None = None
    # job id -> what is wrong with the row of a queued job, until that is said there
    _broken: dict[int, str] | None = None

    @patient
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
            generation = self._generation(connection)
            ids: list[int] = []
            new = False
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
                        "generation": generation,
                    }
                    active[key] = _insert(connection, row, priority)
                    priority += 1
                    new = True
                ids.append(active[key])
            if new:
                self.moved(connection, "jobs")
            rows = {
                row.id: row
                for row in connection.execute(sa.select(table).where(table.c.id.in_(ids))).all()
            }
        return [_job(rows[number]) for number in ids]

    def enqueue_analysis(self, key: str, spec: Mapping[str, Any], label: str) -> Job:
        """Queue an analysis before everything that is queued. The existing job, if it is queued or
        running, which then is no longer asked to end.
        """
        return self._enqueue_other("analysis", key, spec, label)

    def enqueue_search(self, key: str, spec: Mapping[str, Any], label: str) -> Job:
        """The same for a search, which `claim` gives to who asks for its key alone."""
        return self._enqueue_other("search", key, spec, label)

    def _enqueue_other(self, kind: JobKind, key: str, spec: Mapping[str, Any], label: str) -> Job:
        with self.write("jobs") as connection:
            active = self._active(connection, [key])
            if key not in active:
                row = {
                    "kind": kind,
                    "key": key,
                    "spec": to_json(dict(spec)),
                    "label": label,
                    "needs": "[]",
                    "comparison": None,
                }
                active[key] = _insert(connection, row, self._first_priority(connection))
            return _job(self._row(connection, active[key]))

    @patient
    def claim(self, worker_id: str, *, only: Collection[str] | None = None) -> Job | None:
        """Take the first queued job, none of whose needed keys is queued or running; None if there
        is none.

        `only` restricts the choice to these keys; a search is given to who names its key. Jobs that
        wait for a run which ended without a result are failed on the way, and jobs whose result
        exists by now are done. A run is left to others where this code gives it another key, or
        measures by earlier metrics, than the code that planned it (`left_to_others`). A job whose
        row is damaged is failed, with the reason, so that it holds up nobody.
        """
        with self.read() as connection:
            unsettled = self._unsettled(connection)
            # a waiting worker asks often; it shall not hold up the others
            if not unsettled and self._first(connection, only) is None and not self._broken:
                return None
        if unsettled or self._broken:
            with self.write("jobs") as connection:
                self._give_up_broken(connection)
                self._settle(connection)
        with self.write(alone=False) as connection:
            # The lock on the row is what keeps others away on Postgres; SQLite lets one in.
            row = self._first(connection, only, lock=True)
            if row is None:
                return None
            values = {
                "state": "running",
                "worker": worker_id,
                "started": now(),
                "heartbeat": self.clock(),
                "step": "starting",
                "progress": 0.0,
                "waits_for": None,
                "not_before": None,
                "short_of_memory": False,
            }
            table = schema.job
            update = sa.update(table).where(table.c.id == row.id).values(values)
            row = connection.execute(update.returning(*table.c)).one()
            self.moved(connection, "jobs")
        self._claims = {**(self._claims or {}), row.id: worker_id}
        return _job(row)

    def left_to_others(self) -> int:
        """How many queued runs `claim` leaves to workers with the code that planned them."""
        others = [key for key, same in (self._same or {}).items() if not same]
        table = schema.job
        with self.read() as connection:
            newer = table.c.generation > self._generation_read(connection)
            left = sa.or_(newer, self.among(table.c.key, others))
            return connection.execute(
                sa.select(sa.func.count()).where(table.c.state == "queued", left)
            ).scalar_one()

    def beat(
        self,
        job_id: int,
        *,
        progress: float | None = None,
        step: str | None = None,
        losses: Sequence[float] | None = None,
        short_of_memory: bool | None = None,
        worker_id: str | None = None,
    ) -> bool:
        """Write a heartbeat and what is given; return whether somebody asked for the end.

        The worker is the one that claimed the job through this object, unless `worker_id` says so.
        Raises `LostJob` if the job is no longer its own: stop, and store nothing.
        """
        table = schema.job
        values: dict[str, Any] = {"heartbeat": self.clock()}
        if progress is not None:
            values["progress"] = min(max(float(progress), 0.0), 1.0)
        if step is not None:
            values["step"] = step
        if losses is not None:
            values["losses"] = to_json([float(loss) for loss in losses])
        if short_of_memory is not None:
            values["short_of_memory"] = short_of_memory
        with self.write(alone=False) as connection:
            update = (
                sa.update(table)
                .where(self._owned(job_id, worker_id))
                .values(values)
                .returning(table.c.cancel_requested)
            )
            row = connection.execute(update).one_or_none()
        if row is None:
            raise lost(job_id)
        return bool(row.cancel_requested)

    def keep_log(self, job_id: int, text: str, *, worker_id: str) -> None:
        """Keep the end of a job's log, for readers on other machines, in the place of what was kept
        before; unless the job runs under another worker by now.
        """
        table = schema.job
        ours = sa.or_(table.c.worker == worker_id, table.c.state != "running")
        with self.write(alone=False) as connection:
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
        table = schema.job
        values: dict[str, Any] = {"state": state, "error": error, "finished": now()}
        if state == "done":
            values |= _done()
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
                raise lost(job_id)
            self._settle(connection)

    @patient
    def release(
        self, job_id: int, *, waits_for: str | None = None, worker_id: str | None = None
    ) -> None:
        """Put a running job back in its place in the queue: the worker is asked to end, and the job
        is not to blame.

        `waits_for` names passing trouble; the next try is then after a pause, which grows from five
        seconds to five minutes with each time.
        """
        table = schema.job
        with self.write("jobs") as connection:
            row = connection.execute(
                sa.select(table).where(self._owned(job_id, worker_id))
            ).one_or_none()
            if row is None:
                raise lost(job_id)
            values = _cancelled() if row.cancel_requested else _requeued()
            if waits_for is not None and not row.cancel_requested:
                pause = min(FIRST_DELAY * 2.0 ** min(row.delays, 10), LONGEST_DELAY)
                values |= _later(self.moment(connection), pause, waits_for)
                values["delays"] = row.delays + 1
            connection.execute(sa.update(table).where(table.c.id == job_id).values(values))
            self._settle(connection)

    @patient
    def cancel(self, job_id: int) -> Job:
        """Cancel a queued job at once; ask a running one to end. Either way what waits for it is
        cancelled, too (`waiting_for`).

        A job that has ended stays as it is. Raises `UnknownName`.
        """
        table = schema.job
        with self.write("jobs") as connection:
            self._row(connection, job_id)
            for state, values in (
                ("queued", _cancelled()),
                ("running", {"cancel_requested": True}),
            ):
                active = sa.and_(table.c.id == job_id, table.c.state == state)
                if connection.execute(sa.update(table).where(active).values(values)).rowcount:
                    self._settle(connection)
                    break
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
            rows = connection.execute(query).all()
        return self._whole("job", rows, _job, _number)

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
            needs = from_json(row.needs)
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
            first = row.kind != "run"
            priority = (self._first_priority if first else self._next_priority)(connection)
            for key in keys:
                newest = connection.execute(
                    sa.select(table).where(table.c.key == key).order_by(table.c.id.desc()).limit(1)
                ).one_or_none()
                if key in known or key in active or newest is None:
                    continue
                copy = {
                    name: newest._mapping[name]
                    for name in (
                        "kind",
                        "key",
                        "spec",
                        "label",
                        "needs",
                        "comparison",
                        "generation",
                    )
                }
                active[key] = _insert(connection, copy, priority)
                priority += 1
            return _job(self._row(connection, active[row.key]))

    @patient
    def job(self, job_id: int) -> Job:
        """Raises `UnknownName`."""
        with self.read() as connection:
            return _job(self._row(connection, job_id))

    @patient
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
        query = sa.select(table).order_by(table.c.id.desc()).limit(min(limit, MOST_ID))
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
        return self._whole("job", reversed(rows), _job, _number)

    @patient
    def damaged_jobs(self) -> list[int]:
        """The numbers of jobs that were left out, since their rows are damaged: of all that this
        object has read, and that are still so.
        """
        named = self._left_out("job")
        if not named:
            return []
        with self.read() as connection:
            wanted = schema.job.c.id.in_([int(number) for number in named])
            rows = connection.execute(sa.select(schema.job).where(wanted)).all()
        whole = {job.id for job in self._whole("job", rows, _job, _number)}
        still = {row.id for row in rows} - whole
        self._is_whole("job", set(named) - {str(number) for number in still})
        return sorted(still)

    @patient
    def count_active(self) -> int:
        """How many runs are queued or running."""
        table = schema.job
        with self.read() as connection:
            return connection.execute(
                sa.select(sa.func.count()).where(table.c.state.in_(ACTIVE), table.c.kind == "run")
            ).scalar_one()

    @patient
    def reap(self, *, grace_seconds: float = GRACE_SECONDS) -> list[Job]:
        """Find running jobs whose worker is dead, or silent for too long, and return them as they
        are now.

        One whose result was written before the worker died is done, one that was asked to end is
        cancelled. The others go back to queued, at once or after a pause, until they have died at
        one place too often (`poison.after_death`); then they are lost. A read-only store leaves
        them to the others.
        """
        if self.read_only:
            return []
        table = schema.job
        with self.read() as connection:
            # of many; all else is read of those that are dead
            known = sa.select(table.c.id, table.c.worker, table.c.heartbeat)
            running = connection.execute(known.where(table.c.state == "running")).all()
            moment = self.moment(connection)
            numbers = [
                row.id
                for row in running
                if not self.lookout.lives(
                    f"job {row.id}", row.worker or "", row.heartbeat, moment, grace_seconds
                )
            ]
            if not numbers:
                return []
            still = sa.and_(table.c.id.in_(numbers), table.c.state == "running")
            dead = connection.execute(sa.select(table).where(still)).all()
        changed: list[int] = []
        asked = time.monotonic()
        with self.write("jobs") as connection:
            if time.monotonic() - asked > _HELD_UP_SECONDS:  # nor could the others write
                self.lookout.forget()
                return []
            for row in dead:
                same = runs_under(row.id, row.worker)
                if isinstance(row.heartbeat, datetime | None):  # not one that is damaged
                    same &= table.c.heartbeat == row.heartbeat
                values = self._without_worker(connection, row, moment)
                if connection.execute(sa.update(table).where(same).values(values)).rowcount:
                    changed.append(row.id)
            self._settle(connection)
            rows = connection.execute(
                sa.select(table).where(table.c.id.in_(changed)).order_by(table.c.id)
            ).all()
        return self._whole("job", rows, _job, _number)

    # -- inside

    def _without_worker(self, connection: Connection, row: Any, moment: Moment) -> dict[str, Any]:
        """What becomes of a running job whose worker is gone."""
        result = schema.result
        stored = sa.select(result.c.key).where(result.c.key == row.key)
        if connection.execute(stored).first() is not None:
            return _done()
        if row.cancel_requested:
            return _cancelled()
        died = poison.after_death(
            _deaths(row),
            row.attempts,
            row.step,
            row.progress,
            guilty=row.short_of_memory or poison.crashed(self.home / "logs" / _log(row.id)),
        )
        values = {"attempts": row.attempts + 1, "deaths": to_json(died.deaths)}
        if died.lost:
            error = (
                f"The worker died {row.attempts + 1} times while it ran this job, the last time in "
                f"“{died.place}” ({row.worker}). Its log may say why; "
            )
            values |= {
                "state": "lost",
                "finished": now(),
                "error": error + "too little memory is the most frequent cause.",
            }
        else:
            values |= _requeued()
            if died.pause:
                values |= _later(
                    moment, died.pause, f"a pause, since its worker died again in “{died.place}”"
                )
        return values

    def _first(
        self, connection: Connection, only: Collection[str] | None, *, lock: bool = False
    ) -> Any:
        """The first job that may be taken now and that this code computes as it was planned."""
        table, need, other = schema.job, schema.job_need, schema.job.alias()
        waits = (
            sa.exists()
            .where(need.c.job == table.c.id, need.c.key == other.c.key, other.c.state.in_(ACTIVE))
            .correlate(table)
        )
        free = (
            sa.select(table)
            .where(table.c.state == "queued", ~waits, table.c.id.not_in(list(self._broken or ())))
            .where(sa.or_(*self._pause_is_over()))
            .where(table.c.generation <= self._generation_read(connection))
            .order_by(table.c.priority, table.c.id)
            .limit(1)
        )
        if only is not None:
            free = free.where(self.among(table.c.key, only))
        else:
            free = free.where(table.c.kind != "search")
        if lock:
            free = free.with_for_update(skip_locked=True)
        known = self._same = self._same if self._same is not None else {}
        while True:
            others = [key for key, same in known.items() if not same]
            mine = free.where(~self.among(table.c.key, others)) if others else free
            row = connection.execute(mine).one_or_none()
            if row is None:
                return None
            try:
                job = _job(row)
            except StoreError as problem:
                self._broken = {**(self._broken or {}), row.id: str(problem)}
                free = free.where(table.c.id != row.id)
                continue
            if row.kind != "run":
                return row
            if row.key not in known:
                known[row.key] = planned.gives(job.spec, row.key)
            if known[row.key]:
                return row

    def _pause_is_over(self) -> list[sa.ColumnElement[bool]]:
        """Any of these."""
        until = schema.job.c.not_before
        over = [until.is_(None), until <= self.clock()]
        if self.sqlite:  # which takes a text where a time should be, and gives NULL for its time
            over.append(sa.func.datetime(until).is_(None))
        return over

    def _give_up_broken(self, connection: Connection) -> None:
        """Fail the queued jobs whose rows cannot be read. Where that is not for what they compute,
        they are listed again then, and can be retried.
        """
        table = schema.job
        for number, problem in (self._broken or {}).items():
            waits = sa.and_(table.c.id == number, table.c.state == "queued")
            row = connection.execute(sa.select(table).where(waits)).one_or_none()
            if row is not None:
                values = {"state": "failed", "error": problem, "finished": now()}
                connection.execute(sa.update(table).where(waits).values(_mended(row) | values))
        self._broken = None

    def _generation(self, connection: Connection) -> int:
        """The number of this code's metrics in this store: the more recently a store has met them,
        the higher. Newer code may measure what earlier code planned, but not the other way round.
        """
        number, table = self._generation_read(connection), schema.store_info
        if number == _UNMET:
            last = sa.select(sa.func.max(table.c.value)).where(
                table.c.name.startswith(_GENERATION, autoescape=True)
            )
            number = (connection.execute(last).scalar() or 0) + 1
            name = _GENERATION + planned.revisions()["metrics"]
            connection.execute(sa.insert(table).values(name=name, value=number))
        return number

    def _generation_read(self, connection: Connection) -> int:
        """As `_generation`; code that the store has not met yet is newer than all."""
        table = schema.store_info
        name = _GENERATION + planned.revisions()["metrics"]
        found = connection.execute(sa.select(table.c.value).where(table.c.name == name)).scalar()
        return _UNMET if found is None else int(found)

    def _owned(self, job_id: int, worker_id: str | None) -> sa.ColumnElement[bool]:
        return runs_under(job_id, worker_id or (self._claims or {}).get(job_id))

    def _row(self, connection: Connection, job_id: int) -> Any:
        table = schema.job
        row = None
        if 0 < job_id <= MOST_ID:
            query = sa.select(table).where(table.c.id == job_id)
            row = connection.execute(query).one_or_none()
        if row is None:
            newest = connection.execute(
                sa.select(table.c.id).order_by(table.c.id.desc()).limit(20)
            ).scalars()
            raise UnknownName("job", job_id, map(str, newest))
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

    def _unsettled(self, connection: Connection) -> bool:
        """Whether `_settle` would end anything."""
        table = schema.job
        ended = sa.select(table.c.id).where(table.c.state == "queued", _has_result(table)).limit(1)
        return any(
            connection.execute(query).first() is not None
            for query in (ended, self._stuck().limit(1))
        )

    def _settle(self, connection: Connection) -> None:
        """End queued jobs that need not or cannot run any more.

        What waits for a cancelled run is cancelled, also while that one is still coming to its end;
        what waits for one that failed or was lost is failed. Needs are listed with those of needs,
        so one pass is enough.
        """
        table = schema.job
        connection.execute(
            sa.update(table).where(table.c.state == "queued", _has_result(table)).values(_done())
        )
        # the last one kept is the first need
        ended = {row.id: _blocked(row) for row in connection.execute(self._stuck())}
        for number, values in ended.items():
            waits = sa.and_(table.c.id == number, table.c.state == "queued")
            connection.execute(sa.update(table).where(waits).values(values))

    def _stuck(self) -> sa.Select[*tuple[Any, ...]]:
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


def _has_result(table: Any) -> sa.ColumnElement[bool]:
    return sa.exists().where(schema.result.c.key == table.c.key).correlate(table)


def _blocked(row: Any) -> dict[str, Any]:
    """How a job ends that waits for one which will have no result."""
    state = "cancelled" if row.cancel_requested or row.state == "cancelled" else "failed"
    how = {"failed": "failed", "lost": "was lost"}.get(row.state, "was cancelled")
    why = f": {row.error}" if row.error and state == "failed" else "."
    return {
        "state": state,
        "error": f"This run needs “{_title(row)}”, which {how}{why}",
        "finished": now(),
    }


def _title(row: Any) -> str:
    try:
        with whole_row():
            return titles.run(from_json(row.spec))
    except StoreError:
        return "a run whose row is damaged"


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
        for position, key in enumerate(from_json(row["needs"]))
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
        "waits_for": None,
        "not_before": None,
    }


def _later(moment: Moment, seconds: float, waits_for: str) -> dict[str, Any]:
    return {"not_before": moment.now + timedelta(seconds=seconds), "waits_for": waits_for}


def _done() -> dict[str, Any]:
    return {"state": "done", "progress": 1.0, "step": "", "finished": now()}


def _cancelled() -> dict[str, Any]:
    return {"state": "cancelled", "finished": now()}


def _log(job_id: int) -> str:
    return f"job-{job_id}.log"


def _job(row: Any) -> Job:
    """Raises `StoreError` for a damaged row."""
    fields = {name: value for name, value in row._mapping.items() if name not in _INSIDE}
    with whole_row():
        for name, kind in (("spec", dict), ("needs", list), ("losses", list), ("deaths", dict)):
            fields[name] = from_json(fields[name])
            if not isinstance(fields[name], kind):
                raise TypeError(f"{name} is {said(fields[name])}")
        check_times(*(getattr(row, column.name) for column in _TIMES))
        if row.kind == "run":
            check_spec(fields["spec"])
            titles.run(fields["spec"])  # what everybody who lists it asks
    if not isinstance(row.not_before, datetime):
        fields["not_before"] = None
    fields |= {"needs": tuple(fields["needs"]), "losses": tuple(fields["losses"])}
    begun = row.started is not None or row.attempts
    return Job(**fields, log=_log(row.id) if begun else None)


def _mended(row: Any) -> dict[str, Any]:
    """What stands from now on where a job's row is damaged, but for its spec and needs, which
    nothing can stand in for.
    """
    values: dict[str, Any] = {
        column.name: None if column.nullable else now()
        for column in _TIMES
        if not isinstance(getattr(row, column.name), datetime | None)
    }
    for name, kind in (("losses", list), ("deaths", dict)):
        try:
            whole = isinstance(from_json(getattr(row, name)), kind)
        except StoreError:
            whole = False
        if not whole:
            values[name] = to_json(kind())
    return values


def _number(row: Any) -> int:
    return row.id


def _deaths(row: Any) -> dict[str, int]:
    """As they are stored; none where they cannot be read."""
    try:
        deaths = from_json(row.deaths)
    except StoreError:
        return {}
    known = isinstance(deaths, dict) and all(isinstance(count, int) for count in deaths.values())
    return deaths if known else {}
