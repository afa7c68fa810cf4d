"""Sentences on what is missing from a comparison, or wide for want of seeds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from mucore.catalog.cards import MetricCard


def missing_notes(runs: pd.DataFrame, values: pd.DataFrame, card: MetricCard) -> list[str]:
    """Which lines lack the metric where, and why."""
    lost = values[(values["metric"] == card.id) & values["value"].isna()].merge(
        runs[["key", "setting", "line", "training_seed"]], on="key"
    )
    return [
        (
            f"{line} has no {card.id} in {setting}, training seed {seed}, and is left out there: "
            f"{error}"
        )
        for line, setting, seed, error in zip(
            lost["line"], lost["setting"], lost["training_seed"], lost["error"], strict=True
        )
    ]


def status_notes(runs: pd.DataFrame) -> list[str]:
    """How many runs did not end well."""
    counts = runs.loc[runs["status"] != "ok", "status"].value_counts()
    return [
        f"{counted(int(count), 'run')} {status}; the values count like the others'."
        for status, count in counts.items()
    ]


def seed_notes(mine: pd.DataFrame) -> list[str]:
    """How many rows have one training seed."""
    counts = mine.groupby(["setting", "line"])["value"].count().to_numpy()
    alone = int((counts == 1).sum())
    lost = "neither spread nor interval, and nothing to tell a suspicious value by"
    if alone == len(counts):
        return [f"One training seed: {lost}. Run more with --seeds 0-2."]
    return [f"{alone} of {len(counts)} rows have one training seed: {lost}."] if alone else []


def bound_notes(intervals: pd.DataFrame, card: MetricCard) -> list[str]:
    """Whether intervals leave the range that the metric can have."""
    low, high = (
        -math.inf if card.low is None else card.low,
        math.inf if card.high is None else card.high,
    )
    past = (intervals["low"] < low - 1e-9) | (intervals["high"] > high + 1e-9)
    few = "a t interval knows no bounds, and few seeds make it wide"
    return [f"Some intervals reach past the range of {card.id}: {few}."] if past.any() else []


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
