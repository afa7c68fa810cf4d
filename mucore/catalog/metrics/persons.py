"""Forgetting persons: the numbers of MUFAC."""

from __future__ import annotations

from functools import partial

from mucore.catalog.cards import MetricCard

MUFAC = "Towards Machine Unlearning Benchmarks (Choi & Na, 2023; MUFAC and MUCAC), section 4"
PERSONS = frozenset({"identities", "competition"})  # the scenarios in which persons go

_card = partial(MetricCard, group="persons", source=MUFAC, scenarios=PERSONS)

CARDS: tuple[MetricCard, ...] = (
    _card(
        id="top2",
        title="Top-2 test accuracy",
        short="Top-2",
        meaning="Share of test samples whose true class is among the two most probable.",
        ideal="high",
        caveat="On the test samples whose predictions are kept one by one. None for yes-or-no "
        "labels. Neighbouring age groups look alike.",
    ),
    _card(
        id="nomus",
        title="NoMUS",
        short="NoMUS",
        meaning="Half test accuracy, half how little the losses of forgotten persons differ from "
        "those of persons nobody has seen.",
        ideal="high",
        caveat="Adds usefulness to forgetting: an original that memorises little can score above "
        "a method. Look at both parts.",
    ),
    _card(
        id="forgetting_score",
        title="Forgetting score",
        short="Forget score",
        meaning="Distance from guessing (50 %) of an attack that tells forgotten from unseen "
        "persons by their loss; 0 is a guess.",
        high=0.5,
        caveat="The paper takes 0 for best, but Retrain itself may lie above it: persons differ "
        "by who they are. An attack worse than guessing counts as much as a good one. With few "
        "samples a side it is above 0 by chance.",
    ),
)
