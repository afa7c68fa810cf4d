"""What a person asks for: `Grid`, all combinations of scenarios, methods and seeds on one data set
and model. `parse_grid` reads it from plain data, where a value may stand for several.

Imports no torch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from math import prod
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from mucore import catalog
from mucore.catalog.cards import Parameter
from mucore.errors import BadValue
from mucore.numbers import whole_numbers
from mucore.runs import Scope, Seed, classes
from mucore.runs.recipe import first_problem
from mucore.userfiles import weights

# Of one comparison. Planning takes about a thousandth of a second and a few kilobytes a run, and
# nobody reads more lines.
MOST_RUNS: Final = 20_000
MOST_SEEDS: Final = 10_000  # in one text
MOST_REQUESTS: Final = 20  # of a sequence: each run's description holds all that came before it
LISTS: Final = ("ints", "ids", "pairs")  # kinds of parameters that are lists themselves

T = TypeVar("T")


def _several(values: Any) -> Any:
    """One value as a list of it, a text of several with commas between as these; of a range or
    generator no more than is refused.
    """
    if isinstance(values, str):
        return [part.strip() for part in values.split(",") if part.strip()]
    if not isinstance(values, Iterable):
        return [values]
    return list(islice(values, MOST_RUNS + 1)) if isinstance(values, range | Iterator) else values


def _seeds(values: Any) -> Any:
    typed = isinstance(values, str)
    return whole_numbers(values, "Seeds", MOST_SEEDS) if typed else _several(values)


Several = Annotated[list[T], BeforeValidator(_several), Field(max_length=MOST_RUNS)]
SomeSeeds = Annotated[
    list[Seed], BeforeValidator(_seeds), Field(min_length=1, max_length=MOST_RUNS)
]


class ScenarioChoice(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    id: str
    parameters: dict[str, Any] = {}


class MethodChoice(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    id: str
    preset: Literal["authors", "tuned"] = "authors"
    parameters: dict[str, Any] = {}


class Grid(BaseModel):
    """All combinations of scenarios, methods and seeds on one data set and model.

    With `sequence`, the scenarios are requests made one after another: each run starts from the
    result of the one before.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    dataset: str
    model: str
    preset: str = "standard"
    recipe: dict[str, Any] = {}  # changes to the preset's recipe
    scenarios: Several[ScenarioChoice]
    methods: Several[MethodChoice]
    training_seeds: SomeSeeds = [0]
    unlearning_seeds: SomeSeeds = [0]
    evaluation_seeds: SomeSeeds = [0]
    mia_samples: int = Field(default=2000, ge=10)
    # on every gradient while unlearning, see RunSpec
    noise: Annotated[Several[float], Field(min_length=1)] = [0.0]
    scopes: Annotated[Several[Scope], Field(min_length=1)] = ["all"]
    original: str = ""  # a file with weights of the original, or its hash; empty: it is trained
    sequence: bool = False


def parse_grid(content: Mapping[str, Any]) -> Grid:
    """A grid from plain data (a URL, a stored comparison). Several values of a parameter that has
    one, a list or a text with commas, are as many choices: budgets of a scenario, a sweep of a
    method; of a parameter that is a list itself, semicolons part them.

    Raises `BadValue` with the first problem, and for more runs than a comparison may have.
    """
    try:
        grid = Grid.model_validate(dict(content))
    except ValidationError as error:
        raise BadValue(first_problem("The comparison's ", error)) from None
    if grid.sequence and len(grid.scenarios) > MOST_REQUESTS:
        raise BadValue(
            f"A sequence may have {MOST_REQUESTS} requests at most, but got {len(grid.scenarios)}. "
            "Choose fewer."
        )
    scenarios = [_values_of(each, catalog.scenario(each.id).parameters) for each in grid.scenarios]
    methods = [_values_of(each, catalog.method(each.id).parameters) for each in grid.methods]
    if grid.sequence:
        scenarios = [{} for _ in scenarios]
    check_count(grid, scenarios=_combinations(scenarios), methods=_combinations(methods))
    return grid.model_copy(
        update={
            "scenarios": _spread(grid.scenarios, scenarios),
            "methods": _spread(grid.methods, methods),
        }
    )


def _values_of(
    choice: ScenarioChoice | MethodChoice, parameters: Iterable[Parameter]
) -> dict[str, list[Any]]:
    """Of each parameter that is given as several values, what they are."""
    # a class may have a comma in its name
    kinds = {p.name: p.kind for p in parameters if p.name not in classes.PARAMETERS}
    found = {}
    for name in choice.parameters:
        kind, value = kinds.get(name, "file"), choice.parameters[name]
        if isinstance(value, str) and kind != "file":
            parts = value.split(";" if kind in LISTS else ",")
            value = [part.strip() for part in parts if part.strip()]
        elif name not in kinds or not isinstance(value, list | tuple):
            continue
        elif kind in LISTS and not all(isinstance(each, list | tuple) for each in value):
            continue
        if value:
            found[name] = list(value)
    return found


def _combinations(choices: Iterable[Mapping[str, Sequence[Any]]]) -> int:
    return sum(prod(map(len, values.values())) for values in choices)


def _spread(choices: Iterable[Any], several: Iterable[Mapping[str, Sequence[Any]]]) -> list[Any]:
    """Each choice once for every combination of its values."""
    return [
        choice.model_copy(
            update={"parameters": {**choice.parameters, **dict(zip(values, each, strict=True))}}
        )
        for choice, values in zip(choices, several, strict=True)
        for each in product(*values.values())
    ]


def check_count(grid: Grid, **counts: int) -> None:
    """Raise `BadValue` where a grid, or lists of the lengths in `counts` in the place of its own,
    come to more runs than a comparison may have: Original and Retrain of each scenario, seed and
    evaluation seed, and the methods.
    """
    multiplied = {
        name: counts.get(name, len(getattr(grid, name)))
        for name in (
            *("training_seeds", "scenarios", "evaluation_seeds"),
            *("methods", "unlearning_seeds", "noise", "scopes"),
        )
    }
    references, methods = prod([*multiplied.values()][:3]), prod([*multiplied.values()][3:])
    if (runs := references * (2 + methods)) > MOST_RUNS:
        most = max(multiplied, key=lambda name: multiplied[name])
        raise BadValue(
            f"One comparison has {MOST_RUNS:,} runs at most, but this comes to {runs:,}. Choose "
            f"fewer {most.replace('_', ' ')}, or make several comparisons: they share what is "
            "stored."
        )


def uploaded_files(grid: Grid) -> list[str]:
    """The files of weights that a grid names, as paths or hashes: the original's and those of
    methods that work on a file.
    """
    named = [choice.parameters.get(name) for choice, name in _files(grid)]
    found = dict.fromkeys(str(text or "") for text in (grid.original, *named))
    return [text for text in found if text.strip()]


def _files(grid: Grid) -> list[tuple[MethodChoice, str]]:
    return [
        (choice, parameter.name)
        for choice in grid.methods
        for parameter in catalog.method(choice.id).parameters
        if parameter.kind == "file"
    ]


def named_by_hash(grid: Grid) -> Grid:
    """The grid with the hashes of its files in place of their paths, which matter no more once the
    store has copies.
    """
    content = grid.model_dump()
    content["original"] = file_hash(grid.original, "A comparison")
    for choice, name in _files(grid):
        parameters = content["methods"][grid.methods.index(choice)]["parameters"]
        parameters[name] = file_hash(parameters.get(name), "A comparison")
    return Grid.model_validate(content)


def file_hash(file: Any, what: str) -> str:
    """What names a file of weights, given by its path or its hash; "" for none."""
    return weights.file_hash(str(file), what=what) if file and str(file).strip() else ""
