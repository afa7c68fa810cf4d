"""A store with made-up results of the quick twin: what the Board page and its core are tried on."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pytest
from builders import make_result

from mucore.catalog.tuning import Tuned
from mucore.store import open_store
from mucore.suite import description, lines

QUICK = "mucore-bench-1-quick"
# Where a method ends between Original (0) and Retrain (1); forgetting as Retrain does, nothing, too
# little.
PROGRESS = {
    "original": 0.0,
    "retrain": 1.0,
    "scrub": 1.0,
    "finetune": 0.0,
    "ssd": 0.5,
    "salun": 0.9,
}
WORK = {"original": 0.0, "retrain": 1.0}
SPREAD = (0.0, 0.004, -0.004, 0.002, -0.002)  # of Retrains over the five seeds
ORIGINAL = {"ra": 0.99, "ta": 0.9, "fa": 1.0, "mia_confidence": 0.9, "fa_true": 0.0}
RETRAIN = {"ra": 0.99, "ta": 0.9, "fa": 0.5, "mia_confidence": 0.4, "fa_true": 0.5}


def fill(
    home: Path,
    *,
    seeds: int = 5,
    methods: tuple[str, ...] = ("scrub", "finetune", "ssd"),
    lacking: Collection[tuple[str, str]] = (),
    division: str = "authors",
    works: Mapping[str, float] | None = None,
):
    """Results of both tasks for `seeds` of the five seeds, of originals and Retrains for all;
    `lacking` are scenarios and methods that nobody ran, `works` shares of Retrain's work other than
    0.1 by method.
    """
    work = WORK | dict(works or {})
    suite = description.load(QUICK)
    results = []
    for each in lines.runs_of(suite, division, methods):
        for spec in each.specs:
            seed = spec.training_seed
            if spec.scenario is None or (spec.method in methods and seed >= seeds):
                continue
            if (spec.scenario, spec.method) in lacking:
                continue
            at = PROGRESS[spec.method]
            values = {
                name: value + at * (RETRAIN[name] - value) + SPREAD[seed] * at
                for name, value in ORIGINAL.items()
            }
            results.append(
                make_result(
                    spec,
                    metrics=values | {"rte_work": work.get(spec.method, 0.1)},
                    data_hash=each.task.data_hash,
                    forget_hash=each.task.forget_hash,
                )
            )
    with open_store(home) as store:
        store.put_results(results)


def tuned_for(task: description.Task, method: str = "finetune", **setting: Any) -> Tuned:
    """A setting that a search found for a suite's task."""
    return Tuned(
        method=method,
        dataset=task.dataset,
        model=task.model,
        preset=task.preset,
        scenario=task.scenario,
        recipe=task.recipe,
        scenario_parameters=task.scenario_parameters,
        **setting,
    )


def tune(monkeypatch: pytest.MonkeyPatch, **searches: Mapping[str, Any]) -> None:
    """Settings of these methods for both tasks, as if they came with mucore: 24 trials and a cap of
    a third, unless `searches` say otherwise.
    """
    usual: dict[str, Any] = {"trials": 24, "cap": 1 / 3}
    found = tuple(
        tuned_for(task, method, **{"values": {}} | usual | dict(search))
        for method, search in searches.items()
        for task in description.load(QUICK).tasks
    )
    monkeypatch.setattr(lines.tuning, "shipped", lambda: found)
