"""Stored penultimate features of runs, cut to the samples that they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from mucore.errors import BadValue
from mucore.outputs import Outputs, SplitOutputs
from mucore.store import Store
from mucore.store.records import Result


@dataclass(frozen=True, eq=False)
class Split:
    """Samples of a split sorted by id: `ids`, `labels` (n,) int64, `features` (n, d) float64,
    `forgotten` (n,) bool.

    Of attributes, a label is the number that their bits make, the first one lowest. `total`:
    samples of the whole split. `asked`: whether the run forgot anything; before a request nothing
    is forgotten.
    """

    ids: np.ndarray
    labels: np.ndarray
    features: np.ndarray
    forgotten: np.ndarray
    total: int
    asked: bool


def result_of(results: Store, key: str) -> Result:
    """Raises `BadValue` where there is none."""
    found = results.get_result(key)
    if found is None:
        raise BadValue(
            f"There is no run with the key {key!r}. See `python -m mucore results` for those that "
            "there are."
        )
    return found


def outputs_of(results: Store, result: Result) -> Outputs:
    """Raises `BadValue` where they were not kept, `BadFile` where they are damaged."""
    if result.outputs is None or not results.artifacts.exists(result.outputs):
        raise BadValue(
            f"The predictions of {result.spec['method']} ({result.key}) were not kept, and "
            "features are among them. Choose other runs, or compute this one again in another "
            "home (--home)."
        )
    return results.artifacts.get_outputs(result.outputs)


def stored(results: Store, key: str, split: Literal["train", "test"]) -> Split:
    """The kept samples of a run that have features. Raises `BadValue`, `BadFile`."""
    result = result_of(results, key)
    outputs = outputs_of(results, result)
    names = [split] if split in outputs else ["forget", "retain"]
    parts = [outputs[name] for name in names]
    if any(part.features is None for part in parts):
        raise BadValue(
            f"{result.spec['method']} ({key}) has no stored features: its model is an ensemble, "
            "whose members have their own."
        )
    kept = [len(part.features) for part in parts if part.features is not None]
    labels = np.concatenate([_codes(part)[:count] for part, count in zip(parts, kept, strict=True)])
    if split == "test":
        forgotten = np.isin(labels, gone_classes(outputs))
    else:
        forgotten = np.concatenate(
            [np.full(count, name == "forget") for name, count in zip(names, kept, strict=True)]
        )
    found = Split(
        ids=np.concatenate([part.ids[:count] for part, count in zip(parts, kept, strict=True)]),
        labels=labels,
        features=np.concatenate([np.asarray(part.features, np.float64) for part in parts]),
        forgotten=forgotten,
        total=sum(part.total for part in parts),
        asked=result.spec["scenario"] is not None,
    )
    if not np.isfinite(found.features).all():
        raise BadValue(
            f"The features of {result.spec['method']} ({key}) are not finite: the model has "
            "diverged. Leave it out."
        )
    return pick(found, np.argsort(found.ids, kind="stable"))


def gone_classes(outputs: Outputs) -> np.ndarray:
    """Classes of which no training sample is retained; none before a request, and none where the
    task is attributes.
    """
    retain = outputs.get("retain")
    if retain is None or retain.task == "attributes":
        return np.empty(0, np.int64)
    return np.flatnonzero(retain.confusion.sum(axis=1) == 0)


def common(parts: Sequence[Split]) -> list[Split]:
    """Each cut to the ids that all have, in one order. Raises `BadValue` where the runs forgot
    different samples.
    """
    shared = parts[0].ids
    for part in parts[1:]:
        shared = np.intersect1d(shared, part.ids)
    cut = [pick(part, np.flatnonzero(np.isin(part.ids, shared))) for part in parts]
    told = [part for part in cut if part.asked]
    if any((part.forgotten != told[0].forgotten).any() for part in told[1:]):
        raise BadValue(
            "The runs were asked to forget different samples, so one map cannot mark them. Choose "
            "runs of one scenario."
        )
    forgotten = told[0].forgotten if told else cut[0].forgotten
    return [replace(part, forgotten=forgotten) for part in cut]


def pick(part: Split, rows: np.ndarray) -> Split:
    return replace(
        part,
        **{name: getattr(part, name)[rows] for name in ("ids", "labels", "features", "forgotten")},
    )


def _codes(part: SplitOutputs) -> np.ndarray:
    return (
        part.labels
        if part.labels.ndim == 1
        else part.labels @ (1 << np.arange(part.labels.shape[1]))
    )
