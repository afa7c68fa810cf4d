"""How far predictions on the forget set are from those of another model: Retrain, or one with
random weights.
"""

from __future__ import annotations

from mucore.catalog.cards import MetricCard

CARDS: tuple[MetricCard, ...] = (
    MetricCard(
        id="js_divergence",
        title="Output divergence to Retrain",
        short="JS",
        group="agreement",
        meaning="Mean Jensen-Shannon divergence, in bits, between this model's predictions and "
        "Retrain's on the forget set; 0 is Retrain.",
        ideal="low",
        source="Lin, Divergence Measures Based on the Shannon Entropy, 1991",
        caveat="Two Retrains of different seeds are not at 0 either. Of attributes it is the mean "
        "over them.",
    ),
    MetricCard(
        id="zrf",
        title="Zero retrain forgetting",
        short="ZRF",
        group="ignorance",
        meaning="1 − mean Jensen-Shannon divergence, in bits, to the predictions of a network "
        "with random weights on the forget set.",
        source="Chundawat et al., Can Bad Teaching Induce Forgetting?, AAAI 2023",
        caveat="Needs no Retrain, but 1 is ignorance, not forgetting: Retrain itself need not be "
        "near 1. On at most 500 forgotten samples.",
    ),
)
