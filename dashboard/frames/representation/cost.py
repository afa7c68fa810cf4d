"""What measuring a model takes, in parts and beside what Retrain takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mucore.store.rows import Result

REPRESENTATION = ("representation", "downstream")  # groups of metrics that read features
LOGITS = ("accuracy", "agreement")  # and those that read answers


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Mean seconds of measuring one model: the metrics of representations, those of logits, and the
    pass over all images that both read.

    `retrain` are the mean seconds of the Retrains, None without one; `runs` is how many had both
    kinds.
    """

    representation: float
    logits: float
    both: float | None
    retrain: float | None
    runs: int

    def share(self, seconds: float) -> float | None:
        """Of Retrain's time."""
        return seconds / self.retrain if self.retrain else None


def compared_cost(results: Sequence[Result]) -> Compared | None:
    """Table 4 from the runs that were timed and had metrics of both kinds; None without one."""
    parts = [result.cost.get("measuring_seconds") or {} for result in results]
    timed = [
        each
        for each in parts
        if any(name in each for name in REPRESENTATION) and any(name in each for name in LOGITS)
    ]
    if not timed:
        return None
    passes = [float(each["predicting"]) for each in timed if "predicting" in each]
    return Compared(
        representation=_mean_of(timed, REPRESENTATION),
        logits=_mean_of(timed, LOGITS),
        both=float(np.mean(passes)) if passes else None,
        retrain=_retrain_seconds(results),
        runs=len(timed),
    )


def _mean_of(timed: Sequence[Mapping[str, float]], names: Sequence[str]) -> float:
    return float(np.mean([sum(float(each.get(name, 0.0)) for name in names) for each in timed]))


def _retrain_seconds(results: Sequence[Result]) -> float | None:
    found = [
        took
        for result in results
        if result.spec["method"] == "retrain" and (took := result.cost.get("seconds"))
    ]
    return float(np.mean(found)) if found else None


def measuring_cost(results: Sequence[Result]) -> tuple[pd.DataFrame, int, float | None]:
    """What measuring one model takes: (columns part, seconds, share, runs; the dearest first), how
    many runs were timed, and the mean seconds of their Retrains (None without one).

    Seconds of a part are the mean over the runs that have it; shares are of the sum of these means.
    """
    timed = [result.cost.get("measuring_seconds") or {} for result in results]
    seconds: dict[str, list[float]] = {}
    for each in timed:
        for part, took in each.items():
            seconds.setdefault(part, []).append(float(took))
    means = dict(
        sorted(
            ((part, float(np.mean(took))) for part, took in seconds.items()),
            key=lambda one: -one[1],
        )
    )
    total = sum(means.values())
    rows = [(part, took, took / total, len(seconds[part])) for part, took in means.items()]
    table = pd.DataFrame(rows, columns=["part", "seconds", "share", "runs"])
    return table, sum(map(bool, timed)), _retrain_seconds(results)
