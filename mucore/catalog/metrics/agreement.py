"""Several numbers in one: how near they are to Retrain's together."""

from __future__ import annotations

from functools import partial

from mucore.catalog.cards import MetricCard
from mucore.catalog.metrics.sources import FORGETTING
from mucore.catalog.scenarios import CLASS_WISE

_card = partial(MetricCard, group="agreement")

CARDS: tuple[MetricCard, ...] = (
    _card(
        id="average_gap",
        title="Average gap",
        short="Avg gap",
        meaning="Mean size of the gaps to Retrain in four numbers: FA, RA, TA and confidence MIA "
        "efficacy; 0 is Retrain.",
        ideal="low",
        source="SalUn (Fan et al., ICLR 2024), Table 1",
        caveat="A mean hides which of the four is far off.",
    ),
    _card(
        id="average_gap_classes",
        title="Average gap of class accuracies",
        short="Avg gap classes",
        meaning="Mean size of the gaps to Retrain in the four accuracies FA, RA, TFA and TRA; 0 "
        "is Retrain.",
        ideal="low",
        source=FORGETTING,
        caveat="A mean hides which of the four is far off, and four accuracies do not see what "
        "the features still hold.",
        scenarios=CLASS_WISE,
    ),
    _card(
        id="agl",
        title="Agreement of logits",
        short="AGL",
        meaning="Product of 1 − distance to Retrain over the accuracies FA, RA, TFA and TRA; 1 is "
        "Retrain.",
        ideal="high",
        source=FORGETTING,
        caveat="Accuracies alone: a model that changed its last layer only can reach 1.",
        scenarios=CLASS_WISE,
    ),
)
