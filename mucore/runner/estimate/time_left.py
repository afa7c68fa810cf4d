"""How long a plan or the jobs of a queue still take, from what each run is expected to."""

from __future__ import annotations

import contextlib
import heapq
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from mucore.errors import MucoreError
from mucore.runner.estimate.past_runs import Expected, forecast
from mucore.runs import RunSpec, stored_spec
from mucore.store import Store
from mucore.store.records import ACTIVE, Job, turn

WAKING = 10.0  # seconds until a new worker has loaded PyTorch and takes its first job
TRUSTED = 4.0  # a run that is 1 / TRUSTED through its work is measured by its own rate alone
# steps of a run whose work is done: the share of the evaluation that is left
EVALUATING = {"predicting": 1.0, "measuring": 0.5}
# how figures are rounded: below so many seconds, by steps of so many of a unit of so many seconds
UNITS = ((55, 1, 5, "s"), (55 * 60, 60, 1, "min"), (47 * 3600, 3600, 0.5, "h"))


@dataclass(frozen=True)
class Left:
    """Seconds left of a set of jobs until the last one has ended, None where none is left; and what
    each of them, by its key, still takes.
    """

    total: float | None
    each: Mapping[str, float] = field(default_factory=dict)


def about(seconds: float) -> str:
    """ "a few seconds", "about 4 min": a figure as coarse as an estimate is."""
    if seconds < 10:
        return "a few seconds"
    for limit, size, step, unit in (*UNITS, (float("inf"), 86400, 0.5, "d")):
        if seconds < limit:
            return f"about {max(step, round(seconds / size / step) * step):g} {unit}"
    raise AssertionError("unreachable")


def time_of(
    specs: Sequence[RunSpec], store: Store, *, workers: int | None = None
) -> tuple[float, int, str]:
    """Of runs that are missing in the store, in running order: seconds until the last has ended,
    jobs of others that come first, and what that is estimated from.
    """
    if not specs:
        return 0.0, 0, "Every run is in the store already."
    queued = {job.key: job for job in store.jobs(states=ACTIVE, kind="run", limit=None)}
    waiting = specs_of(sorted(queued.values(), key=_turn))
    runs = waiting | {spec.key: spec for spec in specs}
    expected = forecast(store, [*runs.values()]).expect([*runs.values()])
    tasks = [
        (
            key,
            expected[spec.key].seconds,
            queued[key].needs if key in queued else [need.key for need in spec.needs()],
        )
        for key, spec in runs.items()
    ]
    alive = len(store.workers())
    ends = schedule(tasks, workers or max(alive, 1))
    keys = {spec.key for spec in specs}
    longest = max((expected[key] for key in keys), key=lambda each: each.seconds)
    seconds = max(ends[key] for key in keys) + (0.0 if alive else WAKING)
    return seconds, len(queued.keys() - keys), f"Estimated from {longest.source}."


def specs_of(jobs: Iterable[Job]) -> dict[str, RunSpec]:
    """What jobs run, by the key of each: where its version was another, the spec may have another
    key here, or cannot be read and is left out.
    """
    found = {}
    for job in jobs:
        with contextlib.suppress(MucoreError):
            if (spec := stored_spec(job.spec)).key:  # all that it names is known
                found[job.key] = spec
    return found


def time_left(
    jobs: Sequence[Job],
    expected: Mapping[str, Expected],
    *,
    workers: int,
    now: datetime,
    keys: Collection[str] | None = None,
    waking: float = 0.0,
) -> Left:
    """Time left until the last of `keys` (None: of all jobs) has ended.

    `jobs` are queued or running: whoever queued them, they share the workers. `waking` seconds pass
    before the first one begins.
    """
    active = sorted((job for job in jobs if job.key in expected), key=_turn)
    wanted = [job.key for job in active if keys is None or job.key in keys]
    if not wanted:
        return Left(None)
    each = {job.key: _left_of(job, expected[job.key], now) for job in active}
    ends = schedule(((job.key, each[job.key], job.needs) for job in active), workers)
    return Left(max(ends[key] for key in wanted) + waking, each)


def _turn(job: Job) -> tuple[Any, ...]:
    return job.state != "running", *turn(job)


def _left_of(job: Job, expected: Expected, now: datetime) -> float:
    """Seconds left of a job: from what is expected of it, and soon from its own rate alone."""
    work, evaluation = expected.work, expected.evaluation
    if job.state != "running":
        return work + evaluation
    if job.step in EVALUATING:
        return evaluation * EVALUATING[job.step]
    elapsed = 0.0 if job.started is None else max((now - job.started).total_seconds(), 0.0)
    share = min(job.progress, 1.0)
    if share and elapsed:
        weight = min(1.0, TRUSTED * share)
        work = (1 - weight) * work + weight * elapsed / share
    return max(work - elapsed, 0.2 * elapsed * (1 - share)) + evaluation


def schedule(tasks: Iterable[tuple[str, float, Collection[str]]], workers: int) -> dict[str, float]:
    """When each task ends, in seconds from now, where each goes to the worker that is free first.

    `tasks` are key, seconds and needs, in order of priority, needs before what needs them; a need
    that is no task is there already.
    """
    free = [0.0] * max(workers, 1)
    ends: dict[str, float] = {}
    for key, seconds, needs in tasks:
        begins = max([heapq.heappop(free), *(ends[need] for need in needs if need in ends)])
        ends[key] = begins + seconds
        heapq.heappush(free, ends[key])
    return ends
