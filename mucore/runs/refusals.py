"""What does not go together: a method with a scenario, labels, an original, a scope or a value that
its card rules out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mucore import catalog
from mucore.catalog.cards import MethodCard, ScenarioCard, Task
from mucore.errors import Refused
from mucore.runs.spec import Scope

# Records (mucore/training/records.py) of the very training that the original came from.
OF_TRAINING = frozenset(
    {"initial", "running_sum", "per_step", "final_epochs", "learning_events", "omp", "imp"}
)


def refuse_scenario(card: MethodCard, scenario: str, where: str = "") -> None:
    """Raise `Refused` with the card's reason where the method does not serve the scenario, which
    people call `where`.
    """
    if not catalog.serves(card, scenario):
        where = where or f"under scenario {scenario}"
        raise Refused(f"{card.id} does not run {where}: {card.scenarios_reason}")


def refuse_task(card: MethodCard | ScenarioCard, task: Task) -> None:
    """Raise `Refused` where a method, with its card's reason, or a scenario does not serve labels
    of this kind.
    """
    if task in card.tasks:
        return
    if isinstance(card, MethodCard):
        served = ", ".join(sorted(card.tasks))
        raise Refused(
            f"{card.id} does not run on {task}: "
            f"{card.tasks_reason or f'its card names {served} only.'}"
        )
    others = [each.id for each in catalog.scenarios() if task in each.tasks]
    raise Refused(
        f"The scenario {card.id} goes by the class of a sample, but the labels of this data set "
        f"are {task}, several to an image. Choose one of {', '.join(others)}."
    )


def refuse_values(
    card: MethodCard, values: Mapping[str, Any], scenario: str, where: str = ""
) -> None:
    """Raise `Refused` with the reason where one of a method's values does not serve the scenario,
    which people call `where`.
    """
    where = where or f"under scenario {scenario}"
    for parameter in (p for p in card.parameters if p.choice_scenarios):
        served, reason = parameter.choice_scenarios.get(values[parameter.name], (None, ""))
        if served is not None and scenario not in served:
            limited = parameter.choice_scenarios
            others = [
                choice
                for choice in parameter.choices
                if choice not in limited or scenario in limited[choice][0]
            ]
            raise Refused(
                f"{card.id}: {parameter.name} cannot be {values[parameter.name]} {where}: "
                f"{reason} Choose {' or '.join(others)}."
            )


def refuse_file(card: MethodCard, values: Mapping[str, Any]) -> None:
    """Raise `Refused` where a method that works on a file got none."""
    for parameter in card.parameters:
        if parameter.kind == "file" and not values[parameter.name]:
            raise Refused(
                f"{card.id} needs a file and got none. Set {card.id}.{parameter.name} to its path."
            )


def refuse_original(
    card: MethodCard,
    values: Mapping[str, Any],
    lacking: frozenset[str] = OF_TRAINING,
    way_out: str = "",
) -> None:
    """Raise `Refused` where a method needs something of the original's training, for an original
    that was trained elsewhere and comes without the records `lacking`; `way_out` ends in "or ".
    """
    wanted = [name for name in card.records if name in lacking]
    if not wanted or _meets(values, card.no_records_when):
        return
    what = "the initial weights" if wanted == ["initial"] else "a record"
    changes = _to_meet(card, card.no_records_when)
    ways = f"{f'set {changes}, or ' if changes else ''}{way_out}let mucore train the original."
    raise Refused(
        f"{card.id} needs {what} of the original's training, and this original was trained "
        f"elsewhere. {ways[0].upper()}{ways[1:]}"
    )


def refuse_scope(card: MethodCard, values: Mapping[str, Any], scope: Scope) -> None:
    """Raise `Refused` with the card's reason where a method cannot be confined to the classifier.

    A user's own method may have no reason on its card; what it does to other layers is then seen
    when it has run.
    """
    if scope == "all" or not card.not_confinable or _meets(values, card.confinable_when):
        return
    changes = _to_meet(card, card.confinable_when)
    raise Refused(
        f"{card.id} cannot be confined to the classifier: {card.not_confinable} "
        f"{f'Set {changes}, or leave' if changes else 'Leave'} it out where the scope is "
        "classifier."
    )


def _meets(values: Mapping[str, Any], condition: Mapping[str, tuple[Any, ...]]) -> bool:
    """Whether every parameter has one of the values that a card's condition names; none meet an
    empty one.
    """
    return bool(condition) and all(values[name] in free for name, free in condition.items())


def _to_meet(card: MethodCard, condition: Mapping[str, tuple[Any, ...]]) -> str:
    """What to set to meet it, "eu_k.k_unit to layer and eu_k.k to 1"."""
    return " and ".join(
        f"{card.id}.{name} to {' or '.join(map(str, free))}" for name, free in condition.items()
    )


def records_of(card: MethodCard, parameters: Mapping[str, Any]) -> list[str]:
    """The card's records that have to be made for these parameters: one that is a choice of a
    parameter only if it is chosen.
    """
    offered = {choice for p in card.parameters for choice in p.choices}
    chosen = [value for value in parameters.values() if isinstance(value, str)]
    return [
        name
        for name in card.records
        if name != "initial" and (name not in offered or name in chosen)
    ]
