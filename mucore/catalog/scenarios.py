"""The scenarios, rules that turn a training set into a forget set: their cards are in
scenarios.toml.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from mucore.catalog.cards import EVERY_TASK, Parameter, ScenarioCard, Task, read
from mucore.catalog.data import DATASETS

DOWNSTREAM = tuple(
    card.id
    for card in DATASETS
    if card.task == "classes" and not card.takes_path and not card.attribute
)


def _card(
    *,
    parameters: Mapping[str, Mapping[str, Any]],
    needs: Collection[str] = (),
    tasks: Collection[Task] = EVERY_TASK,
    **others: Any,
) -> ScenarioCard:
    # a new data set finds its place by itself
    known: dict[str, Any] = {"downstream": {"choices": DOWNSTREAM}}
    return ScenarioCard(
        parameters=tuple(
            Parameter(name=name, **known.get(name, {}), **each) for name, each in parameters.items()
        ),
        needs=frozenset(needs),
        tasks=frozenset(tasks),
        **others,
    )


SCENARIOS = read(_card, Path(__file__).with_name("scenarios.toml"))

# For cards that go with some kinds only, so that a new scenario finds its place by itself.
CLASS_WISE = frozenset(card.id for card in SCENARIOS if card.class_wise)
POISONED = frozenset(card.id for card in SCENARIOS if card.poisons)
PERSONS = frozenset(card.id for card in SCENARIOS if "identities" in card.needs)
SAMPLE_WISE = frozenset(card.id for card in SCENARIOS if not card.class_wise) - POISONED
