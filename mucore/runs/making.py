"""A checked run from names and values: aliases resolved, defaults filled in, and whatever does not
go together refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from mucore import catalog
from mucore.catalog.cards import DatasetCard, MethodCard
from mucore.errors import BadValue, Refused
from mucore.runs.parameters import MethodPreset, method_parameters, preset_label
from mucore.runs.recipe import Recipe, first_problem
from mucore.runs.refusals import (
    records_of,
    refuse_file,
    refuse_original,
    refuse_scenario,
    refuse_scope,
    refuse_task,
    refuse_values,
)
from mucore.runs.spec import REVISION, RunSpec, Scope
from mucore.runs.values import resolve


def make_spec(
    *,
    dataset: str,
    model: str,
    recipe: Recipe,
    scenario: str | None,
    method: str,
    scenario_parameters: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    method_preset: MethodPreset = "authors",
    paper: str | None = None,
    training_seed: int = 0,
    unlearning_seed: int = 0,
    evaluation_seed: int = 0,
    mia_samples: int = 2000,
    data_hash: str = "",
    original_hash: str = "",
    pretrained_hash: str = "",
    noise: float = 0.0,
    scope: Scope = "all",
    after: RunSpec | None = None,
) -> RunSpec:
    """A checked `RunSpec` with every default filled in.

    Names may be aliases. `paper` is the preset that the recipe came from, for what its paper sets
    for methods (`stated`). `after` makes it the next request of a sequence (docs/design.md): the
    run of the one before, whose references the next ones follow. Raises `UnknownName` for a name
    that no card has, `BadValue` for a value outside its card's range, a parameter that does not
    exist, or a scenario or scope that the method's card does not allow.
    """
    card = catalog.method(method)
    catalog.dataset(dataset)
    model = catalog.model(model).id
    chosen: dict[str, Any] = {}
    if scenario is None and card.id != "original":
        raise BadValue(f"{card.id} unlearns, so it needs a scenario.")
    if scenario is not None:
        scenario = catalog.scenario(scenario).id
        refuse_scenario(card, scenario)
        chosen = _scenario_parameters(scenario, scenario_parameters or {}, dataset)
        # of a user's own files the task is known when they are loaded
        refuse_task(card, catalog.dataset(dataset).task)
    poisons = scenario is not None and catalog.scenario(scenario).poisons
    reference = card.family == "reference"
    # references draw from the training axis alone
    own: dict[str, Any] = (
        {} if reference else {"unlearning_seed": unlearning_seed, "noise": noise, "scope": scope}
    )
    try:
        spec = RunSpec(
            dataset=dataset,
            data_hash=data_hash,
            original_hash=original_hash,
            pretrained_hash=pretrained_hash,
            model=model,
            recipe=recipe,
            scenario=scenario,
            scenario_parameters=chosen,
            poison={"scenario": scenario, **chosen} if poisons else {},
            method=card.id,
            method_hash=_own_hash(card),
            training_seed=training_seed,
            evaluation_seed=evaluation_seed,
            mia_samples=mia_samples,
            after=after,
            **own,
        )
    except ValidationError as error:
        raise BadValue(first_problem("run: ", error)) from None
    task = spec.tuning_task if method_preset == "tuned" else None
    effective = method_parameters(
        card,
        recipe,
        parameters or {},
        preset=method_preset,
        scenario=scenario,
        paper=paper,
        task=task,
    )
    if scenario is not None:
        refuse_values(card, effective, scenario)
        refuse_file(card, effective)
        if original_hash:
            refuse_original(card, effective)
    if not reference:
        refuse_scope(card, effective, scope)
    kept = {
        p.name: effective[p.name]
        for p in card.parameters
        if not (p.omitted_when_default and effective[p.name] == p.default)
    }
    changed = bool(noise) or scope != "all"
    return spec.model_copy(
        update={
            "parameters": kept,
            "method_preset": preset_label(card, method_preset, task, changed=changed),
            "after": after and _before(after, card, effective, poisons=poisons),
        }
    )


def _scenario_parameters(scenario: str, given: Mapping[str, Any], dataset: str) -> dict[str, Any]:
    """The parameters of a scenario on a data set, checked, with every default filled in."""
    card = catalog.scenario(scenario)
    refuse_task(card, catalog.dataset(dataset).task)
    given = {**given}
    if given.pop(REVISION, card.revision) != card.revision:
        raise BadValue(
            f"This run of the scenario {card.id} was described by another version of mucore. "
            "Describe it anew."
        )
    chosen = resolve(card.parameters, given, owner=f"scenario {card.id}")
    if card.revision > 1:
        chosen[REVISION] = card.revision
    if "downstream" in card.needs and chosen["downstream"] is None:
        chosen["downstream"] = _downstream(catalog.dataset(dataset))
    return chosen


def _before(
    after: RunSpec, card: MethodCard, parameters: Mapping[str, Any], *, poisons: bool
) -> RunSpec:
    """The run that a method's next request follows, a reference's being a reference. Raises
    `Refused`, `BadValue`.
    """
    if poisons or after.poison:
        raise BadValue(
            "A scenario that poisons the training data does so before anybody asks to forget, so "
            "it cannot be in a sequence."
        )
    if card.family == "reference":
        return after.untouched() if card.id == "original" else after.retrained()
    if names := records_of(card, parameters):
        raise Refused(
            f"{card.id} serves the first request of a sequence only: it needs a record of the "
            f"original's training ({', '.join(names)}), and after that request the model is no "
            "longer the original."
        )
    return after


def _downstream(card: DatasetCard) -> str:
    """The first data set that the card names as downstream."""
    if not card.downstream:
        raise BadValue(
            f"{card.id} has no downstream set of its own. Name one with images of the same shape, "
            "such as scenario.downstream=digits, or choose another data set."
        )
    return card.downstream[0]


def _own_hash(card: MethodCard) -> str:
    if card.family != "own":
        return ""
    from mucore.catalog import plugins  # plugins check their cards with this package

    plugin = plugins.find(card.id)
    return plugin.source_hash if plugin is not None else ""
