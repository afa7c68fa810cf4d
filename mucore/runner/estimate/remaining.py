"""How long a set of jobs still takes, from what each run is expected to; and that in words."""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from mucore.runner.estimate.past_runs import Expected
from mucore.store.rows import ACTIVE, Job

NARROWEST = 1.15
PRIOR = 5.0  # seconds of runs that have to end before they count for as much as what was expected
TRUSTED = 4.0  # a run that is 1 / TRUSTED through its work is measured by its own rate alone
MEASURED = 0.02  # of the work done, from where on a run's own rate counts
# steps of a run whose work is done: the share of the evaluation that is left
EVALUATING = {"predicting": 1.0, "measuring": 0.5}


@dataclass(frozen=True)
class Span:
    """Seconds: a likely figure, and between which two it probably lies."""

    low: float
    likely: float
    high: float


@dataclass(frozen=True)
class Left:
    """Time left of a set of jobs until the last one has ended, None where none is left; and what
    each of them, by its key, still takes.
    """

    total: Span | None
    each: Mapping[str, Span] = field(default_factory=dict)


def about(span: Span) -> str:
    """ "a few seconds", "about 4 min": one number, as likely as any."""
    if span.high < 10:
        return "a few seconds"
    number, unit = _rounded(span.likely)
    return f"about {number:g} {unit}"


def _rounded(seconds: float) -> tuple[float, str]:
    """A figure as coarse as an estimate is: five seconds, whole minutes, half hours, half days."""
    for limit, size, step, unit in (
        (55, 1, 5, "s"),
        (55 * 60, 60, 1, "min"),
        (47 * 3600, 3600, 0.5, "h"),
    ):
        if seconds < limit:
            return max(step, round(seconds / size / step) * step), unit
    return round(seconds / 86400 / 0.5) * 0.5, "d"


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

    `jobs` hold the newest job of each key in order of priority: all that are queued or running,
    whoever queued them, for they share the workers; and those that have ended since the first of
    these was queued, which tell how fast runs are today. `waking` seconds pass before the first one
    begins.
    """
    ended = [
        job
        for job in jobs
        if job.state == "done" and job.started and job.finished and job.key in expected
    ]
    took = {
        job.key: max((job.finished - job.started).total_seconds(), 0.0)
        for job in ended
        if job.finished and job.started
    }
    forecast = sum(expected[key].seconds for key in took)
    # A run in hand that has taken longer than was expected of it tells the same, before it ends.
    late = {
        job.key: _elapsed(job, now)
        for job in jobs
        if job.key in expected and _elapsed(job, now) > expected[job.key].seconds
    }
    seen = forecast + sum(expected[key].seconds for key in late)
    pace = (sum(took.values()) + sum(late.values()) + PRIOR) / (seen + PRIOR)
    alike: dict[tuple[Any, ...], list[float]] = {}
    for job in ended:
        alike.setdefault(expected[job.key].kind, []).append(took[job.key])
    active = [job for job in jobs if job.state in ACTIVE and job.key in expected]
    wanted = [job for job in active if keys is None or job.key in keys]
    if not wanted:
        return Left(None)

    def whole(key: str) -> float:
        seen = alike.get(expected[key].kind, [])
        return (expected[key].seconds * pace + sum(seen)) / (1 + len(seen))

    lefts = {
        job.key: _of_running(job, expected[job.key], whole(job.key), now)
        if job.state == "running"
        else whole(job.key)
        for job in active
    }
    order = sorted(active, key=lambda job: (job.state != "running", job.priority, job.id))
    ends = schedule([(job.key, lefts[job.key], job.needs) for job in order], workers)
    # what is late says that the forecast is wrong, and not yet how much
    narrowing = PRIOR / (PRIOR + forecast)
    each = {}
    for job in active:
        own = min(1.0, TRUSTED * job.progress) if job.state == "running" else 0.0
        spread = max(NARROWEST, expected[job.key].spread ** (narrowing * (1 - own)))
        each[job.key] = _span(lefts[job.key], spread)
    mine = [job.key for job in wanted]
    weight = sum(lefts[key] for key in mine) or 1.0
    spread = math.exp(
        sum(
            lefts[key] * math.log(each[key].high / each[key].likely)
            for key in mine
            if each[key].likely
        )
        / weight
    )
    total = max(ends[key] for key in mine) + waking
    return Left(_span(total, spread), each)


def _of_running(job: Job, expected: Expected, whole: float, now: datetime) -> float:
    """Seconds left of a running job: from what is expected of it, and soon from its own rate
    alone.
    """
    elapsed = _elapsed(job, now)
    factor = whole / expected.seconds if expected.seconds else 1.0
    evaluation = expected.evaluation * factor
    if job.step in EVALUATING:
        return max(evaluation * EVALUATING[job.step], 0.05 * elapsed)
    if job.progress >= MEASURED and elapsed >= 2:
        share = min(job.progress, 1.0)
        weight = min(1.0, TRUSTED * share)
        work = (1 - weight) * expected.work * factor + weight * elapsed / share
        return max(work - elapsed, elapsed * (1 - share) * 0.2) + evaluation
    # a run that is late without a sign of life may well take half as long again
    return max(whole - elapsed, 0.5 * elapsed)


def is_forecast(job: Job) -> bool:
    """Whether what is left of a running job is told by what is expected of it alone: it has not
    come far enough to tell itself.
    """
    return job.progress < MEASURED and job.step not in EVALUATING


def _elapsed(job: Job, now: datetime) -> float:
    return (
        max((now - job.started).total_seconds(), 0.0)
        if job.state == "running" and job.started
        else 0.0
    )


def _span(seconds: float, spread: float) -> Span:
    return Span(seconds / spread, seconds, seconds * spread)


def schedule(tasks: Sequence[tuple[str, float, Collection[str]]], workers: int) -> dict[str, float]:
    """When each task ends, in seconds from now: each worker that is free takes the first task none
    of whose needs is waiting or running.

    `tasks` are key, seconds and needs, in order of priority; a need that is no task is there
    already. Needs must not go in circles.
    """
    keys = {key for key, _, _ in tasks}
    waiting = {
        key: {need for need in needs if need in keys and need != key} for key, _, needs in tasks
    }
    place = {key: (number, seconds) for number, (key, seconds, _) in enumerate(tasks)}
    followers: dict[str, list[str]] = {}
    for key, needs in waiting.items():
        for need in needs:
            followers.setdefault(need, []).append(key)
    ready = [(place[key][0], key) for key, needs in waiting.items() if not needs]
    heapq.heapify(ready)
    busy: list[tuple[float, str]] = []
    ends: dict[str, float] = {}
    clock = 0.0
    while ready or busy:
        while ready and len(busy) < max(workers, 1):
            _, key = heapq.heappop(ready)
            heapq.heappush(busy, (clock + place[key][1], key))
        clock, ended = heapq.heappop(busy)
        ends[ended] = clock
        for key in followers.get(ended, []):
            waiting[key].discard(ended)
            if not waiting[key]:
                heapq.heappush(ready, (place[key][0], key))
    return ends
