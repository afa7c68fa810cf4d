"""The results that a lesson speaks of: one model a method and scenario, with its numbers and the
reasons where one is missing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from dashboard.text.labels import method_names
from mucore import catalog
from mucore.metrics.registry import RELATIVE_TO_RETRAIN
from mucore.metrics.representation import NEIGHBOURS, knn_accuracy
from mucore.metrics.sanity import GUESS, guesses
from mucore.outputs import Outputs
from mucore.runs import REFERENCES, RunSpec
from mucore.statistics.significance import half_band
from mucore.store.records import Result
from mucore.verdicts import Verdict, judge

# `neighbours_say`, among the values, and what one test image adds to it; no metrics of the
# catalogue, whose k-NN accuracy is of other data sets
KNN, KNN_IMAGE = "knn_forgotten", "knn_image"
# of a scene of the playground: share of the probability that lies elsewhere than Retrain's, on
# average over the picture and over the points to forget; of Retrain, elsewhere than the original's
AWAY, AT_FORGET = "away", "away_at_forget"
# training samples of each class among which neighbours are looked for, as many as a linear probe
# learns from
PER_CLASS = 200
PLAIN_NAMES = {
    "digits": "images of handwritten digits",
    "fashion-mnist-10k": "small grey pictures of clothes",
}
FindOutputs = Callable[[str], Outputs | None]  # of a run's key


@dataclass(frozen=True)
class Entry:
    """One run: fractions by metric id, and a sentence for each number that is missing."""

    key: str
    method: str
    title: str
    scenario: str
    values: Mapping[str, float]
    reasons: Mapping[str, str]
    forget_count: int
    spec: Mapping[str, Any]
    # on the method's line: its runs with these settings, over all seeds that there are
    verdict: Verdict | None = None


@dataclass(frozen=True)
class LessonResults:
    """All runs of a lesson that have a result, references first; `scenario` is the one meant where
    none is named.
    """

    entries: tuple[Entry, ...]
    scenario: str
    demo: bool = False
    # by scenario and metric, half of the 95 % band of Retrains of other seeds, as a fraction
    # (`significance.half_band`); only where there are two or more of the same setting
    apart: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def entry(self, method: str, scenario: str = "") -> Entry | None:
        wanted = scenario or self.scenario
        return next(
            (one for one in self.entries if one.method == method and one.scenario == wanted), None
        )

    def value(self, method: str, metric: str, scenario: str = "") -> float | None:
        found = self.entry(method, scenario)
        return None if found is None else found.values.get(metric)

    def noise(self, metric: str, scenario: str = "") -> float | None:
        """Half of the band of Retrain against Retrain in a metric; None where nobody knows it."""
        return self.apart.get(scenario or self.scenario, {}).get(metric)

    def gap(self, method: str, metric: str, scenario: str = "") -> float | None:
        """The value less Retrain's."""
        ours, base = self.value(method, metric, scenario), self.value("retrain", metric, scenario)
        return None if ours is None or base is None else ours - base

    def methods(self, scenario: str = "") -> tuple[Entry, ...]:
        """The entries of a scenario that are no reference."""
        return tuple(
            one
            for one in self.entries
            if one.scenario == (scenario or self.scenario) and one.method not in REFERENCES
        )


def plain_name(dataset: str) -> str:
    """A data set in words for somebody who has never heard of it; its title where there are
    none.
    """
    return PLAIN_NAMES.get(dataset) or catalog.dataset(dataset).title


def gather(
    results: Sequence[Result],
    specs: Sequence[RunSpec],
    *,
    demo: bool = False,
    outputs: FindOutputs | None = None,
    retrains: Sequence[Result] = (),
) -> LessonResults:
    """The runs that stand for `specs`: the very ones, or in the demo the first seed's of the same
    scenario, its settings and method. `retrains` are more Retrains, whose seeds make
    their band.

    All runs of the demo that are taken share one data set, model and recipe, those that have most
    of `specs`; of a method's runs the one whose settings are as in `specs`, the authors' or tuned,
    comes first. With `outputs`, values have `KNN`, too.
    """
    wanted = [spec for spec in specs if spec.scenario is not None]
    names = [*REFERENCES, *(spec.method for spec in wanted)]
    ordered = sorted(wanted, key=lambda spec: names.index(spec.method))
    order = {(spec.scenario, spec.method): number for number, spec in enumerate(ordered)}
    presets = {(spec.scenario, spec.method): _preset(spec.method_preset) for spec in wanted}
    keys = {spec.key for spec in wanted}
    # of one data set, model and recipe each
    candidates: dict[str, dict[tuple[str | None, str], Result]] = {}
    for result in sorted(results, key=lambda each: _order(each, presets)):
        place = (result.spec["scenario"], result.spec["method"])
        if place in order and (_alike(result, wanted) if demo else result.key in keys):
            candidates.setdefault(_ground(result) if demo else "", {}).setdefault(place, result)
    found = max(candidates.values(), key=len, default={})
    grounds = {_ground(each) for each in found.values()}
    lines = judge(each for each in results if _ground(each) in grounds)
    verdicts = {key: line.verdict for line in lines for key in line.keys}
    entries = tuple(
        _entry(found[place], outputs, verdicts.get(found[place].key))
        for place in sorted(found, key=order.__getitem__)
    )
    spread = {
        entry.scenario: _apart(entry, [*results, *retrains], outputs)
        for entry in entries
        if entry.method == "retrain"
    }
    return LessonResults(entries, str(wanted[0].scenario) if wanted else "", demo, spread)


def _apart(
    entry: Entry, results: Sequence[Result], outputs: FindOutputs | None
) -> dict[str, float]:
    """Half of the 95 % band of the Retrains of the setting of `entry`, itself one, by metric and in
    `KNN`, if they have seeds enough. What compares a run with its own Retrain has no band.
    """
    alike = {
        result.key: result
        for result in results
        if result.spec["method"] == "retrain"
        and _ground(result) == _ground(entry)
        and result.spec["scenario"] == entry.scenario
        and result.spec["scenario_parameters"] == entry.spec["scenario_parameters"]
    }
    values = pd.DataFrame([dict(_entry(one, outputs, None).values) for one in alike.values()])
    seeds = [int(one.spec["training_seed"]) for one in alike.values()]
    halves = {
        str(name): half_band(column.dropna().tolist())
        for name, column in values.groupby(seeds).mean().items()
        if name not in RELATIVE_TO_RETRAIN
    }
    return {name: half for name, half in halves.items() if half is not None}


def played(events: Sequence[Mapping[str, Any]], preset: str) -> tuple[Entry, ...]:
    """The models of a scene of the playground that are done; its preset is their scenario."""
    count = next((len(one["forget"]) for one in events if one["kind"] == "scene"), 0)
    return tuple(_played(one, preset, count) for one in events if one["kind"] == "done")


def _played(done: Mapping[str, Any], preset: str, count: int) -> Entry:
    numbers = {name: value for name, value in done["numbers"].items() if value is not None}
    away = done.get("difference") or {}
    apart = {AWAY: away.get("mean"), AT_FORGET: away.get("at_forget")}
    return Entry(
        key=f"{preset}:{done['who']}",
        method=done["who"],
        title=method_names(done["who"])[0],
        scenario=preset,
        values=numbers | {name: value for name, value in apart.items() if value is not None},
        reasons={},
        forget_count=count,
        spec={},
    )


def _order(result: Result, presets: Mapping[tuple[str | None, str], str]) -> tuple[int, ...]:
    """Runs with the settings of `presets` first, a method and scenario each, then by seed."""
    spec = result.spec
    altered = bool(spec.get("noise")) or spec.get("scope", "all") != "all"
    seeds = [int(spec.get(f"{axis}_seed", 0)) for axis in ("training", "unlearning", "evaluation")]
    wanted = presets.get((spec["scenario"], spec["method"]))
    return altered, _preset(spec.get("method_preset", "authors")) != wanted, *seeds


def _preset(name: str) -> str:
    """ "authors" or "tuned", the latter wherever it was."""
    return name.partition("_")[0]


def _ground(run: Result | Entry) -> str:
    return json.dumps(
        [run.spec[name] for name in ("dataset", "model", "recipe")], sort_keys=True, default=str
    )


def _alike(result: Result, wanted: Sequence[RunSpec]) -> bool:
    """Whether a run is of a wanted scenario with its settings, but for the side of a patch, which
    goes with that of the images.
    """
    spec = result.spec
    return any(
        spec["scenario"] == one.scenario
        and _settings(spec["scenario_parameters"]) == _settings(one.scenario_parameters)
        for one in wanted
    )


def _settings(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if name != "size"}


def neighbours_say(outputs: Outputs) -> tuple[float, int] | None:
    """Share of the test samples of forgotten classes whose nearest training samples, forgotten ones
    among them, vote for their class; and how many test samples that are.

    Nearest by the cosine of the features before the last layer. None where no features were kept,
    or of too few samples.
    """
    parts = [outputs.get(name) for name in ("forget", "retain", "test")]
    found = [
        (part.features, part.labels[: len(part.features)])
        for part in parts
        if part is not None and part.features is not None
    ]
    if len(found) < len(parts):
        return None
    forgotten, retained, (test, asked) = found
    train, labels = (np.concatenate(each) for each in zip(forgotten, retained, strict=True))
    rows = np.concatenate(
        [np.flatnonzero(labels == each)[:PER_CLASS] for each in np.unique(labels)]
    )
    gone = np.isin(asked, np.unique(forgotten[1]))
    if (
        not gone.any()
        or len(rows) < NEIGHBOURS
        or not (np.isfinite(train).all() and np.isfinite(test).all())
    ):
        return None
    share = knn_accuracy(
        train=train[rows], train_labels=labels[rows], test=test[gone], test_labels=asked[gone]
    )
    return share, int(gone.sum())


def _entry(result: Result, outputs: FindOutputs | None, verdict: Verdict | None) -> Entry:
    method = str(result.spec["method"])
    guessed = guesses(result.notes)
    values = {
        name: one.value
        for name, one in result.metrics.items()
        if one.value is not None and name not in guessed
    }
    reasons = {name: one.error or "" for name, one in result.metrics.items() if one.value is None}
    reasons |= dict.fromkeys(guessed, GUESS)
    if outputs is not None:
        kept = outputs(result.key)
        near = None if kept is None else neighbours_say(kept)
        if near is None:
            reasons[KNN] = "The features of this run were not kept."
        else:
            values[KNN], values[KNN_IMAGE] = near[0], 1 / near[1]
    return Entry(
        key=result.key,
        method=method,
        title=method_names(method)[0],
        scenario=str(result.spec["scenario"]),
        values=values,
        reasons=reasons,
        forget_count=result.forget_count,
        spec=result.spec,
        verdict=verdict,
    )
