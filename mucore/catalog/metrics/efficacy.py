"""Epistemic uncertainty: the information that the weights hold about the forget set."""

from __future__ import annotations

from functools import partial

from mucore.catalog.cards import MetricCard

EFFICACY = "Becker & Liebig, Evaluating Machine Unlearning via Epistemic Uncertainty, 2022"

_card = partial(MetricCard, group="ignorance", low=None, high=None, unit="log10")

CARDS: tuple[MetricCard, ...] = (
    _card(
        id="efficacy",
        title="Efficacy, as a power of ten",
        short="Efficacy",
        meaning="log10 of 1 / information that the weights hold about the forget set: the mean "
        "squared gradient of ln p of a true label.",
        source=EFFICACY,
        caveat="Low is less exposed; a well fitted model has a high one. On at most 500 forgotten "
        "samples. None for an ensemble.",
    ),
    _card(
        id="efficacy_bound",
        title="Bound of efficacy, as a power of ten",
        short="Eff. bound",
        meaning="log10 of 1 / squared gradient of the mean loss on the forget set: never below "
        "the efficacy, and much cheaper.",
        source=EFFICACY,
        caveat="Gradients of single samples cancel in the mean, so it can lie far above. On the "
        "same samples as the efficacy.",
    ),
    _card(
        id="efficacy_untrained",
        title="Efficacy before training, as a power of ten",
        short="Eff. untrained",
        meaning="The efficacy, on the same forget set, of the network that the original was "
        "trained from, whose weights have seen nothing.",
        ideal="none",
        source=f"{EFFICACY}, Figure 2",
        caveat="With the original alone, as it is the same for every method. On the same samples "
        "as the efficacy.",
    ),
)
