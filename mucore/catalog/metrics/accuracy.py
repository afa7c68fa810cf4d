"""How many samples of each set the model gets right."""

from __future__ import annotations

from functools import partial

from mucore.catalog.cards import MetricCard
from mucore.catalog.metrics.sources import FORGETTING, MUBOX
from mucore.catalog.scenarios import CLASS_WISE

_card = partial(MetricCard, group="accuracy")

CARDS: tuple[MetricCard, ...] = (
    _card(
        id="ta",
        title="Test accuracy",
        short="TA",
        meaning="Share of the test samples that the model gets right.",
        source=MUBOX,
        caveat="Forgotten classes stay in the test set, so Retrain cannot reach the original's "
        "value there; TRA leaves them out. Where images have attributes, this and the other "
        "accuracies are means over them.",
    ),
    _card(
        id="ra",
        title="Retain accuracy",
        short="RA",
        meaning="Share of the retained training samples that the model gets right.",
        source=MUBOX,
        caveat="In the line of the original's own training it is the accuracy on all training "
        "samples.",
    ),
    _card(
        id="fa",
        title="Forget accuracy",
        short="FA",
        meaning="Share of the forgotten samples that the model still gets right.",
        source=MUBOX,
        caveat="Good is Retrain's value, not 0: a model can get a sample right that it never saw. "
        "MUBox prints the difference to Retrain. Of poisoned samples the labels are the "
        "attacker's, so this is the success of the attack.",
    ),
    _card(
        id="tfa",
        title="Test accuracy on forgotten classes",
        short="TFA",
        meaning="Of the test samples of the forgotten classes, the share that the model gets "
        "right.",
        source=FORGETTING,
        caveat="Retrain is at 0 where it never saw the classes; a method that only hides the "
        "class in its last layer is there too.",
        scenarios=CLASS_WISE,
    ),
    _card(
        id="tra",
        title="Test accuracy on remaining classes",
        short="TRA",
        meaning="Of the test samples of the classes that stay, the share that the model gets "
        "right.",
        source=FORGETTING,
        caveat="A value above the original's is no sign of better training: with fewer classes to "
        "mix up, Retrain is often above it, too.",
        scenarios=CLASS_WISE,
    ),
    _card(
        id="va",
        title="Validation accuracy",
        short="VA",
        meaning="Share of the validation samples that the model gets right.",
        caveat="Some methods stop or tune on these samples, so the value flatters; no conclusion "
        "should rest on it.",
    ),
)
