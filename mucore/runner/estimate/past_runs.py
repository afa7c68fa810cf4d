"""What runs are expected to take: from the nearest past runs of the same method, scaled by the
samples that are processed; where nothing alike was run, from the size of data and model.
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
from mucore.spec import RunSpec, settings
from mucore.store import Store
from mucore.store.rows import Result
from mucore.userfiles.sizes import DataSize, size_of

RECENT = 10  # past runs of each kind that an estimate is the median of
# A machine to measure by: multiply-adds a second, seconds a step, seconds of an evaluation however
# small the data. It is about one core of a server.
SPEED, STEP, EVALUATION = 3e10, 4e-3, 0.3
# forward passes that a sample costs with its gradient, and in an evaluation with all its metrics
TRAINING, PREDICTING = 3.0, 2.0
UNKNOWN = DataSize((3, 32, 32), 10, 10_000, 0, 2_000)  # of data that nobody can look at


@dataclass(frozen=True)
class Expected:
    """What one run is expected to take, in seconds."""

    work: float
    evaluation: float
    source: str = ""  # where the figures come from, in words

    @property
    def seconds(self) -> float:
        return self.work + self.evaluation


def nominal(spec: Mapping[str, Any]) -> Expected:
    """What the run of `RunSpec.model_dump` would take on the machine to measure by."""
    size = size_of(spec["dataset"], spec.get("data_hash", "")) or UNKNOWN
    train = size.train
    if per_class := spec["recipe"].get("per_class", 0):
        train = min(train, per_class * size.classes)
    forward = catalog.model(spec["model"]).macs * math.prod(size.shape[1:]) / SPEED
    samples = passes(spec) * train
    steps = 1 + samples / spec["recipe"]["batch_size"]
    seen = train + size.validation + size.test
    return Expected(
        samples * TRAINING * forward + steps * STEP,
        EVALUATION + seen * PREDICTING * forward,
        "the size of data and model (nothing alike has run yet)",
    )


def passes(spec: Mapping[str, Any]) -> float:
    """How often a run goes over as many samples as the training set has; a method that reads the
    forget set alone over a tenth of it.
    """
    if spec["scenario"] is None or spec["method"] in ("original", "retrain"):
        return float(spec["recipe"]["epochs"])
    try:
        card = catalog.method(spec["method"])
    except UnknownName:  # a method of the user's own whose file is gone
        return 1.0
    epochs = [
        value
        for name, value in spec["parameters"].items()
        if "epochs" in name and isinstance(value, int | float)
    ]
    return max(sum(epochs), 1.0) * (1.0 if "retain" in card.reads else 0.1)


def _places(spec: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """What a run's time depends on: the nearest place first, the same but for seeds, then any
    setting of the method, any recipe, any data and model.
    """
    trains = spec["scenario"] is None or spec["method"] in ("original", "retrain")
    setting = settings({**spec, "method_hash": ""})
    whole = (
        (spec["method"], spec["scenario"] is None),
        (spec["dataset"], spec["model"]),
        json.dumps(spec["recipe"], sort_keys=True),
        json.dumps([spec["scenario"], spec.get("scenario_parameters"), setting], sort_keys=True),
    )
    return [whole[:length] for length in ((3, 2, 1) if trains else (4, 3, 2, 1))]


class _Past:
    """Past runs by place: each as shares of what it would have taken on the machine to measure by.

    The work is the method's own time, or all that the run took before its evaluation where that
    is more, as with records of a training made first.
    """

    def __init__(self, results: Sequence[Result], source: str):
        self.source = source
        self._runs: dict[tuple[Any, ...], list[tuple[float, float]]] = {}
        for result in results:
            spec, cost = result.spec, result.cost
            try:
                there = nominal(spec)
            except UnknownName:  # of a data set or model that is gone
                continue
            if _loads_original(spec):
                continue
            evaluation = float(cost.get("evaluation_seconds") or 0.0)
            before = float(cost.get("wall_seconds") or 0.0) - evaluation
            work = max(float(cost.get("seconds") or 0.0), before)
            if spec["method"] == "original" and spec["scenario"] is not None:
                work = 0.0
            for place in _places(spec):
                run = (work / there.work, evaluation / there.evaluation)
                self._runs.setdefault(place, []).append(run)

    def at(self, place: tuple[Any, ...]) -> tuple[float, float] | None:
        runs = self._runs.get(place, [])[-RECENT:]
        if not runs:
            return None
        works, evaluations = zip(*runs, strict=True)
        return median(works), median(evaluations)

    def pace(self, other: _Past) -> float:
        """How many times as long as there what both have run takes here."""
        both = [place for place in self._runs if len(place) > 2 and place in other._runs]
        here, there = ([sum(past.at(place) or ()) for place in both] for past in (self, other))
        return sum(here) / sum(there) if sum(there) else 1.0


class Forecast:
    """What runs are expected to take: from results of this store, and of `history`, another one
    that this machine may not have made.

    `own` and `history` are results without metrics; `stored` are the model keys whose weights this
    store has.
    """

    def __init__(
        self, own: Sequence[Result], history: Sequence[Result] = (), stored: Collection[str] = ()
    ):
        self._own = _Past(own, "your past runs")
        self._history = _Past(history, "the demo's runs")
        self._pace = self._own.pace(self._history)
        self._stored = stored

    def expect(self, specs: Sequence[RunSpec]) -> dict[str, Expected]:
        """By key; `specs` in running order, for weights that several share are counted with the
        first.
        """
        seen = set(self._stored)
        found = {}
        for spec in specs:
            each = self._of(spec.model_dump(mode="json"))
            found[spec.key] = (
                Expected(0.0, each.evaluation, each.source) if spec.model_key in seen else each
            )
            seen.add(spec.model_key)
        return found

    def _of(self, spec: Mapping[str, Any]) -> Expected:
        there = nominal(spec)
        if _loads_original(spec):
            return Expected(0.0, there.evaluation, there.source)
        for place in _places(spec):
            for past, pace in ((self._own, 1.0), (self._history, self._pace)):
                if shares := past.at(place):
                    work, evaluation = shares[0] * there.work, shares[1] * there.evaluation
                    return Expected(pace * work, pace * evaluation, past.source)
        return there


def _loads_original(spec: Mapping[str, Any]) -> bool:
    return spec["method"] == "original" and bool(spec.get("original_hash"))


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
