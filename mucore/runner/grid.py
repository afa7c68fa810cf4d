"""What a person asks for: `Grid`, all combinations of scenarios, methods and seeds on one data set
and model. `parse_grid` reads it from plain data, where a value may stand for several; `expand`
makes its runs, references first.

Imports no torch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from math import prod
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from mucore import catalog
from mucore.catalog.cards import Parameter
from mucore.catalog.tuning import TuningTask
from mucore.errors import BadValue, Refused
from mucore.forget_sets import identity
from mucore.numbers import whole_numbers
from mucore.runs import RunSpec, Scope, Seed, classes, make_recipe, make_spec, refuse_task
from mucore.runs.budget import samples_of
from mucore.runs.recipe import first_problem
from mucore.scenarios import poison
from mucore.userfiles import datasets, sizes, weights

# Of one comparison. Planning takes about a thousandth of a second and a few kilobytes a run, and
# nobody reads more lines.
MOST_RUNS: Final = 20_000
MOST_SEEDS: Final = 10_000  # in one text
MOST_REQUESTS: Final = 20  # of a sequence: each run's description holds all that came before it
LISTS: Final = ("ints", "ids", "pairs")  # kinds of parameters that are lists themselves
# what multiplies the runs of a grid, references among them, and what those of methods alone
_OF_ALL: Final = ("training_seeds", "scenarios", "evaluation_seeds")
_OF_METHODS: Final = ("methods", "unlearning_seeds", "noise", "scopes")
# where several seeds would repeat one model, with a deviation of 0
_ONE_FILE: Final = "A file is one model: its lines run for the first seed alone, Retrain for all."

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


@dataclass(frozen=True)
class Refusal:
    """A combination that cannot run at all or not in the scope that was asked for, with the reason
    of the method's or scenario's card.
    """

    method: str
    scenario: str
    reason: str


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
    lengths = {name: len(getattr(grid, name)) for name in (*_OF_ALL, *_OF_METHODS)} | counts
    references, methods = (prod(lengths[n] for n in names) for names in (_OF_ALL, _OF_METHODS))
    if (runs := references * (2 + methods)) > MOST_RUNS:
        most = max(lengths, key=lambda name: lengths[name])
        raise BadValue(
            f"One comparison has {MOST_RUNS:,} runs at most, but this comes to {runs:,}. Choose "
            f"fewer {most.replace('_', ' ')}, or make several comparisons: they share what is "
            "stored."
        )


def expand(grid: Grid) -> tuple[list[RunSpec], list[Refusal]]:
    """All specs of a grid without doubles, references first; and the combinations that a card
    refuses.

    Raises `UnknownName` or `BadValue` for what no run of the grid could survive.
    """
    recipe = make_recipe(grid.preset, grid.recipe)
    dataset = catalog.dataset(grid.dataset)
    name = datasets.named(grid.dataset)  # a worker may run in another folder
    data_hash = datasets.data_hash(name)
    if dataset.takes_path:
        sizes.looked_at(name, data_hash)
    task, class_names = datasets.task_of(name), datasets.class_names(name)
    if not grid.scenarios:
        raise BadValue("A comparison needs at least one scenario; choose one, such as one_class.")
    pretrained = weights.pretrained_file(catalog.model(grid.model).id) if recipe.pretrained else ""
    hashes = {
        "original_hash": weights.file_hash(grid.original, what="An original from elsewhere"),
        "pretrained_hash": weights.file_hash(pretrained, what="Pretrained weights"),
    }
    specs: dict[str, RunSpec] = {}
    methods: dict[str, RunSpec] = {}
    refused: dict[tuple[str, str], Refusal] = {}
    # in a sequence, each row's run of the request before
    before: dict[tuple[Any, ...], RunSpec] = {}
    for training_seed, (request, scenario), evaluation_seed in product(
        grid.training_seeds, enumerate(grid.scenarios, 1), grid.evaluation_seeds
    ):
        refuse_task(catalog.scenario(scenario.id), task)
        common: dict[str, Any] = {
            "dataset": name,
            "data_hash": data_hash,
            **hashes,
            "model": grid.model,
            "recipe": recipe,
            "paper": grid.preset,
            "scenario": scenario.id,
            "scenario_parameters": classes.numbered(scenario.parameters, class_names),
            "training_seed": training_seed,
            "evaluation_seed": evaluation_seed,
            "mia_samples": grid.mia_samples,
        }
        follows = grid.sequence and request > 1
        line = (training_seed, evaluation_seed)
        retrain = make_spec(**common, method="retrain", after=before.get(line) if follows else None)
        check_fits(dataset, retrain)
        before[line] = retrain
        # a file is one original, whatever the seed
        again = bool(hashes["original_hash"]) and training_seed != grid.training_seeds[0]
        for spec in (retrain.original(), retrain, *([] if again else [retrain.untouched()])):
            specs[spec.key] = spec
        for (row, method), unlearning_seed, noise, scope in product(
            enumerate(grid.methods), grid.unlearning_seeds, grid.noise, grid.scopes
        ):
            card = catalog.method(method.id)
            place = (*line, row, unlearning_seed, noise, scope)
            after = before.pop(place, None) if follows else None
            first = training_seed == grid.training_seeds[0]
            first = first and unlearning_seed == grid.unlearning_seeds[0]
            try:
                if again or (card.needs_file and not first):
                    raise Refused(_ONE_FILE)
                if follows and after is None:
                    raise Refused(
                        f"{method.id} does not get to request {request}, {scenario.id}: it refused "
                        "one before."
                    )
                refuse_task(card, task)
                spec = make_spec(
                    **common,
                    method=method.id,
                    parameters=method.parameters,
                    method_preset=method.preset,
                    unlearning_seed=unlearning_seed,
                    noise=noise,
                    scope=scope,
                    after=after,
                )
            except Refused as error:
                reason = Refusal(card.id, scenario.id, str(error))
                refused.setdefault((card.id, scenario.id), reason)
                continue
            # of two presets that come to the same, the first
            methods.setdefault(spec.key, spec)
            before[place] = spec
    identity.check(specs.values())
    references = sorted(specs.values(), key=lambda spec: spec.scenario is not None)
    others = [spec for key, spec in methods.items() if key not in specs]
    return [*references, *others], list(refused.values())


def tuning_tasks(grid: Grid) -> list[TuningTask]:
    """What the scenarios of a grid, or its requests, are to tuned settings, in order. Raises as
    `expand`.
    """
    few = {"methods": [], "training_seeds": grid.training_seeds[:1]}
    specs, _ = expand(grid.model_copy(update={**few, "evaluation_seeds": [0]}))
    return [spec.tuning_task for spec in specs if spec.method == "retrain"]


def check_fits(dataset: catalog.DatasetCard, spec: RunSpec) -> None:
    """Refuse at once what the data set's card already rules out; the exact check needs the labels
    and is made when the run starts.
    """
    values, card = spec.scenario_parameters, catalog.scenario(str(spec.scenario))
    if spec.poison:
        poison.check_fits(spec.poison, classes=dataset.classes, shape=dataset.shape)
    if "identities" in card.needs and not dataset.identities and not dataset.takes_path:
        having = [each.id for each in catalog.datasets() if each.identities or each.takes_path]
        raise BadValue(
            f"The scenario {card.id} forgets persons, but {dataset.id} does not say who is on its "
            f"images. Choose one with identities: {', '.join(having)}."
        )
    other = catalog.dataset(values["downstream"]) if "downstream" in values else dataset
    if None not in (dataset.shape, other.shape) and other.shape != dataset.shape:
        raise BadValue(
            f"A downstream set must have images of the shape {dataset.shape} of {dataset.id}, but "
            f"those of {other.id} have {other.shape}. Choose another."
        )
    if dataset.classes is not None:
        _check_classes(card, values, dataset.id, dataset.classes)
    budget = values.get("budget")
    if dataset.sizes and isinstance(budget, int) and not spec.recipe.per_class:
        size = dataset.sizes[0] + (dataset.sizes[1] if spec.recipe.validation_from == "test" else 0)
        if "class_id" in values and dataset.balanced and dataset.classes:
            samples_of(budget, size // dataset.classes, f"a class of {dataset.id}")
        if budget >= size:
            raise BadValue(
                f"The budget of {card.id} must leave something to retain: {dataset.id} has {size} "
                f"training samples, but got {budget}. Choose fewer samples, or a share such as "
                "0.02."
            )


def _check_classes(
    card: catalog.ScenarioCard, values: Mapping[str, Any], dataset: str, count: int
) -> None:
    """Raise `BadValue` for classes that a data set of `count` has not, and for all of them."""
    named = set(values.get("class_ids") or [values.get("class_id", 0)])
    if wrong := [number for number in named if not 0 <= number < count]:
        raise BadValue(
            f"{dataset} has classes 0 to {count - 1}, but the scenario {card.id} names class "
            f"{wrong[0]}."
        )
    counted = [values.get(p.name, 0) for p in card.parameters if p.counts_classes]
    if (many := max([len(named), *counted])) >= count:
        raise BadValue(
            f"The scenario {card.id} would forget {many} of the {count} classes of {dataset}; "
            "leave at least one to retain."
        )
