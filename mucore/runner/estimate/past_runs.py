"""What runs are expected to take: from the nearest past runs of the same method, scaled by the
samples that are processed; where nothing alike was run, from the size of data and model.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from mucore import catalog
from mucore.errors import UnknownName
from mucore.runs import REFERENCES, RunSpec, settings
from mucore.store import Store
from mucore.store.records import Result
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
    if spec["scenario"] is None or spec["method"] in REFERENCES:
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
    setting of the method, any recipe, any data and model, any method.
    """
    trains = spec["scenario"] is None or spec["method"] in REFERENCES
    setting = settings({**spec, "method_hash": ""})
    whole = (
        (spec["method"], spec["scenario"] is None),
        (spec["dataset"], spec["model"]),
        json.dumps(spec["recipe"], sort_keys=True),
        json.dumps([spec["scenario"], spec.get("scenario_parameters"), setting], sort_keys=True),
    )
    return [whole[:length] for length in ((3, 2, 1, 0) if trains else (4, 3, 2, 1, 0))]


class Forecast:
    """What runs are expected to take.

    `results` are past runs, without metrics; `stored` are the model keys whose weights the store
    has.
    """

    def __init__(self, results: Sequence[Result], stored: Collection[str] = ()):
        # by place, work and evaluation as shares of what they take on the machine to measure by
        self._past: dict[tuple[Any, ...], list[tuple[float, float]]] = {}
        self._stored = stored
        for result in results:
            if _loads_original(result.spec):
                continue
            with contextlib.suppress(UnknownName):  # of a data set or model that is gone
                there, took = nominal(result.spec), _took(result)
                shares = took[0] / there.work, took[1] / there.evaluation
                for place in _places(result.spec):
                    self._past.setdefault(place, []).append(shares)

    def expect(self, specs: Sequence[RunSpec]) -> dict[str, Expected]:
        """By key; `specs` in running order, for weights that several share are counted with the
        first.
        """
        seen = set(self._stored)
        found = {}
        for spec in specs:
            each = self._of(spec.model_dump(mode="json"))
            if spec.model_key in seen or _loads_original(spec.model_dump()):
                each = Expected(0.0, each.evaluation, each.source)
            found[spec.key] = each
            seen.add(spec.model_key)
        return found

    def _of(self, spec: Mapping[str, Any]) -> Expected:
        there = nominal(spec)
        near = next((place for place in _places(spec) if place in self._past), None)
        if near is None:
            return there
        work, evaluation = map(median, zip(*self._past[near][-RECENT:], strict=True))
        return Expected(work * there.work, evaluation * there.evaluation, "your past runs")


def _took(result: Result) -> tuple[float, float]:
    """Seconds of work and of evaluation. Work is the method's own time, or all that the run took
    before its evaluation where that is more, as with records of a training made first.
    """
    spec, cost = result.spec, result.cost
    evaluation = float(cost.get("evaluation_seconds") or 0.0)
    if spec["method"] == "original" and spec["scenario"] is not None:
        return 0.0, evaluation
    before = float(cost.get("wall_seconds") or 0.0) - evaluation
    return max(float(cost.get("seconds") or 0.0), before), evaluation


def _loads_original(spec: Mapping[str, Any]) -> bool:
    return spec["method"] == "original" and bool(spec.get("original_hash"))


def forecast(store: Store, specs: Sequence[RunSpec]) -> Forecast:
    """A forecast for `specs` from what the store holds."""
    places = {(spec.dataset, spec.model) for spec in specs}
    found = []
    for dataset, model in sorted(places):
        found += store.recent_results(dataset=dataset, model=model, each=RECENT)
    methods = {spec.method for spec in specs} | {*REFERENCES}
    missing = methods - {result.spec["method"] for result in found}
    if missing or len(places) > 1:  # the same methods on other data
        found += store.recent_results(method=sorted(missing), each=2)
    return Forecast(found, store.stored_models({spec.model_key for spec in specs}))
