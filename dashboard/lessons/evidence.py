"""The results that a lesson speaks of: one model a method and scenario, with its numbers and the reasons where one is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dashboard import describe
from mucore.metrics.representation import NEIGHBOURS, knn_accuracy
from mucore.metrics.sanity import blind_attacks
from mucore.outputs import Outputs
from mucore.spec import RunSpec
from mucore.store.records import Result

REFERENCES = ("original", "retrain")
KNN = "knn_forgotten"  # `neighbours_say`, among the values; no metric of the catalogue, whose k-NN accuracy is of other data sets
PER_CLASS = 200  # training samples of each class among which neighbours are looked for, as many as a linear probe learns from
FindOutputs = Callable[[str], Outputs | None]  # of a run's key


@dataclass(frozen=True)
class Entry:
    """One run: fractions by metric id, and a sentence for each number that is missing."""

    key: str
    method: str
    title: str
    family: str
    scenario: str
    values: Mapping[str, float]
    reasons: Mapping[str, str]
    forget_count: int
    blind: frozenset[str]  # attacks that are no better than a guess on this model
    spec: Mapping[str, Any]
    asked: int = 0  # test samples that `KNN` is a share of


@dataclass(frozen=True)
class Evidence:
    """All runs of a lesson that have a result, references first; `scenario` is the one meant where none is named."""

    entries: tuple[Entry, ...]
    scenario: str
    demo: bool = False

    def entry(self, method: str, scenario: str = "") -> Entry | None:
        wanted = scenario or self.scenario
        return next((one for one in self.entries if one.method == method and one.scenario == wanted), None)

    def value(self, method: str, metric: str, scenario: str = "") -> float | None:
        found = self.entry(method, scenario)
        return None if found is None else found.values.get(metric)

    def gap(self, method: str, metric: str, scenario: str = "") -> float | None:
        """The value less Retrain's."""
        ours, base = self.value(method, metric, scenario), self.value("retrain", metric, scenario)
        return None if ours is None or base is None else ours - base

    def methods(self, scenario: str = "") -> tuple[Entry, ...]:
        """The entries of a scenario that are no reference."""
        return tuple(one for one in self.entries if one.scenario == (scenario or self.scenario) and one.method not in REFERENCES)


def gather(results: Sequence[Result], specs: Sequence[RunSpec], *, demo: bool = False, outputs: FindOutputs | None = None) -> Evidence:
    """The runs that stand for `specs`: the very ones, or in the demo the first seed's of the same scenario, settings and method.

    All runs of the demo that are taken share one data set, model and recipe. With `outputs`, values have `KNN`, too.
    """
    wanted = [spec for spec in specs if spec.scenario is not None]
    names = [*REFERENCES, *(spec.method for spec in wanted)]
    ordered = sorted(wanted, key=lambda spec: names.index(spec.method))
    order = {(spec.scenario, spec.method): number for number, spec in enumerate(ordered)}
    keys = {spec.key for spec in wanted}
    found: dict[tuple[str | None, str], Result] = {}
    for result in sorted(results, key=_seeds):
        place = (result.spec["scenario"], result.spec["method"])
        alike = _alike(result, wanted, next(iter(found.values()), None)) if demo else result.key in keys
        if place in order and alike:
            found.setdefault(place, result)
    entries = tuple(_entry(found[place], outputs) for place in sorted(found, key=order.__getitem__))
    return Evidence(entries, str(wanted[0].scenario) if wanted else "", demo)


def _seeds(result: Result) -> tuple[int, int, int]:
    return tuple(int(result.spec.get(f"{axis}_seed", 0)) for axis in ("training", "unlearning", "evaluation"))  # ty: ignore


def _alike(result: Result, wanted: Sequence[RunSpec], first: Result | None) -> bool:
    spec = result.spec
    same = any(spec["scenario"] == one.scenario and spec["scenario_parameters"] == one.scenario_parameters for one in wanted)
    return same and (first is None or all(spec[name] == first.spec[name] for name in ("dataset", "model", "recipe")))


def neighbours_say(outputs: Outputs) -> tuple[float, int] | None:
    """Share of the test samples of forgotten classes whose nearest training samples, forgotten ones among them, vote for their class; and
    how many test samples that are.

    Nearest by the cosine of the features before the last layer. None where no features were kept, or of too few samples.
    """
    parts = [outputs.get(name) for name in ("forget", "retain", "test")]
    found = [(part.features, part.labels[: len(part.features)]) for part in parts if part is not None and part.features is not None]
    if len(found) < len(parts):
        return None
    forgotten, retained, (test, asked) = found
    train, labels = (np.concatenate(each) for each in zip(forgotten, retained, strict=True))
    rows = np.concatenate([np.flatnonzero(labels == each)[:PER_CLASS] for each in np.unique(labels)])
    gone = np.isin(asked, np.unique(forgotten[1]))
    if not gone.any() or len(rows) < NEIGHBOURS or not (np.isfinite(train).all() and np.isfinite(test).all()):
        return None
    share = knn_accuracy(train=train[rows], train_labels=labels[rows], test=test[gone], test_labels=asked[gone])
    return share, int(gone.sum())


def _entry(result: Result, outputs: FindOutputs | None) -> Entry:
    method = str(result.spec["method"])
    title, family = describe.method_names(method)
    values = {name: one.value for name, one in result.metrics.items() if one.value is not None}
    reasons = {name: one.error or "" for name, one in result.metrics.items() if one.value is None}
    asked = 0
    if outputs is not None:
        kept = outputs(result.key)
        near = None if kept is None else neighbours_say(kept)
        if near is None:
            reasons[KNN] = "The features of this run were not kept."
        else:
            values[KNN], asked = near
    return Entry(
        key=result.key,
        method=method,
        title=title,
        family=family,
        scenario=str(result.spec["scenario"]),
        values=values,
        reasons=reasons,
        forget_count=result.forget_count,
        blind=blind_attacks(result.notes),
        spec=result.spec,
        asked=asked,
    )
