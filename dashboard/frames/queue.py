"""What the queue page says about jobs: the newest job of each key, counts, time left. Plain
functions of records, no Streamlit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import pandas as pd

from mucore.runner.estimate import Left
from mucore.store.records import Job, JobState, Worker, turn


def devices(workers: Sequence[Worker]) -> pd.DataFrame:
    """Workers by machine and device, a row each: `workers`, `busy`, `threads`; as the latest one
    says, `device`, bytes `memory_used` and `memory_total`, and `load`, 1 being a program for each
    CPU of the machine. NaN where no worker says so.
    """
    told = ("memory_used", "memory_total", "load")
    frame = pd.DataFrame(
        {
            "machine": one.host,
            "id": str(one.facts.get("device_id", one.device)),
            "device": str(one.facts.get("device_name", one.device)),
            "busy": one.state == "busy",
            "threads": one.threads,
            **{name: one.facts.get(name) for name in told},
        }
        for one in sorted(workers, key=lambda one: one.heartbeat)
    )
    frame[[*told]] = frame[[*told]].astype(float)
    return frame.groupby(["machine", "id"], as_index=False).agg(
        device=("device", "last"),
        workers=("busy", "size"),
        busy=("busy", "sum"),
        threads=("threads", "sum"),
        **{name: (name, "last") for name in told},
    )


def newest(jobs: Sequence[Job]) -> list[Job]:
    """One job a key, the latest one, as they are taken: earlier tries are history."""
    latest: dict[str, Job] = {}
    for job in jobs:
        if job.key not in latest or latest[job.key].id < job.id:
            latest[job.key] = job
    return sorted(latest.values(), key=turn)


def unfinished(jobs: Sequence[Job], *, cancelled: bool) -> list[Job]:
    """The newest job of each key that waits, runs, failed or, where that is asked for, was
    cancelled, as they are taken.
    """
    states: tuple[JobState, ...] = ("queued", "running", "failed", "lost")
    return in_state(newest(jobs), *states, *(("cancelled",) if cancelled else ()))


def in_state(jobs: Sequence[Job], *states: JobState) -> list[Job]:
    return [job for job in jobs if job.state in states]


def by_cause(stopped: Sequence[Job]) -> tuple[list[Job], dict[str, list[Job]]]:
    """Stopped jobs that ended by themselves, and, by the key of each, those that ended because they
    need it.
    """
    known = {job.key: job for job in stopped}
    followers: dict[str, list[Job]] = {}
    for job in stopped:
        if (cause := _cause(job, known)) is not job:
            followers.setdefault(cause.key, []).append(job)
    return [job for job in stopped if _cause(job, known) is job], followers


def _cause(job: Job, stopped: Mapping[str, Job]) -> Job:
    """The one of the stopped jobs, by key, for want of which this one never began; else itself."""
    if job.started is None and job.state in ("failed", "cancelled"):
        for key in job.needs:
            if key in stopped:
                return _cause(stopped[key], stopped)
    return job


def done_share(running: Sequence[Job], left: Left, now: datetime, *, done: int, of: int) -> float:
    """How much of `of` runs is done, 0..1: `done` whole ones, and what is done of the running."""
    parts = sum(job_share(job, left.each.get(job.key), now) for job in running)
    return min((done + parts) / of, 1.0) if of else 0.0


def job_share(job: Job, left: float | None, now: datetime) -> float:
    """How much of a running job is done, 0..1, by the clock: its own progress begins anew with each
    part of the run.
    """
    # a job that only starts has done nothing yet
    elapsed = (job_seconds(job, now) or 0.0) if job.step != "starting" else 0.0
    return elapsed / (elapsed + left) if left is not None and elapsed else 0.0


def awaited(job: Job, labels: Mapping[str, str], now: datetime) -> str:
    """What a queued job waits for: the run that it needs, by its name in `labels`, trouble that
    passes, with the time until the next try, or a worker.
    """
    if job.waits_for is not None:
        seconds = (job.not_before - now).total_seconds() if job.not_before else 0.0
        again = f", next try in {seconds:.0f} s" if seconds >= 1 else ""
        return f"{job.waits_for}{again}"
    return next((labels[key] for key in job.needs if key in labels), "a free worker")


def job_seconds(job: Job, now: datetime) -> float | None:
    """Wall seconds a job took, or has taken so far."""
    if job.started is None:
        return None
    return ((job.finished or now) - job.started).total_seconds()
