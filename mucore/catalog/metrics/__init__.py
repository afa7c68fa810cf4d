"""The metrics, a table a family: what each number means, what a good value is, where it comes from.
Families whose cards differ by an attack or a data set are made here in Python.

The functions behind the cards are in mucore/metrics/. Display order is the order here.
"""

from __future__ import annotations

from pathlib import Path

from mucore.catalog.cards import MetricCard, read
from mucore.catalog.metrics import membership, representation

EXPERIMENT = "experiment"  # the group of metrics that no run has in its table


def _family(name: str) -> tuple[MetricCard, ...]:
    return read(MetricCard, Path(__file__).with_name(f"{name}.toml"))


METRICS: tuple[MetricCard, ...] = (
    *_family("accuracy"),
    *_family("depoisoning"),
    *_family("persons"),
    *membership.CARDS,
    *_family("distance"),
    *representation.CARDS,
    *_family("divergence"),
    *_family("efficacy"),
    *_family("agreement"),
    *_family("cost"),
    *_family("experiments"),
)
