"""The results that a lesson speaks of: one model a method and scenario, with its numbers and the reasons where one is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dashboard import describe
from mucore.metrics.sanity import blind_attacks
from mucore.spec import RunSpec
from mucore.store.records import Result

REFERENCES = ("original", "retrain")


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


def gather(results: Sequence[Result], specs: Sequence[RunSpec], *, demo: bool = False) -> Evidence:
    """The runs that stand for `specs`: the very ones, or in the demo the first seed's of the same scenario, settings and method.

    All runs of the demo that are taken share one data set, model and recipe.
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
    entries = tuple(_entry(found[place]) for place in sorted(found, key=order.__getitem__))
    return Evidence(entries, str(wanted[0].scenario) if wanted else "", demo)


def _seeds(result: Result) -> tuple[int, int, int]:
    return tuple(int(result.spec.get(f"{axis}_seed", 0)) for axis in ("training", "unlearning", "evaluation"))  # ty: ignore


def _alike(result: Result, wanted: Sequence[RunSpec], first: Result | None) -> bool:
    spec = result.spec
    same = any(spec["scenario"] == one.scenario and spec["scenario_parameters"] == one.scenario_parameters for one in wanted)
    return same and (first is None or all(spec[name] == first.spec[name] for name in ("dataset", "model", "recipe")))


def _entry(result: Result) -> Entry:
    method = str(result.spec["method"])
    title, family = describe.method_names(method)
    return Entry(
        key=result.key,
        method=method,
        title=title,
        family=family,
        scenario=str(result.spec["scenario"]),
        values={name: one.value for name, one in result.metrics.items() if one.value is not None},
        reasons={name: one.error or "" for name, one in result.metrics.items() if one.value is None},
        forget_count=result.forget_count,
        blind=blind_attacks(result.notes),
        spec=result.spec,
    )
