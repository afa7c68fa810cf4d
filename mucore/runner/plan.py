"""What a person asks for, as a grid; what that means, as a plan: the runs, what the store has already, what is left and how long it takes.

Imports no torch, so the launch page counts and estimates while a person is still choosing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import median
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mucore import catalog, given, poison, userdata
from mucore.errors import BadValue, MucoreError, Refused
from mucore.spec import Recipe, RunSpec, Scope, make_recipe, make_spec, refuse_task
from mucore.store import Store
from mucore.store.records import Comparison, Result

Seed = Annotated[int, Field(ge=0, lt=2**63)]  # what a database keeps as a whole number
RECENT = 10  # past runs of each kind that an estimate is the median of


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

    With `sequence`, the scenarios are requests made one after another: each run starts from the result of the one before.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    dataset: str
    model: str
    preset: str = "standard"
    recipe: dict[str, Any] = {}  # changes to the preset's recipe
    scenarios: list[ScenarioChoice]
    methods: list[MethodChoice]
    training_seeds: list[Seed] = Field(default=[0], min_length=1)
    unlearning_seeds: list[Seed] = Field(default=[0], min_length=1)
    evaluation_seeds: list[Seed] = Field(default=[0], min_length=1)
    mia_samples: int = Field(default=2000, ge=10)
    noise: list[float] = Field(default=[0.0], min_length=1)  # on every gradient while unlearning, see RunSpec
    scopes: list[Scope] = Field(default=["all"], min_length=1)
    original: str = ""  # a file with weights of the original, or its hash; empty: it is trained
    sequence: bool = False


@dataclass(frozen=True)
class Refusal:
    """A combination that cannot run at all or not in the scope that was asked for, with the reason of the method's or scenario's card."""

    method: str
    scenario: str
    reason: str


@dataclass(frozen=True)
class Plan:
    """`specs` in running order, references before what needs them."""

    grid: Grid
    specs: tuple[RunSpec, ...]
    cached: frozenset[str]
    refused: tuple[Refusal, ...]
    seconds: float | None
    memory_bytes: int | None
    basis: str

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(spec.key for spec in self.specs)

    @property
    def to_run(self) -> tuple[RunSpec, ...]:
        return tuple(spec for spec in self.specs if spec.key not in self.cached)


def parse_grid(content: Mapping[str, Any]) -> Grid:
    """A grid from plain data (a URL, a stored comparison). Raises `BadValue` with the first problem."""
    try:
        return Grid.model_validate(content)
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise BadValue(f"The comparison's {where}: {problem['msg']}, but got {problem['input']!r}.") from None


def expand(grid: Grid) -> tuple[list[RunSpec], list[Refusal]]:
    """All specs of a grid without doubles, references first; and the combinations that a card refuses.

    Raises `UnknownName` or `BadValue` for what no run of the grid could survive.
    """
    recipe = make_recipe(grid.preset, grid.recipe)
    dataset = catalog.dataset(grid.dataset)
    data_hash, task = userdata.data_hash(grid.dataset), userdata.task_of(grid.dataset)
    if dataset.takes_path:  # a worker may run in another folder
        grid = grid.model_copy(update={"dataset": f"{dataset.id}:{userdata.path_of(grid.dataset).resolve()}"})
    if not grid.scenarios:
        raise BadValue("A comparison needs at least one scenario; choose one, such as one_class.")
    weights = _weights_hashes(grid, recipe)
    originals: dict[str, RunSpec] = {}
    references: dict[str, RunSpec] = {}
    methods: dict[str, RunSpec] = {}
    refused: dict[tuple[str, str], Refusal] = {}
    for training_seed in grid.training_seeds:
        before: dict[tuple[Any, ...], RunSpec] = {}  # in a sequence, each row's run of the request before
        for request, scenario in enumerate(grid.scenarios):
            refuse_task(catalog.scenario(scenario.id), task)
            common: dict[str, Any] = {
                "dataset": grid.dataset,
                "data_hash": data_hash,
                **weights,
                "model": grid.model,
                "recipe": recipe,
                "scenario": scenario.id,
                "scenario_parameters": scenario.parameters,
                "training_seed": training_seed,
                "mia_samples": grid.mia_samples,
            }
            for evaluation_seed in grid.evaluation_seeds:
                after = before.get((evaluation_seed,))
                retrain = make_spec(**common, method="retrain", evaluation_seed=evaluation_seed, after=after)
                check_fits(dataset, retrain)
                base = retrain.original()
                originals[base.key] = base
                for spec in (retrain, retrain.untouched()):
                    references[spec.key] = spec
                if grid.sequence:
                    before[(evaluation_seed,)] = retrain
                for row, choice in enumerate(grid.methods):
                    for unlearning_seed, noise, scope in product(grid.unlearning_seeds, grid.noise, grid.scopes):
                        place = (evaluation_seed, row, unlearning_seed, noise, scope)
                        after = before.pop(place, None)
                        try:
                            if grid.sequence and request and after is None:
                                raise Refused(f"{choice.id} does not get to request {request + 1}, {scenario.id}: it refused one before.")
                            refuse_task(catalog.method(choice.id), task)
                            spec = make_spec(
                                **common,
                                method=choice.id,
                                parameters=choice.parameters,
                                method_preset=choice.preset,
                                unlearning_seed=unlearning_seed,
                                evaluation_seed=evaluation_seed,
                                noise=noise,
                                scope=scope,
                                after=after,
                            )
                        except Refused as error:
                            card = catalog.method(choice.id)
                            refused.setdefault((card.id, scenario.id), Refusal(card.id, scenario.id, str(error)))
                            continue
                        methods.setdefault(spec.key, spec)  # of two presets that come to the same, the first
                        if grid.sequence:
                            before[place] = spec
    for key in {**originals, **references}:
        methods.pop(key, None)
    return [*originals.values(), *references.values(), *methods.values()], list(refused.values())


def _weights_hashes(grid: Grid, recipe: Recipe) -> dict[str, str]:
    """What names the weights that the user gives for the original, and those that training starts from."""
    pretrained = given.pretrained_file(catalog.model(grid.model).id) if recipe.pretrained else None
    return {
        "original_hash": given.file_hash(grid.original, what="An original that was trained elsewhere") if grid.original.strip() else "",
        "pretrained_hash": given.file_hash(str(pretrained), what="Pretrained weights") if pretrained is not None else "",
    }


def given_files(grid: Grid) -> list[str]:
    """The files of weights that a grid names, as paths or hashes: the original's and those of methods that work on a file."""
    named = [grid.original, *(str(choice.parameters.get(name) or "") for choice in grid.methods for name in _file_parameters(choice))]
    return [text for text in dict.fromkeys(named) if text.strip()]


def _file_parameters(choice: MethodChoice) -> list[str]:
    return [parameter.name for parameter in catalog.method(choice.id).parameters if parameter.kind == "file"]


def _named_by_hash(grid: Grid) -> Grid:
    """The grid with the hashes of its files in place of their paths, which matter no more once the store has copies."""

    def hashed(text: Any) -> str:
        return given.file_hash(str(text), what="A comparison") if text else ""

    choices = [
        choice.model_copy(
            update={"parameters": {**choice.parameters, **{n: hashed(choice.parameters.get(n)) for n in _file_parameters(choice)}}}
        )
        for choice in grid.methods
    ]
    return grid.model_copy(update={"original": hashed(grid.original.strip()), "methods": choices})


def check_fits(dataset: catalog.DatasetCard, spec: RunSpec) -> None:
    """Refuse at once what the data set's card already rules out; the exact check needs the labels and is made when the run starts."""
    values = spec.scenario_parameters
    if spec.poison:
        poison.check_fits(spec.poison, classes=dataset.classes, shape=dataset.shape)
    assert spec.scenario is not None
    if "identities" in catalog.scenario(spec.scenario).needs and not dataset.identities and not dataset.takes_path:
        having = [card.id for card in catalog.datasets() if card.identities or card.takes_path]
        raise BadValue(
            f"The scenario {spec.scenario} forgets persons, but {dataset.id} does not say who is on its images. "
            f"Choose one with identities: {', '.join(having)}."
        )
    if "downstream" in values and dataset.shape is not None:
        other = catalog.dataset(values["downstream"])
        if other.shape not in (None, dataset.shape):
            raise BadValue(
                f"A downstream set must have images of the shape {list(dataset.shape)} of {dataset.id}, but those of {other.id} have "
                f"{list(other.shape or ())}. Choose another."
            )
    if dataset.classes is not None and values.get("n", 0) >= dataset.classes:
        raise BadValue(
            f"The scenario {spec.scenario} would forget {values['n']} of the {dataset.classes} classes of {dataset.id}; leave at least one "
            "to retain."
        )
    if dataset.classes is not None:
        named = values.get("class_ids") or ([values["class_id"]] if "class_id" in values else [])
        for number in named:
            if not 0 <= number < dataset.classes:
                raise BadValue(
                    f"{dataset.id} has classes 0 to {dataset.classes - 1}, but the scenario {spec.scenario} names class {number}."
                )
        if len(set(named)) >= dataset.classes:
            raise BadValue(
                f"The scenario {spec.scenario} would forget all {dataset.classes} classes of {dataset.id}; leave at least one to retain."
            )
    budget = values.get("budget")
    if dataset.sizes is not None and isinstance(budget, int) and not spec.recipe.per_class:
        size = dataset.sizes[0] + (dataset.sizes[1] if spec.recipe.validation_from == "test" else 0)
        if "class_id" in values and dataset.balanced and dataset.classes and budget > size // dataset.classes:
            raise BadValue(
                f"The budget of {spec.scenario} must be at most the class size: a class of {dataset.id} has {size // dataset.classes} "
                f"training samples, but got {budget}. Choose fewer samples, or a share such as 0.2."
            )
        if budget >= size:
            raise BadValue(
                f"The budget of {spec.scenario} must leave something to retain: {dataset.id} has {size} training samples, "
                f"but got {budget}. Choose fewer samples, or a share such as 0.02."
            )


def make_plan(grid: Grid, store: Store, *, history: Store | None = None) -> Plan:
    """Expand a grid and set aside what the store has. `history` is a second store to estimate from (the demo's) while this one is young."""
    return plan_specs(grid, *expand(grid), store, history=history)


def plan_specs(grid: Grid, specs: Sequence[RunSpec], refused: Sequence[Refusal], store: Store, *, history: Store | None = None) -> Plan:
    """A plan of these runs, references first, as `make_plan` makes it of a grid's."""
    cached = store.known([spec.key for spec in specs])
    left = [spec for spec in specs if spec.key not in cached]
    seconds, memory, basis = _estimate(left, store, history)
    return Plan(
        grid=grid, specs=tuple(specs), cached=frozenset(cached), refused=tuple(refused), seconds=seconds, memory_bytes=memory, basis=basis
    )


def launch(plan: Plan, store: Store, *, name: str, note: str = "") -> Comparison:
    """Write the comparison down and queue what is missing. Launching the same grid again queues nothing that is queued or done.

    Files of weights are copied into the store first. Raises `BadFile` where one is gone.
    """
    if not plan.specs:
        raise MucoreError("Nothing to launch: every chosen method refuses every chosen scenario.")
    given.keep(store, given_files(plan.grid))
    comparison = store.create_comparison(name, note, _named_by_hash(plan.grid).model_dump(mode="json"), plan.keys)
    store.enqueue(plan.specs, comparison=comparison.id)
    return comparison


def _estimate(left: Sequence[RunSpec], store: Store, history: Store | None) -> tuple[float | None, int | None, str]:
    """Wall seconds and peak memory of what is left, from past runs of the same data set and model."""
    if not left:
        return 0.0, None, "Every run is in the store already."
    first = left[0]
    for source, where in ((store, "your past runs"), (history, "the demo's runs, on the machine that made them")):
        past = source.recent_results(dataset=first.dataset, model=first.model, each=RECENT) if source is not None else []
        if past:
            alike = {_kind(spec): _seconds(spec, past) for spec in {_kind(spec): spec for spec in left}.values()}
            times = [alike[_kind(spec)] for spec in left]
            known = [t for t in times if t is not None]
            if not known:
                continue
            total = sum(known) * len(times) / len(known)
            memory = max((r.cost.get("peak_memory_bytes") or 0 for r in past), default=0) or None
            return total, memory, f"Estimated from {where} of {first.dataset} with {first.model}."
    return None, None, f"No run of {first.dataset} with {first.model} yet, so there is no estimate; the first one will give it."


def _kind(spec: RunSpec) -> tuple[Any, ...]:
    """What an estimate goes by: runs that differ in their seeds alone take as long."""
    return spec.method, spec.scenario is None, bool(spec.original_hash), spec.recipe


def _seconds(spec: RunSpec, past: Sequence[Result]) -> float | None:
    """Median wall time of the same method and recipe; training scaled by epochs where only another recipe was run."""
    recipe = json.dumps(spec.recipe.model_dump(mode="json"), sort_keys=True)
    trains = spec.scenario is None or spec.method == "retrain"
    if spec.original_hash and spec.scenario is None:
        return 0.0  # nothing is trained
    alike = [r for r in past if r.spec["method"] == spec.method and (r.spec["scenario"] is None) == (spec.scenario is None)]
    alike = [r for r in alike if not (r.spec["scenario"] is None and r.spec.get("original_hash"))]
    same = [_wall(r) for r in alike if json.dumps(r.spec["recipe"], sort_keys=True) == recipe]
    if same:
        return median(same)
    if trains and alike:
        return median(_wall(r) * (spec.recipe.epochs + 1) / (Recipe(**r.spec["recipe"]).epochs + 1) for r in alike)
    return median(_wall(r) for r in alike) if alike else None


def _wall(result: Result) -> float:
    """Seconds a run of this kind takes from nothing: its work and its evaluation. The original's row of a scenario is evaluation alone.

    The wall time of the stored run would not do: it is short where the weights were there already."""
    works = result.spec["method"] != "original" or result.spec["scenario"] is None
    return float((result.cost.get("seconds") or 0.0) if works else 0.0) + float(result.cost.get("evaluation_seconds") or 0.0)
