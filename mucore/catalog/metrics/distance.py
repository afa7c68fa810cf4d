"""How far a model's weights are from Retrain's."""

from __future__ import annotations

from functools import partial

from mucore.catalog.cards import MetricCard
from mucore.catalog.metrics.sources import MUBOX

_card = partial(MetricCard, group="distance", ideal="none", high=None, source=MUBOX)

CARDS: tuple[MetricCard, ...] = (
    _card(
        id="l2",
        title="Distance of weights to Retrain",
        short="ℓ2",
        meaning="Euclidean distance between this model's weights and Retrain's.",
        unit="distance",
        caveat="By MUBox's own finding it says little: models at one distance can behave quite "
        "differently.",
    ),
    _card(
        id="l2_normalised",
        title="Relative distance of weights to Retrain",
        short="ℓ2 rel",
        meaning="Euclidean distance between this model's weights and Retrain's, divided by the "
        "norm of Retrain's weights.",
        unit="ratio",
        caveat="MUBox normalises and does not say how; this is our reading, so values need not "
        "match its tables.",
    ),
)
