"""How long runs will take: the one estimate behind `plan`, the launch page, the queue and the
lessons. Imports no torch.

What a run takes is its work (training or unlearning), the training records that it may have to make
first, and its evaluation. Each is expected from past runs of the same method: the nearest ones that
there are, scaled by the samples that are processed and by what a sample costs the network. Runs of
this store come before those of another one (the demo's), which are first brought to the speed of
this machine by the runs that both have; where nothing alike was run, the cards say how much is to
be computed. What is shared is counted once, and not at all where its weights are stored already.

While a comparison runs, the runs of it that have ended correct what is expected of the others, and
a run in hand is measured by its own progress. Then a small simulation deals the jobs out to the
workers as the queue does. Nothing here is exact, so the result is a range.
"""

from __future__ import annotations

import heapq
import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from statistics import median
from typing import Any

from mucore import catalog
from mucore.errors import UnknownName
from mucore.spec import RunSpec, records_of, settings
from mucore.store import Store
from mucore.store.rows import ACTIVE, Job, Result

MOST_JOBS = 1_000_000_000  # of a queue: all
WAKING = 10.0  # seconds until a new worker has loaded PyTorch and takes its first job
RECENT = 10  # past runs of each kind that an estimate is the median of
# A machine to measure by: multiply-adds a second, seconds a step, seconds of an evaluation however
# small the data. Only ratios of what it takes are used as soon as anything has run; it is about one
# core of a server.
SPEED, STEP, EVALUATION = 3e10, 4e-3, 0.3
# forward passes that a sample costs with its gradient, and in an evaluation with all its metrics
TRAINING, PREDICTING = 3.0, 2.0
UNKNOWN_SIZE, UNKNOWN_SHAPE = 10_000, (3, 32, 32)  # of data whose card does not say
# How many times too much or too little an estimate may be: from the same run with other seeds, the
# same method and recipe, the same method on the same data and model, the same method elsewhere, and
# from the cards alone.
SPREADS = (1.25, 1.5, 1.8, 2.5, 3.0)
# as many times more where it was another machine and nothing says how fast this one is
UNCALIBRATED = 1.7
NARROWEST = 1.15
PRIOR = 5.0  # seconds of runs that have to end before they count for as much as what was expected
TRUSTED = 4.0  # a run that is 1 / TRUSTED through its work is measured by its own rate alone
# steps of a run whose work is done: the share of the evaluation that is left
EVALUATING = {"predicting": 1.0, "measuring": 0.5}


@dataclass(frozen=True)
class Span:
    """Seconds: a likely figure, and between which two it probably lies."""

    low: float
    likely: float
    high: float


@dataclass(frozen=True)
class Expected:
    """What one run is expected to take, in seconds; it may be `spread` times as much, or as
    little.
    """

    work: float
    evaluation: float
    spread: float
    source: str  # where the figures come from, in words
    kind: tuple[Any, ...] = ()  # runs of one kind differ in their seeds alone

    @property
    def seconds(self) -> float:
        return self.work + self.evaluation


@dataclass(frozen=True)
class Left:
    """Time left of a set of jobs until the last one has ended, None where none is left; and what
    each of them, by its key, still takes.
    """

    total: Span | None
    each: Mapping[str, Span] = field(default_factory=dict)


# --- words
# --------------------------------------------------------------------------------------------------


def about(span: Span) -> str:
    """ "a few seconds", "about 4 min", and where little is known a range: "about 2 to 5 min"."""
    if span.high < 10:
        return "a few seconds"
    (low, unit), (high, larger) = _rounded(span.low), _rounded(span.high)
    if unit == "s" and span.high < 120:
        high, larger = round(span.high / 5) * 5, "s"
    if span.high <= 1.6 * span.low or (low, unit) == (high, larger):
        number, unit = _rounded(span.likely)
        return f"about {number:g} {unit}"
    return (
        f"about {low:g} to {high:g} {larger}"
        if unit == larger
        else f"about {low:g} {unit} to {high:g} {larger}"
    )


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


# --- what is to be computed, from the cards
# ----------------------------------------------------------------------------------------------


def nominal(spec: Mapping[str, Any]) -> tuple[float, float]:
    """Seconds of work and of evaluation that the run of `RunSpec.model_dump` would take on the
    nominal machine.
    """
    card = catalog.dataset(spec["dataset"])
    train, validation, test = card.sizes or (UNKNOWN_SIZE, 0, UNKNOWN_SIZE // 5)
    per_class = spec["recipe"].get("per_class", 0)
    if per_class and card.classes:
        train = min(train, per_class * card.classes)
    forward = catalog.model(spec["model"]).macs * math.prod((card.shape or UNKNOWN_SHAPE)[1:])
    samples = passes(spec) * train
    work = samples * TRAINING * forward / SPEED + samples / spec["recipe"]["batch_size"] * STEP
    return work, EVALUATION + (train + validation + test) * PREDICTING * forward / SPEED


def passes(spec: Mapping[str, Any]) -> float:
    """How often a run goes over as many samples as the training set has; a method that reads the
    forget set alone over a tenth of it.
    """
    if spec["scenario"] is None or spec["method"] in ("original", "retrain"):
        return (
            0.0
            if spec.get("original_hash") and spec["method"] == "original"
            else float(spec["recipe"]["epochs"])
        )
    try:
        card = catalog.method(spec["method"])
    except UnknownName:  # a method of the user's own whose file is gone
        return 1.0
    epochs = [
        value
        for name, value in spec["parameters"].items()
        if "epochs" in name and isinstance(value, (int, float))
    ]
    return max(sum(epochs), 1.0) * (1.0 if "retain" in card.reads else 0.1)


# --- what past runs say
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Past:
    """A past run: seconds it took, and those of the nominal machine."""

    place: tuple[Any, ...]  # as of `_place`
    work: float
    evaluation: float
    records: float  # making training records and whatever else came before
    nominal: tuple[float, float]

    @property
    def seconds(self) -> float:
        return self.work + self.evaluation


def _place(spec: Mapping[str, Any]) -> tuple[Any, ...]:
    """What a run's time depends on, the most important last: runs are the nearer the more of the
    tail they have in common.
    """
    trains = spec["scenario"] is None or spec["method"] in ("original", "retrain")
    return (
        ""
        if trains
        else json.dumps(
            [spec["scenario"], spec.get("scenario_parameters"), settings(spec)], sort_keys=True
        ),
        json.dumps(spec["recipe"], sort_keys=True),
        (spec["dataset"], spec["model"]),
        (spec["method"], spec["scenario"] is None),
    )


def _nearness(one: tuple[Any, ...], other: tuple[Any, ...]) -> int | None:
    """0 for the same run with other seeds, 1 same recipe, 2 same data and model, 3 same method;
    None for another method.
    """
    if one[3] != other[3]:
        return None
    return 3 if one[2] != other[2] else 2 if one[1] != other[1] else 1 if one[0] != other[0] else 0


def _past(result: Result) -> _Past | None:
    spec, cost = result.spec, result.cost
    try:
        expected = nominal(spec)
    except UnknownName:  # of a data set or model that is gone
        return None
    from_file = bool(spec.get("original_hash")) and spec["method"] == "original"
    works = not from_file and (spec["method"] != "original" or spec["scenario"] is None)
    work = float(cost.get("seconds") or 0.0) if works else 0.0
    evaluation = float(cost.get("evaluation_seconds") or 0.0)
    # The wall time of a run whose weights were there already is shorter than its work.
    before = max(float(cost.get("wall_seconds") or 0.0) - work - evaluation, 0.0)
    return None if from_file else _Past(_place(spec), work, evaluation, before, expected)


@dataclass(frozen=True)
class Times:
    work: float
    evaluation: float
    records: float

    @property
    def seconds(self) -> float:
        return self.work + self.evaluation

    def __mul__(self, factor: float) -> Times:
        return Times(self.work * factor, self.evaluation * factor, self.records * factor)


class Forecast:
    """What runs are expected to take: from results of this store, and of `history`, another one
    that this machine may not have made.

    `own` and `history` are results without metrics; `stored` are the model keys whose weights this
    store has.
    """

    def __init__(
        self, own: Sequence[Result], history: Sequence[Result] = (), stored: Collection[str] = ()
    ):
        self._own = [past for result in own if (past := _past(result)) is not None]
        self._history = [past for result in history if (past := _past(result)) is not None]
        self._stored = stored
        self._memory = [
            (result.spec, result.cost.get("peak_memory_bytes") or 0) for result in (*own, *history)
        ]
        self._kinds: dict[tuple[Any, ...], tuple[float, float, float, float, str]] = {}
        pairs = [
            (past.seconds, found[0])
            for past in self._own
            if (found := _scaled(past.place, past.nominal, self._history, 2))
        ]
        self._pace = (
            sum(took for took, _ in pairs) / sum(there.seconds for _, there in pairs)
            if pairs
            else 1.0
        )
        self._paced = bool(pairs)

    def expect(self, specs: Sequence[RunSpec]) -> dict[str, Expected]:
        """By key; `specs` in running order, for what several of them share is counted with the
        first.
        """
        seen = set(self._stored)
        found = {}
        for spec in specs:
            content = spec.model_dump(mode="json")
            kind = (*_place(content), bool(spec.original_hash and spec.method == "original"))
            if kind not in self._kinds:
                self._kinds[kind] = self._of(content)
            work, evaluation, records, spread, source = self._kinds[kind]
            makes = spec.model_key not in seen
            seen.add(spec.model_key)
            names = _records(content) if makes else []
            shared = " ".join(
                [
                    spec.original().model_key,
                    *names,
                    json.dumps([spec.scenario, spec.scenario_parameters], sort_keys=True),
                ]
            )
            if names and shared not in seen:
                work += records
                seen.add(shared)
            found[spec.key] = Expected(
                work if makes else 0.0, evaluation, spread, source, (*kind, makes, bool(names))
            )
        return found

    def peak_memory(self, spec: RunSpec) -> int | None:
        """Bytes of the largest past run on the data and model of `spec`."""
        alike = [
            size
            for past, size in self._memory
            if (past["dataset"], past["model"]) == (spec.dataset, spec.model)
        ]
        return max(alike, default=0) or None

    def _of(self, content: Mapping[str, Any]) -> tuple[float, float, float, float, str]:
        """Work, evaluation, records, spread and source of one kind of run."""
        there, own = nominal(content), _place(content)
        here, away = _scaled(own, there, self._own, 3), _scaled(own, there, self._history, 3)
        if here and (here[1] <= 1 or not away or here[1] <= away[1]):
            times, near, spread, source = here[0], here[1], SPREADS[here[1]], "your past runs"
        elif away:
            times, near = away[0] * self._pace, away[1]
            spread = SPREADS[near] * (1.0 if self._paced else UNCALIBRATED)
            source = "the demo's runs" + (
                ", at the speed of yours" if self._paced else ", on the machine that made them"
            )
        else:
            known = self._own or self._history
            pace = (
                sum(past.seconds for past in known) / sum(sum(past.nominal) for past in known)
                if known
                else 1.0
            )
            times = Times(there[0], there[1], 0.0) * pace
            spread, source = (
                SPREADS[4] * (1.0 if known else UNCALIBRATED),
                "the size of data and model, as nothing alike has run yet",
            )
        return times.work, times.evaluation, times.records, spread, source


def _scaled(
    place: tuple[Any, ...], to: tuple[float, float], pasts: Sequence[_Past], farthest: int
) -> tuple[Times, int] | None:
    """Medians of the nearest past runs, each scaled to a run that takes `to` on the nominal
    machine; and how near they are.
    """
    near = [
        (distance, past)
        for past in pasts
        if (distance := _nearness(place, past.place)) is not None and distance <= farthest
    ]
    if not near:
        return None
    best = min(distance for distance, _ in near)
    chosen = [past for distance, past in near if distance == best][-RECENT:]
    works = [
        past.work * (to[0] / past.nominal[0] if best and past.nominal[0] else 1.0)
        for past in chosen
    ]
    evaluations = [past.evaluation * to[1] / past.nominal[1] for past in chosen]
    records = max(
        past.records * (to[0] / past.nominal[0] if best and past.nominal[0] else 1.0)
        for past in chosen
    )
    return Times(median(works), median(evaluations), records), best


def _records(spec: Mapping[str, Any]) -> list[str]:
    """The training records that a run needs beside its original."""
    if spec["scenario"] is None or spec["method"] in ("original", "retrain"):
        return []
    return records_of(catalog.method(spec["method"]), spec["parameters"])


def forecast(
    store: Store,
    specs: Sequence[RunSpec],
    *,
    history: Store | None = None,
    before: datetime | None = None,
) -> Forecast:
    """A forecast for `specs` from what the store, and `history`, held at the time `before` (None:
    now).
    """
    places = {(spec.dataset, spec.model) for spec in specs}
    methods = {spec.method for spec in specs} | {"original", "retrain"}
    own, elsewhere = [], []
    for source, found in ((store, own), (history, elsewhere)):
        if source is None:
            continue
        for dataset, model in sorted(places):
            found += source.recent_results(dataset=dataset, model=model, each=RECENT, before=before)
        missing = methods - {result.spec["method"] for result in found}
        if missing or len(places) > 1:  # the same methods on other data
            found += source.recent_results(method=sorted(missing), each=2, before=before)
    return Forecast(
        own, elsewhere, store.stored_models({spec.model_key for spec in specs}, before=before)
    )


# --- time left
# --------------------------------------------------------------------------------------------------


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
    if job.progress >= 0.02 and elapsed >= 2:
        share = min(job.progress, 1.0)
        weight = min(1.0, TRUSTED * share)
        work = (1 - weight) * expected.work * factor + weight * elapsed / share
        return max(work - elapsed, elapsed * (1 - share) * 0.2) + evaluation
    # a run that is late without a sign of life may well take half as long again
    return max(whole - elapsed, 0.5 * elapsed)


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


# --- a plan, and what is queued
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OfPlan:
    """What the runs of a plan that are missing come to; fields as in `plan.Plan`."""

    time: Span
    ahead: int
    memory_bytes: int | None
    basis: str


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
    queued = {job.key: job for job in store.jobs(states=ACTIVE, limit=MOST_JOBS)}
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
