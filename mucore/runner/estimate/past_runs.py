"""What runs are expected to take: from past runs of the same method, and where nothing alike was
run, from what the cards say is to be computed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Any

from mucore import catalog
from mucore.errors import UnknownName
from mucore.spec import RunSpec, records_of, settings
from mucore.store import Store
from mucore.store.rows import Result
from mucore.userfiles.sizes import DataSize, size_of

RECENT = 10  # past runs of each kind that an estimate is the median of
# A machine to measure by: multiply-adds a second, seconds a step, seconds of an evaluation however
# small the data. Only ratios of what it takes are used as soon as anything has run; it is about one
# core of a server.
SPEED, STEP, EVALUATION = 3e10, 4e-3, 0.3
# forward passes that a sample costs with its gradient, and in an evaluation with all its metrics
TRAINING, PREDICTING = 3.0, 2.0
UNKNOWN = DataSize((3, 32, 32), 10, 10_000, 0, 2_000)  # of data that nobody can look at
# How many times too much or too little an estimate may be: from the same run with other seeds, the
# same method and recipe, the same method on the same data and model, the same method elsewhere, and
# from the cards alone.
SPREADS = (1.25, 1.5, 1.8, 2.5, 3.0)
# as many times more where it was another machine and nothing says how fast this one is
UNCALIBRATED = 1.7


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


def nominal(spec: Mapping[str, Any]) -> tuple[float, float]:
    """Seconds of work and of evaluation that the run of `RunSpec.model_dump` would take on the
    nominal machine.
    """
    size = size_of(spec["dataset"], spec.get("data_hash", "")) or UNKNOWN
    train = size.train
    if per_class := spec["recipe"].get("per_class", 0):
        train = min(train, per_class * size.classes)
    forward = catalog.model(spec["model"]).macs * math.prod(size.shape[1:])
    samples = passes(spec) * train
    work = samples * TRAINING * forward / SPEED + samples / spec["recipe"]["batch_size"] * STEP
    return work, EVALUATION + (train + size.validation + size.test) * PREDICTING * forward / SPEED


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
            [
                spec["scenario"],
                spec.get("scenario_parameters"),
                settings({**spec, "method_hash": ""}),
            ],
            sort_keys=True,
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
                "the size of data and model (nothing alike has run yet)",
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
