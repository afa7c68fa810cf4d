"""The metrics, one file a family: what each number means, what a good value is, where it comes
from.

The functions behind the cards are in mucore/metrics/. Display order is the order here.
"""

from __future__ import annotations

from mucore.catalog.cards import MetricCard
from mucore.catalog.metrics import (
    accuracy,
    agreement,
    cost,
    depoisoning,
    distance,
    divergence,
    efficacy,
    experiments,
    membership,
    persons,
    representation,
)

__all__ = ["METRICS"]

METRICS: tuple[MetricCard, ...] = (
    *accuracy.CARDS,
    *depoisoning.CARDS,
    *persons.CARDS,
    *membership.CARDS,
    *distance.CARDS,
    *representation.CARDS,
    *divergence.CARDS,
    *efficacy.CARDS,
    *agreement.CARDS,
    *cost.CARDS,
    *experiments.CARDS,
)
