"""How far a model's weights are from Retrain's."""

from __future__ import annotations

from mucore.catalog.cards import MetricCard
from mucore.catalog.metrics.sources import MUBOX

CARDS: tuple[MetricCard, ...] = (
    MetricCard(
        id="l2",
        title="Distance of weights to Retrain",
        short="ℓ2",
        group="distance",
        meaning="Euclidean distance between this model's weights and Retrain's.",
        ideal="none",
        high=None,
        unit="distance",
        source=MUBOX,
        caveat="By MUBox's own finding it says little: models at one distance can behave quite "
        "differently.",
    ),
    MetricCard(
        id="l2_normalised",
        title="Relative distance of weights to Retrain",
        short="ℓ2 rel",
        group="distance",
        meaning="Euclidean distance between this model's weights and Retrain's, divided by the "
        "norm of Retrain's weights.",
        ideal="none",
        high=None,
        unit="ratio",
        source=MUBOX,
        caveat="MUBox normalises and does not say how; this is our reading, so values need not "
        "match its tables.",
    ),
)
