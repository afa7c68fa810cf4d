"""What workers do with jobs: take one, say that they live, end it or give it back; and what
becomes of the jobs of dead ones.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from mucore.errors import StoreError
from mucore.store import planned, poison, schema
from mucore.store.claims import lost, runs_under
from mucore.store.job_rows import deaths_of, job_of, log_of, mended, number_of
from mucore.store.liveness import GRACE_SECONDS, Moment
from mucore.store.rows import ACTIVE, Job
from mucore.store.schema import now, to_json
from mucore.store.settling import Settling, cancelled, done
from mucore.store.trouble import patient

# A job that met passing trouble is tried again after 5 seconds, then after twice as long each time.
FIRST_DELAY, LONGEST_DELAY = 5.0, 300.0
# A look for dead workers that had to wait so long for its turn proves nothing of the others.
_HELD_UP_SECONDS = 5.0
# in `store_info`, before the revisions of metrics: in which order this store has met them
_GENERATION = "metrics:"
_UNMET = 2**31 - 1
_KEEP_LOG = sa.text(
    "INSERT INTO job_log (job, text) VALUES (:job, :text) "
    "ON CONFLICT (job) DO UPDATE SET text = excluded.text"
)


class Taking(Settling):
    """The part of the store that workers take jobs by."""

    # job id -> worker id, of the jobs claimed through this object
    _claims: dict[int, str] | None = None
    # key of a queued run -> whether this code gives the run that key
    _same: dict[str, bool] | None = None
    # job id -> what is wrong with the row of a queued job, until that is said there
    _broken: dict[int, str] | None = None

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
        return job_of(row)

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
            values |= done()
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
            values = cancelled() if row.cancel_requested else _requeued()
            if waits_for is not None and not row.cancel_requested:
                pause = min(FIRST_DELAY * 2.0 ** min(row.delays, 10), LONGEST_DELAY)
                values |= _later(self.moment(connection), pause, waits_for)
                values["delays"] = row.delays + 1
            connection.execute(sa.update(table).where(table.c.id == job_id).values(values))
            self._settle(connection)

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
        return self._whole("job", rows, job_of, number_of)

    # -- inside

    def _without_worker(self, connection: Connection, row: Any, moment: Moment) -> dict[str, Any]:
        """What becomes of a running job whose worker is gone."""
        result = schema.result
        stored = sa.select(result.c.key).where(result.c.key == row.key)
        if connection.execute(stored).first() is not None:
            return done()
        if row.cancel_requested:
            return cancelled()
        died = poison.after_death(
            deaths_of(row),
            row.attempts,
            row.step,
            row.progress,
            guilty=row.short_of_memory or poison.crashed(self.home / "logs" / log_of(row.id)),
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
                job = job_of(row)
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
                connection.execute(sa.update(table).where(waits).values(mended(row) | values))
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
