"""A metric as a score: its goal, its unit, what an axis says and how its numbers read.

A score is what `mucore.statistics.score_of` says: the absolute gap to the Retrain of the same
training seed where Retrain is the ideal, else the value. Scores are in the screen's units
(percentage points, seconds, MB).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pandas as pd

from dashboard.text import labels
from dashboard.text.labels import Unit
from mucore import catalog
from mucore.statistics import score_of

# Goal -> the metrics that can stand for it, the usual one first. Less is better in all of them.
GOALS: Final[dict[str, tuple[str, ...]]] = {
    "utility": ("ta", "tra", "ra", "va"),
    "forgetting": ("fa", "tfa", "asr", "fa_true", "ta_flipped"),
    "privacy": (
        "mia_confidence",
        "mia_correctness",
        "mia_entropy",
        "mia_m_entropy",
        "mia_prob",
        "zrf",
    ),
    "cost": ("rte", "rte_work", "unlearning_seconds", "samples_read", "peak_memory_bytes"),
}
_UNITS: Final[dict[str, Unit]] = {
    "fraction": "percent",
    "ratio": "ratio",
    "log10": "ratio",
    "distance": "ratio",
    "seconds": "seconds",
    "bytes": "MB",
    "count": "count",
}
_SCALE: Final = {"percent": 100.0, "MB": 1e-6}
_NAMES: Final = {"percent": "%", "MB": "MB", "seconds": "s"}


@dataclass(frozen=True)
class Measure:
    """A metric as a score: what an axis says and how its numbers read."""

    id: str
    short: str
    unit: Unit
    scale: float  # from the stored value to the screen's unit
    gap: bool  # the score is the absolute gap to Retrain
    high: bool  # more is better; elsewhere less is
    log: bool  # spans powers of ten, so an axis is better logarithmic

    @property
    def unit_name(self) -> str:
        """What stands behind a number: "points", "s", ""."""
        return (
            ("points" if self.unit == "percent" else "powers of ten")
            if self.gap
            else _NAMES.get(self.unit, "")
        )

    @property
    def axis(self) -> str:
        """The title of an axis, with unit and direction."""
        if self.gap:
            return f"{self.short} gap to Retrain (absolute), {self.unit_name}"
        head = f"{self.short}, {self.unit_name}" if self.unit_name else self.short
        return f"{head}{' (log)' if self.log else ''}: {'more' if self.high else 'less'} is better"

    def text(self, score: float | None) -> str:
        """A score as a table shows it."""
        return labels.number(None if score is None else score / self.scale, self.unit)


def measure(metric: str) -> Measure:
    card = catalog.metric(metric)
    unit = _UNITS[card.unit]
    log = card.unit in ("ratio", "seconds", "bytes", "count") and card.group == "cost"
    return Measure(
        card.id,
        card.short,
        unit,
        _SCALE.get(unit, 1.0),
        card.ideal == "retrain",
        card.ideal == "high",
        log,
    )


def goal_head(goal: Measure) -> str:
    what = f"{goal.short} gap" if goal.gap else goal.short
    return f"{what} ({goal.unit_name})" if goal.unit_name else what


def short_name(metric: str) -> str:
    return catalog.metric(metric).short


def scored_metrics(values: pd.DataFrame) -> list[str]:
    """The metrics in `values` of which some values are better than others, in the catalogue's
    order.
    """
    present = set(values.loc[values["value"].notna(), "metric"].unique())
    return [card.id for card in catalog.metrics() if card.id in present and score_of(card)]
