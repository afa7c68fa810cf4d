"""What a person asks for, as a grid; what that means, as a plan: the runs, what the store has
already, what is left and how long it takes.

Imports no torch, so the launch page counts and estimates while a person is still choosing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from itertools import islice, product
from math import prod
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mucore import catalog
from mucore.catalog.tuning import TuningTask
from mucore.errors import BadValue, MucoreError, Refused
from mucore.forget_sets import identity
from mucore.runner import estimate
from mucore.runner.estimate import Fit
from mucore.scenarios import poison
from mucore.spec import Recipe, RunSpec, Scope, Seed, classes, make_recipe, make_spec, refuse_task
from mucore.spec.budget import samples_of
from mucore.spec.recipe import first_problem
from mucore.store import Store
from mucore.store.comparisons import check_texts
from mucore.store.rows import ACTIVE, Comparison
from mucore.userfiles import datasets, sizes, weights

# Of one comparison. Planning takes about a thousandth of a second and a few kilobytes a run, and
# nobody reads more lines.
MOST_RUNS: Final = 20_000
MOST_REQUESTS: Final = 20  # of a sequence: each run's description holds all that came before it
# what a grid multiplies: its lists, and how people call what is in them
AXES: Final = {
    "scenarios": "scenarios",
    "methods": "methods or swept values",
    "training_seeds": "training seeds",
    "unlearning_seeds": "unlearning seeds",
    "evaluation_seeds": "evaluation seeds",
    "noise": "values of noise",
    "scopes": "scopes",
}
# where several seeds would repeat one model, with a deviation of 0
_ONE_FILE: Final = "A file is one model: its lines run for the first seed alone, Retrain for all."


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
    scenarios: list[ScenarioChoice]
    methods: list[MethodChoice]
    training_seeds: list[Seed] = Field(default=[0], min_length=1)
    unlearning_seeds: list[Seed] = Field(default=[0], min_length=1)
    evaluation_seeds: list[Seed] = Field(default=[0], min_length=1)
    mia_samples: int = Field(default=2000, ge=10)
    # on every gradient while unlearning, see RunSpec
    noise: list[float] = Field(default=[0.0], min_length=1)
    scopes: list[Scope] = Field(default=["all"], min_length=1)
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


@dataclass(frozen=True)
class Plan:
    """`specs` in running order, references before what needs them."""

    grid: Grid
    specs: tuple[RunSpec, ...]
    cached: frozenset[str]
    refused: tuple[Refusal, ...]
    time: float  # wall seconds until the last of them has ended, other jobs in the queue included
    ahead: int  # jobs of others that are queued or running
    basis: str  # what the time is estimated from
    # of the runs that are missing, the one that takes most memory; None where nothing is known
    fit: Fit | None = None

    @property
    def estimate(self) -> dict[str, Any]:
        """As JSON has it: seconds, what they are estimated from, and memory in bytes."""
        return {
            "seconds": self.time,
            "jobs_ahead": self.ahead,
            "basis": self.basis,
            "memory": self.fit.content() if self.fit else None,
        }

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(spec.key for spec in self.specs)

    @property
    def to_run(self) -> tuple[RunSpec, ...]:
        return tuple(spec for spec in self.specs if spec.key not in self.cached)


def parse_grid(content: Mapping[str, Any]) -> Grid:
    """A grid from plain data (a URL, a stored comparison). Raises `BadValue` with the first
    problem, and for more runs than a comparison may have; these are counted before any list is
    made, so a range of 10^8 seeds costs nothing.
    """
    lists = {name: _few(content[name]) for name in AXES if name in content}
    counts = {name: len(each) for name, each in lists.items() if isinstance(each, Sized)}
    check_count(counts)
    if content.get("sequence") and counts.get("scenarios", 0) > MOST_REQUESTS:
        raise BadValue(
            f"A sequence may have {MOST_REQUESTS} requests at most, but got "
            f"{counts['scenarios']:,}. Choose fewer."
        )
    whole = {name: list(each) if isinstance(each, range) else each for name, each in lists.items()}
    try:
        return Grid.model_validate({**content, **whole})
    except ValidationError as error:
        raise BadValue(first_problem("The comparison's ", error)) from None


def count_runs(counts: Mapping[str, int]) -> int:
    """The most runs that lists of such lengths come to (keys of `AXES`; 1 where one is missing):
    Original and Retrain of each scenario, seed and evaluation seed, and the methods.
    """
    seeds, scenarios, evaluations = (
        counts.get(name, 1) for name in ("training_seeds", "scenarios", "evaluation_seeds")
    )
    methods = prod(
        counts.get(name, 1) for name in ("methods", "unlearning_seeds", "noise", "scopes")
    )
    return seeds * scenarios * evaluations * (2 + methods)


def check_count(counts: Mapping[str, int], words: Mapping[str, str] = AXES) -> None:
    """Raise `BadValue` where lists of such lengths come to more runs than a comparison may have;
    `words` are what the sentence calls them.
    """
    runs = count_runs(counts)
    if runs <= MOST_RUNS:
        return
    most = sorted((name for name in counts if counts[name] > 1), key=lambda name: -counts[name])
    parts = " times ".join(f"{counts[name]:,} {words[name]}" for name in most[:3])
    raise BadValue(
        f"This comes to {runs:,} runs ({parts}, Original and Retrain beside the methods), but one "
        f"comparison has {MOST_RUNS:,} at most. Choose fewer, or make several comparisons: they "
        "share what is stored."
    )


def _few(values: Any) -> Any:
    """What has no length, a generator, as a list that is long enough to be refused."""
    if isinstance(values, Iterable) and not isinstance(values, Sized):
        return list(islice(values, MOST_RUNS + 1))
    return values


def expand(grid: Grid) -> tuple[list[RunSpec], list[Refusal]]:
    """All specs of a grid without doubles, references first; and the combinations that a card
    refuses.

    Raises `UnknownName` or `BadValue` for what no run of the grid could survive.
    """
    recipe = make_recipe(grid.preset, grid.recipe)
    dataset = catalog.dataset(grid.dataset)
    # a worker may run in another folder
    grid = grid.model_copy(update={"dataset": datasets.named(grid.dataset)})
    data_hash = datasets.data_hash(grid.dataset)
    if dataset.takes_path:
        sizes.looked_at(grid.dataset, data_hash)
    task, class_names = datasets.task_of(grid.dataset), datasets.class_names(grid.dataset)
    if not grid.scenarios:
        raise BadValue("A comparison needs at least one scenario; choose one, such as one_class.")
    hashes = _weights_hashes(grid, recipe)
    from_file = bool(hashes["original_hash"])
    originals: dict[str, RunSpec] = {}
    references: dict[str, RunSpec] = {}
    methods: dict[str, RunSpec] = {}
    refused: dict[tuple[str, str], Refusal] = {}
    for training_seed in grid.training_seeds:
        # in a sequence, each row's run of the request before
        before: dict[tuple[Any, ...], RunSpec] = {}
        again = training_seed != grid.training_seeds[0]
        for request, scenario in enumerate(grid.scenarios):
            refuse_task(catalog.scenario(scenario.id), task)
            common: dict[str, Any] = {
                "dataset": grid.dataset,
                "data_hash": data_hash,
                **hashes,
                "model": grid.model,
                "recipe": recipe,
                "paper": grid.preset,
                "scenario": scenario.id,
                "scenario_parameters": classes.numbered(scenario.parameters, class_names),
                "training_seed": training_seed,
                "mia_samples": grid.mia_samples,
            }
            for evaluation_seed in grid.evaluation_seeds:
                after = before.get((evaluation_seed,))
                retrain = make_spec(
                    **common, method="retrain", evaluation_seed=evaluation_seed, after=after
                )
                check_fits(dataset, retrain)
                base = retrain.original()
                originals[base.key] = base
                for spec in (retrain, *([] if again and from_file else [retrain.untouched()])):
                    references[spec.key] = spec
                if grid.sequence:
                    before[(evaluation_seed,)] = retrain
                for row, choice in enumerate(grid.methods):
                    card = catalog.method(choice.id)
                    for unlearning_seed, noise, scope in product(
                        grid.unlearning_seeds, grid.noise, grid.scopes
                    ):
                        place = (evaluation_seed, row, unlearning_seed, noise, scope)
                        after = before.pop(place, None)
                        repeats = again or unlearning_seed != grid.unlearning_seeds[0]
                        try:
                            if again and from_file or repeats and card.needs_file:
                                raise Refused(_ONE_FILE)
                            if grid.sequence and request and after is None:
                                raise Refused(
                                    f"{choice.id} does not get to request {request + 1}, "
                                    f"{scenario.id}: it refused one before."
                                )
                            refuse_task(card, task)
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
                            refused.setdefault(
                                (card.id, scenario.id), Refusal(card.id, scenario.id, str(error))
                            )
                            continue
                        # of two presets that come to the same, the first
                        methods.setdefault(spec.key, spec)
                        if grid.sequence:
                            before[place] = spec
    identity.check(references.values())
    for key in {**originals, **references}:
        methods.pop(key, None)
    return [*originals.values(), *references.values(), *methods.values()], list(refused.values())


def tuning_tasks(grid: Grid) -> list[TuningTask]:
    """What the scenarios of a grid, or its requests, are to tuned settings, in order. Raises as
    `expand`.
    """
    few = {"methods": [], "training_seeds": grid.training_seeds[:1]}
    specs, _ = expand(grid.model_copy(update={**few, "evaluation_seeds": [0]}))
    return [spec.tuning_task for spec in specs if spec.method == "retrain"]


def _weights_hashes(grid: Grid, recipe: Recipe) -> dict[str, str]:
    """What names uploaded weights of the original, and those that training starts from."""
    pretrained = (
        weights.pretrained_file(catalog.model(grid.model).id) if recipe.pretrained else None
    )
    return {
        "original_hash": weights.file_hash(
            grid.original, what="An original that was trained elsewhere"
        )
        if grid.original.strip()
        else "",
        "pretrained_hash": weights.file_hash(str(pretrained), what="Pretrained weights")
        if pretrained is not None
        else "",
    }


def uploaded_files(grid: Grid) -> list[str]:
    """The files of weights that a grid names, as paths or hashes: the original's and those of
    methods that work on a file.
    """
    named = [
        grid.original,
        *(
            str(choice.parameters.get(name) or "")
            for choice in grid.methods
            for name in _file_parameters(choice)
        ),
    ]
    return [text for text in dict.fromkeys(named) if text.strip()]


def _file_parameters(choice: MethodChoice) -> list[str]:
    return [
        parameter.name
        for parameter in catalog.method(choice.id).parameters
        if parameter.kind == "file"
    ]


def _named_by_hash(grid: Grid) -> Grid:
    """The grid with the hashes of its files in place of their paths, which matter no more once the
    store has copies.
    """

    def hashed(text: Any) -> str:
        return weights.file_hash(str(text), what="A comparison") if text else ""

    choices = [
        choice.model_copy(
            update={
                "parameters": {
                    **choice.parameters,
                    **{n: hashed(choice.parameters.get(n)) for n in _file_parameters(choice)},
                }
            }
        )
        for choice in grid.methods
    ]
    return grid.model_copy(update={"original": hashed(grid.original.strip()), "methods": choices})


def check_fits(dataset: catalog.DatasetCard, spec: RunSpec) -> None:
    """Refuse at once what the data set's card already rules out; the exact check needs the labels
    and is made when the run starts.
    """
    values = spec.scenario_parameters
    if spec.poison:
        poison.check_fits(spec.poison, classes=dataset.classes, shape=dataset.shape)
    assert spec.scenario is not None
    card = catalog.scenario(spec.scenario)
    if "identities" in card.needs and not dataset.identities and not dataset.takes_path:
        having = [each.id for each in catalog.datasets() if each.identities or each.takes_path]
        raise BadValue(
            f"The scenario {spec.scenario} forgets persons, but {dataset.id} does not say who is "
            f"on its images. Choose one with identities: {', '.join(having)}."
        )
    if "downstream" in values and dataset.shape is not None:
        other = catalog.dataset(values["downstream"])
        if other.shape not in (None, dataset.shape):
            raise BadValue(
                f"A downstream set must have images of the shape {list(dataset.shape)} of "
                f"{dataset.id}, but those of {other.id} have {list(other.shape or ())}. Choose "
                "another."
            )
    if dataset.classes is not None:
        for parameter in card.parameters:
            many = values.get(parameter.name, 0) if parameter.counts_classes else 0
            if many >= dataset.classes:
                raise BadValue(
                    f"The scenario {card.id} would forget {many} of the {dataset.classes} "
                    f"classes of {dataset.id}; leave at least one to retain."
                )
        named = values.get("class_ids") or ([values["class_id"]] if "class_id" in values else [])
        for number in named:
            if not 0 <= number < dataset.classes:
                raise BadValue(
                    f"{dataset.id} has classes 0 to {dataset.classes - 1}, but the scenario "
                    f"{spec.scenario} names class {number}."
                )
        if len(set(named)) >= dataset.classes:
            raise BadValue(
                f"The scenario {spec.scenario} would forget all {dataset.classes} classes of "
                f"{dataset.id}; leave at least one to retain."
            )
    budget = values.get("budget")
    if dataset.sizes and isinstance(budget, int) and not spec.recipe.per_class:
        size = dataset.sizes[0] + (dataset.sizes[1] if spec.recipe.validation_from == "test" else 0)
        if "class_id" in values and dataset.balanced and dataset.classes:
            samples_of(budget, size // dataset.classes, f"a class of {dataset.id}")
        if budget >= size:
            raise BadValue(
                f"The budget of {spec.scenario} must leave something to retain: {dataset.id} has "
                f"{size} training samples, but got {budget}. Choose fewer samples, or a share "
                "such as 0.02."
            )


def make_plan(
    grid: Grid, store: Store, *, history: Store | None = None, workers: int | None = None
) -> Plan:
    """Expand a grid and set aside what the store has. Where nobody chose how pixels are
    preprocessed, a `normalize` layer in a file of weights does. Raises `BadFile` where neither that
    nor a batch norm in the file can tell.

    `history` is a second store to estimate from (the demo's) while this one is young; `workers`
    share the work (None: those that live).
    """
    if "preprocess" not in grid.recipe and (files := uploaded_files(grid)):
        from mucore.models.checkpoints import preprocess_of  # torch, where there is such a file

        said = max(preprocess_of(weights.stored(store.artifacts, text)) for text in files)
        recipe = grid.recipe | ({"preprocess": said} if said else {})
        grid = grid.model_copy(update={"recipe": recipe})
    return plan_specs(grid, *expand(grid), store, history=history, workers=workers)


def plan_specs(
    grid: Grid,
    specs: Sequence[RunSpec],
    refused: Sequence[Refusal],
    store: Store,
    *,
    history: Store | None = None,
    workers: int | None = None,
) -> Plan:
    """A plan of these runs, references first, as `make_plan` makes it of a grid's."""
    cached = store.known([spec.key for spec in specs])
    left = [spec for spec in specs if spec.key not in cached]
    time, ahead, basis = estimate.time_of(left, store, history=history, workers=workers)
    device, free = estimate.available(store)
    return Plan(
        grid=grid,
        specs=tuple(specs),
        cached=frozenset(cached),
        refused=tuple(refused),
        time=time,
        ahead=ahead,
        basis=basis,
        fit=estimate.fit_of(left, device, free, estimate.whole_memory(store.home, device)),
    )


def launch(plan: Plan, store: Store, *, name: str, note: str = "") -> Comparison:
    """Write the comparison down and queue what is missing. Launching the same grid again queues
    nothing that is queued or done.

    Files of weights are copied into the store first. Raises `BadFile` where one is gone.
    """
    if not plan.specs:
        raise MucoreError("Nothing to launch: every chosen method refuses every chosen scenario.")
    check_texts(name, note)
    weights.keep(store.artifacts, uploaded_files(plan.grid))
    comparison = store.create_comparison(
        name, note, _named_by_hash(plan.grid).model_dump(mode="json"), plan.keys
    )
    store.enqueue(plan.specs, comparison=comparison.id)
    return comparison


def call_off(comparison: Comparison, store: Store) -> None:
    """Cancel the jobs that a comparison queued, as far as they have not ended; those that it shares
    with another one, which queued them, go on.
    """
    jobs = store.jobs(comparison=comparison.id, states=ACTIVE, limit=1_000_000)
    # What waits goes before what it waits for, or it would count as failed.
    for job in reversed(jobs):
        if job.comparison == comparison.id:
            store.cancel(job.id)
