"""The estimate of a plan, and of the jobs in the queue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from mucore.runner.estimate.machine import available, whole_memory
from mucore.runner.estimate.memory import Fit, fit_of
from mucore.runner.estimate.past_runs import Expected, forecast
from mucore.runner.estimate.remaining import Span, time_left
from mucore.spec import RunSpec
from mucore.store import Store
from mucore.store.rows import ACTIVE, Job

MOST_JOBS = 1_000_000_000  # of a queue: all
WAKING = 10.0  # seconds until a new worker has loaded PyTorch and takes its first job


@dataclass(frozen=True)
class OfPlan:
    """What the runs of a plan that are missing come to; fields as in `plan.Plan`."""

    time: Span
    ahead: int
    memory_bytes: int | None
    basis: str
    fit: Fit | None = None


def of_plan(
    specs: Sequence[RunSpec],
    store: Store,
    *,
    history: Store | None = None,
    workers: int | None = None,
) -> OfPlan:
    """The estimate of a plan from the runs that are missing in the store, in running order."""
    if not specs:
        return OfPlan(Span(0.0, 0.0, 0.0), 0, None, "Every run is in the store already.")
    now = datetime.now(UTC)
    queued = {job.key: job for job in store.jobs(states=ACTIVE, kind="run", limit=MOST_JOBS)}
    fresh = [spec for spec in specs if spec.key not in queued]
    alive = len(store.workers())
    jobs = [
        *sorted(queued.values(), key=lambda job: job.priority),
        *(_job_of(spec, number) for number, spec in enumerate(fresh)),
    ]
    every = [*(RunSpec.model_validate(dict(job.spec)) for job in queued.values()), *fresh]
    made = forecast(store, every, history=history)
    expected = made.expect(every)
    keys = {spec.key for spec in specs}
    left = time_left(
        jobs,
        expected,
        workers=workers or max(alive, 1),
        now=now,
        keys=keys,
        waking=0.0 if alive else WAKING,
    )
    assert left.total is not None
    device, free = available(store)
    by_source: dict[str, float] = {}
    for key in keys:
        by_source[expected[key].source] = (
            by_source.get(expected[key].source, 0.0) + expected[key].seconds
        )
    main = sorted(by_source, key=lambda source: by_source[source], reverse=True)[:2]
    return OfPlan(
        left.total,
        len(queued.keys() - keys),
        made.peak_memory(specs[0]),
        f"Estimated from {' and '.join(main)}.",
        fit_of(specs, device, free, whole_memory(store.home, device)),
    )


def counting(jobs: Sequence[Job]) -> list[Job]:
    """Of the newest job of each key those that `time_left` wants, in order of priority: active
    ones, and those that ended meanwhile.
    """
    since = min((job.queued for job in jobs if job.state in ACTIVE), default=None)
    if since is None:
        return []
    found = (
        job
        for job in jobs
        if job.state in ACTIVE
        or (job.state == "done" and job.finished is not None and job.finished >= since)
    )
    return sorted(found, key=_rank)


def of_jobs(
    store: Store, jobs: Sequence[Job], *, history: Store | None = None
) -> dict[str, Expected]:
    """What these jobs, as `counting` gives them, were expected to take when the first of the active
    ones was queued.
    """
    since = min((job.queued for job in jobs if job.state in ACTIVE), default=None)
    specs = [RunSpec.model_validate(dict(job.spec)) for job in jobs]
    return forecast(store, specs, history=history, before=since).expect(specs)


def _rank(job: Job) -> tuple[int, int]:
    return job.priority, job.id


def _job_of(spec: RunSpec, number: int) -> Job:
    """A job as `Store.enqueue` would make it behind all others."""
    return Job(
        id=number,
        key=spec.key,
        spec={},
        label=spec.label,
        state="queued",
        priority=MOST_JOBS + number,
        needs=tuple(need.key for need in spec.needs()),
        comparison=None,
        progress=0.0,
        step="",
        losses=(),
        attempts=0,
        cancel_requested=False,
        worker=None,
        error=None,
        log=None,
        queued=datetime.now(UTC),
        started=None,
        finished=None,
        heartbeat=None,
    )
