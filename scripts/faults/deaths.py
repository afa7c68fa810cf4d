"""Processes that die, are asked to end, or stand still."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import time
from datetime import timedelta

import psutil
import sqlalchemy as sa

from faults.ground import (
    FLAGS,
    GRID,
    OWN,
    PATIENCE,
    Field,
    Ground,
    Group,
    Skipped,
    Tally,
    pick,
    wait_for,
)
from faults.processes import Process
from mucore.store import Store, schema
from mucore.store.liveness import GRACE_SECONDS
from mucore.store.rows import Job

KILLED = "SIGKILL of a worker"
ASKED = "SIGTERM to a worker"
STOPPED = "SIGSTOP of a worker"
FUTURE = "heartbeat from the future"
RUN_SIGNALS = {
    signal.SIGINT: "SIGINT to `run`",
    signal.SIGTERM: "SIGTERM to `run`",
    signal.SIGKILL: "SIGKILL of `run`",
}
# A process that nobody here can look at.
ELSEWHERE = "another-machine.abcdef-12-3.50"


def kill_workers(ground: Ground, rng: random.Random, tally: Tally, most: int) -> None:
    """Two workers, each of which is killed after a while and followed by another, until all is done
    or `most` have died.
    """
    most = min(most, 6 if ground.short else 40)
    grid = GRID
    if rng.random() < 0.75:  # a user's own method takes longer to start than all others together
        grid = grid.model_copy(update={"methods": [m for m in grid.methods if m.id != OWN]})
    with ground.field(tally, url=_database(ground, rng), grid=grid) as field:
        field.launch()
        fates: dict[int, _Fate] = {}
        while most > 0 and not field.settled():
            field.keep(2)
            for worker in field.workers:
                fate = fates.setdefault(worker.pid, _Fate(rng))
                job = field.job_of(worker)
                if most > 0 and fate.strikes(job):
                    _end(worker, job, rng, tally)
                    most -= 1
            time.sleep(0.1)
        field.finish()
        if left := ground.left_over():
            tally.broken.append(f"{len(left)} processes outlived the workers that started them")


class _Fate:
    """When a worker is to die: a moment after it was started, after it has taken a job, or
    after that job has got where it has not died before. The last is half of them: whoever always
    dies at one place comes to no end, and mucore gives that job up.
    """

    def __init__(self, rng: random.Random, seconds: float = 1.0):
        self._kind = rng.choices(("started", "has a job", "got further"), (0.1, 0.4, 0.5))[0]
        self._pause, self._since = pick(rng, seconds), 0.0  # whole runs take no longer

    def strikes(self, job: Job | None) -> bool:
        if not self._since and self._met(job):
            self._since = time.monotonic()
        return self._since > 0 and time.monotonic() - self._since >= self._pause

    def _met(self, job: Job | None) -> bool:
        if job is None or self._kind == "started":
            return self._kind == "started"
        died_there = any(place.startswith(f"{job.step},") for place in job.deaths)
        return self._kind == "has a job" or (job.step not in ("", "starting") and not died_there)


def _end(worker: Process, job: Job | None, rng: random.Random, tally: Tally) -> None:
    if worker.poll() is not None:
        tally.broken.append(f"a worker ended by itself, with {worker.poll()}")
    elif rng.random() < 0.1:
        if code := worker.end():
            tally.broken.append(f"a worker ended with {code} when it was asked to")
        tally.did[ASKED] += 1
    else:
        worker.kill()
        tally.did[KILLED] += 1
        where = "no job" if job is None else f"“{job.step.partition(':')[0]}”"
        tally.did[f"... in {where}"] += 1


def _database(ground: Ground, rng: random.Random) -> str | None:
    """A database on the server in four rounds of ten, else SQLite."""
    if ground.short or rng.random() < 0.6:  # there another group restarts the server
        return None
    try:
        return ground.database()
    except Skipped:
        return None


def kill_run(ground: Ground, rng: random.Random, tally: Tally, most: int) -> None:
    """`run` in a terminal, ended in three ways, and the same command again until it is through."""
    with ground.field(tally) as field:
        field.allowed |= {"cancelled"}  # the wish of who pressed Ctrl-C
        command = ["run", *FLAGS, "--json", "--home", str(field.store.home)]
        for _ in range(min(most, 3 if ground.short else 8)):
            process = ground.start(*command)
            number = rng.choice(list(RUN_SIGNALS))
            began = len(field.store.jobs())
            wait_for(
                lambda process=process, began=began: (
                    process.poll() is not None
                    or len(field.store.jobs()) > began
                    or field.store.jobs(states=["running"])
                ),
                "`run` to begin",
            )
            time.sleep(pick(rng, 2.0 if ground.short else 6.0))
            if process.poll() is not None:
                break
            process.send_signal(number)
            _, said = process.communicate(timeout=PATIENCE)
            tally.did[RUN_SIGNALS[number]] += 1
            expected = -signal.SIGKILL if number == signal.SIGKILL else 130
            if process.returncode not in (expected, 0) or b"Traceback" in said:
                tally.broken.append(
                    f"`run` ended with {process.returncode} after {number.name}: {said[-4000:]}"
                )
        process = ground.start(*command)
        printed, _ = process.communicate(timeout=PATIENCE)
        keys = [json.loads(line)["key"] for line in printed.splitlines()]
        if process.returncode != 0 or sorted(keys) != sorted(field.wanted):
            tally.broken.append(
                f"the last `run` ended with {process.returncode} and printed {len(keys)} results"
            )


def stop_workers(ground: Ground, rng: random.Random, tally: Tally, most: int) -> None:
    """One worker stands still in a run; a job belongs to a machine whose clock is a year ahead.
    Others take both jobs over, and the late worker drops its work.
    """
    del most
    with ground.field(tally, url=_database(ground, rng)) as field:
        field.launch()
        field.keep(1)
        victim = field.workers[0]
        # what the others need has to be there, or they would have nothing to do
        wait_for(field.store.count_results, "the first result")
        future = wait_for(lambda: field.store.claim(ELSEWHERE), "a job that is free")
        _beat_from_the_future(field, future.id)
        tally.did[FUTURE] += 1
        field.caught(victim)
        time.sleep(pick(rng, 1.0))
        wait_for(lambda: _stands_still(field.store, victim.pid), "a stop outside of a write")
        job = field.job_of(victim)
        tally.did[STOPPED] += 1
        others = [field.start_worker() for _ in range(1 if ground.short else 2)]
        try:
            if ground.short:  # a minute is long there, so this process judges, and sooner
                wait_for(lambda: field.store.reap(grace_seconds=20.0), "the silent to be found")
            wait_for(field.settled, "what the silent ones had in hand", seconds=GRACE_SECONDS + 900)
            before = {key: field.store.get_result(key) for key in field.wanted}
            os.kill(victim.pid, signal.SIGCONT)
            if job is not None:
                log = field.store.home / "logs" / f"job-{job.id}.log"
                wait_for(lambda: "took this job over" in log.read_text(), "the late worker's word")
            if victim.end() != 0:
                tally.broken.append("the worker that woke up did not end as it was asked to")
            if {key: field.store.get_result(key) for key in field.wanted} != before:
                tally.broken.append("a worker that woke up changed results")
        finally:
            for other in others:
                other.end()


def _stands_still(store: Store, pid: int) -> bool:
    """Stop a worker, and let it go on where it stopped with the write lock of SQLite in its hand:
    until it wakes nobody writes then, which is what the group of the locked database is about.
    """
    os.kill(pid, signal.SIGSTOP)
    wait_for(lambda: psutil.Process(pid).status() == psutil.STATUS_STOPPED, "SIGSTOP to act")
    if not store.sqlite:
        return True
    database = sqlite3.connect(store.home / "store.sqlite", timeout=5, isolation_level=None)
    try:
        database.execute("BEGIN IMMEDIATE")
        database.execute("ROLLBACK")
    except sqlite3.OperationalError:  # locked, longer than any worker that runs would
        os.kill(pid, signal.SIGCONT)
        return False
    finally:
        database.close()
    return True


def _beat_from_the_future(field: Field, job_id: int) -> None:
    table = schema.job
    with field.store.write() as connection:
        ahead = field.store.moment(connection).now + timedelta(days=365)
        connection.execute(sa.update(table).where(table.c.id == job_id).values(heartbeat=ahead))


GROUPS = (
    Group("kills", "Workers are killed", kill_workers, 200, 4, [KILLED]),
    Group("runs", "`run` is killed", kill_run, 30, 1, list(RUN_SIGNALS.values())),
    Group("stops", "Workers stand still, clocks go wrong", stop_workers, 10, 2, [STOPPED, FUTURE]),
)
