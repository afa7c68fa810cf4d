"""Runs on all layers beside those on the classifier alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import pandas as pd

from dashboard.frames import Row


def twins(runs: pd.DataFrame) -> list[tuple[str, str]]:
    """(key of the run on all layers, key of the run on the classifier alone) of runs that are alike
    in everything else.
    """
    found: dict[tuple[Any, ...], dict[str, str]] = {}
    columns = [
        "key",
        "parameters",
        "method",
        "scenario",
        "scenario_parameters",
        "training_seed",
        "unlearning_seed",
        "evaluation_seed",
    ]
    for key, text, *rest in runs[columns].itertuples(index=False, name=None):
        parameters = json.loads(text)
        scope = parameters.pop("scope", "all")
        found.setdefault((json.dumps(parameters, sort_keys=True), *rest), {})[scope] = key
    return [
        (pair["all"], pair["classifier"])
        for pair in found.values()
        if {"all", "classifier"} <= pair.keys()
    ]


def twin_ckas(
    twins: Sequence[tuple[str, str]], to_original: Mapping[str, float]
) -> dict[tuple[str, str], float]:
    """CKA of the features of each pair of `twins`, from every run's CKA to the original.

    A run on the classifier alone leaves the features as the original's, so the other's CKA to it is
    its CKA to the original. A pair of which the first was not measured, or the second has other
    features than the original, is left out.
    """
    same = 1 - 5e-4  # CKA is computed in single precision
    return {
        (full, last): to_original[full]
        for full, last in twins
        if full in to_original and to_original.get(last, 0.0) >= same
    }


@dataclass(frozen=True, kw_only=True)
class Gain:
    """One method on all layers beside itself on the classifier alone: means over `pairs` of
    runs.
    """

    row: Row
    cka: float  # of the features after both, 1 is the same encoder
    agl: float
    agl_last: float
    pairs: int

    @property
    def gain(self) -> float:
        return self.agl - self.agl_last


def gains(
    rows: Sequence[Row],
    twins: Sequence[tuple[str, str]],
    ckas: Mapping[tuple[str, str], float],
    agl: Mapping[str, float],
) -> list[Gain]:
    """Of every row with a pair of `twins` that has all numbers; `ckas` by pair, `agl` by run."""
    found = []
    for row in rows:
        whole = [
            pair
            for pair in twins
            if pair[0] in row.keys and pair in ckas and pair[0] in agl and pair[1] in agl
        ]
        if whole:
            found.append(
                Gain(
                    row=row,
                    cka=fmean(ckas[pair] for pair in whole),
                    agl=fmean(agl[full] for full, _ in whole),
                    agl_last=fmean(agl[last] for _, last in whole),
                    pairs=len(whole),
                )
            )
    return found
