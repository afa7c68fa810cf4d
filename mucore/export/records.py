"""Results as JSON takes them, values as they are in the store. Needs no pandas, so that a command
which prints results starts without it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mucore.errors import MucoreError
from mucore.metrics.accuracy import per_class
from mucore.runs import classes
from mucore.userfiles import datasets
from mucore.verdicts import judge_stored

if TYPE_CHECKING:
    from mucore.store import Store
    from mucore.store.records import Job, Result
    from mucore.verdicts import Judged


def describe(
    result: Result, *, cached: bool | None = None, judged: Judged | None = None
) -> dict[str, Any]:
    """A result as JSON takes it: what was run, its verdict, its metrics with gaps (or why one is
    missing), and what it cost.

    `cached` says whether it was in the store before it was asked for; left out where nobody asked.
    `judged` is what `judge_stored` says of the run; without it, and for Retrain, "verdict" is None.
    """
    content: dict[str, Any] = {"key": result.key, "spec": dict(result.spec)}
    content["classes"] = classes.named(result.spec["scenario_parameters"], _names(result.spec))
    if cached is not None:
        content["cached"] = cached
    content |= {
        "status": result.status,
        "stop_reason": result.stop_reason,
        "verdict": judged.verdict.content()
        if judged is not None and judged.verdict is not None
        else None,
        "distance": judged.distance if judged is not None else None,
        "metrics": {
            name: {"value": measured.value, "gap": measured.gap}
            | ({"error": measured.error} if measured.error else {})
            for name, measured in result.metrics.items()
        },
        "per_class": {
            split: per_class_accuracy(counts) for split, counts in result.confusion.items()
        },
        "cost": dict(result.cost),
        "seconds": result.cost.get("seconds"),
        "forget": {"count": result.forget_count, "hash": result.forget_hash},
        "device": result.device,
        "precision": result.precision,
        "flags": list(result.flags),
        "notes": list(result.notes),
        "demo": result.demo,
        "finished": result.finished.isoformat() if result.finished else None,
    }
    return content


def describe_failure(job: Job) -> dict[str, Any]:
    """A run without a result, beside those that have one."""
    told = {"key": job.key, "spec": dict(job.spec), "cached": False, "status": job.state}
    return told | {"error": job.error, "verdict": None, "metrics": {}, "cost": {}, "seconds": None}


def document(store: Store, **filters: Any) -> dict[str, Any]:
    """Stored results as one JSON document; docs/cli.md names its fields. `version` goes up when a
    field changes its meaning or goes, not when one is added.
    """
    judged = judge_stored(store, **filters)
    results = store.results(**filters)
    found = [describe(result, judged=judged.get(result.key)) for result in results]
    return {"schema": "mucore-results", "version": 1, "results": found}


def _names(spec: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the classes of a run's data, none where these are not here."""
    try:
        return datasets.class_names(spec["dataset"])
    except MucoreError:
        return ()


def per_class_accuracy(confusion: Sequence[Sequence[Any]]) -> list[float | None]:
    """`per_class` as JSON takes it; None for a class without a sample."""
    found = per_class(confusion=np.asarray(confusion)).tolist()
    return [None if math.isnan(each) else each for each in found]
