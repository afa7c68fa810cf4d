"""What a person asks for in Python or on the command line, as the grid that Launch fills, too.

Names, texts and arrays are checked here, once; values of parameters by their cards. Imports no
torch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mucore import catalog
from mucore.catalog import tuning
from mucore.errors import BadValue, UnknownName, warn
from mucore.forget_sets import identity, persons
from mucore.given import Names, PathText
from mucore.runner.grid import Grid, ScenarioChoice, parse_grid, tuning_tasks
from mucore.runs import FIRST, fill
from mucore.runs.recipe import first_problem

Values = dict[str, Any]


class Asked(BaseModel):
    """What `mucore.api.compare` and `mucore run` take, with the names that they have for it."""

    model_config = ConfigDict(frozen=True)

    dataset: str = ""
    model: str = ""
    preset: str = "standard"
    recipe: Values = {}
    preprocess: str = ""
    scenario: Names = []
    scenario_parameters: Values = {}  # of every scenario that has them
    then: list[ScenarioChoice] = []  # further requests, each to the result of the one before
    methods: Annotated[Names, Field(min_length=1)] = ["all"]
    parameters: dict[str, Values] = {}  # of one method or scenario, by its name
    method_preset: Any = "authors"
    # these a grid has, too, and checks
    seeds: Any = 0
    unlearning_seeds: Any = 0
    evaluation_seeds: Any = 0
    mia_samples: Any = 2000
    noise: Any = 0.0
    scopes: Any = "all"
    original: PathText = ""


def grid_of(given: Mapping[str, Any]) -> Grid:
    """The grid that the fields of `Asked` describe, whatever else is given; what they leave open is
    the preset's, else `FIRST`. Warns of tuned settings that were found for another task. Raises
    `BadValue`, `UnknownName`.
    """
    try:
        asked = Asked.model_validate({k: value for k, value in given.items() if value is not None})
    except ValidationError as error:
        raise BadValue(first_problem("", error)) from None
    named = fill(
        asked.preset,
        dataset=asked.dataset,
        model=asked.model,
        scenarios=asked.scenario,
        otherwise=FIRST,
    )
    cards = {card.id: card for card in _methods(asked.methods)}
    changes = _changes(asked, named.scenarios, cards)
    if asked.then and len(named.scenarios) > 1:
        raise BadValue(
            "A sequence of requests starts with one scenario. Give one, and each further request "
            "as `then`."
        )
    requests = [(name, changes[name]) for name in named.scenarios]
    requests += [(each.id, each.parameters) for each in asked.then]
    grid = parse_grid(
        {
            "dataset": named.dataset,
            "model": named.model,
            "preset": asked.preset,
            "recipe": asked.recipe | ({"preprocess": asked.preprocess} if asked.preprocess else {}),
            "scenarios": [_request(asked.preset, named.dataset, *each) for each in requests],
            "sequence": bool(asked.then),
            "methods": [
                {"id": name, "preset": asked.method_preset, "parameters": changes[name]}
                for name in cards
            ],
            "training_seeds": asked.seeds,
            "unlearning_seeds": asked.unlearning_seeds,
            "evaluation_seeds": asked.evaluation_seeds,
            "mia_samples": asked.mia_samples,
            "original": asked.original,
            "noise": asked.noise,
            "scopes": asked.scopes,
        }
    )
    if asked.method_preset == "tuned":
        for each in tuning.borrowed(cards, tuning_tasks(grid)):
            warn(
                f"Under {each.scenario} no search was for exactly this task: the settings of "
                f"{', '.join(each.methods)} are those of {each.source.title}."
            )
    return grid


def _methods(names: list[str]) -> Iterable[catalog.MethodCard]:
    return catalog.all_methods() if names == ["all"] else map(catalog.method, names)


def _changes(
    asked: Asked, scenarios: Iterable[str], cards: Mapping[str, catalog.MethodCard]
) -> dict[str, Values]:
    """What was set of each scenario and method, by its id. Raises `UnknownName` for a parameter
    that no scenario has, and for a method or scenario that is not asked for.
    """
    known = {alias: card.id for card in cards.values() for alias in (card.id, *card.aliases)}
    known |= {name: name for name in scenarios}
    having = {name: {each.name for each in catalog.scenario(name).parameters} for name in scenarios}
    for parameter in asked.scenario_parameters:
        if not any(parameter in names for names in having.values()):
            every = {each for names in having.values() for each in names}
            raise UnknownName("parameter of the chosen scenarios", parameter, every)
    found: dict[str, Values] = {name: {} for name in known.values()}
    for name, names in having.items():
        found[name] = {k: each for k, each in asked.scenario_parameters.items() if k in names}
    for owner, values in asked.parameters.items():
        if owner not in known:
            raise UnknownName("method or scenario of this comparison", owner, known)
        found[known[owner]] |= values
    return found


def _request(preset: str, dataset: str, scenario: str, values: Values) -> Values:
    """A scenario with its parameters, as a grid has it; those that are left open are the preset's.
    Samples may be named by rows, `@FILE`, `set:NAME`, a path, an array or a mask, persons by the
    names in a folder's table.
    """
    if identity.PARAMETER in values:
        rows = identity.chosen(values[identity.PARAMETER], dataset)
        values = values | {identity.PARAMETER: rows}
    if persons.PARAMETER in values:
        named = persons.numbered(values[persons.PARAMETER], dataset)
        values = values | {persons.PARAMETER: named}
    return fill(preset, scenarios=[scenario], parameters={scenario: values}).choices()[0]
