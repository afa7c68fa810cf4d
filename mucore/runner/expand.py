"""A grid as runs: every specification that it describes, references first, and the combinations
that a card refuses.

Imports no torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

from mucore import catalog
from mucore.catalog.tuning import TuningTask
from mucore.errors import BadValue, Refused
from mucore.forget_sets import identity
from mucore.runner.grid import Grid, file_hash
from mucore.runs import Recipe, RunSpec, classes, make_recipe, make_spec, refuse_task
from mucore.runs.budget import samples_of
from mucore.scenarios import poison
from mucore.userfiles import datasets, sizes, weights

# where several seeds would repeat one model, with a deviation of 0
_ONE_FILE: Final = "A file is one model: its lines run for the first seed alone, Retrain for all."


@dataclass(frozen=True)
class Refusal:
    """A combination that cannot run at all or not in the scope that was asked for, with the reason
    of the method's or scenario's card.
    """

    method: str
    scenario: str
    reason: str


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
    hashes = _weights_hashes(grid, recipe)
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


def _weights_hashes(grid: Grid, recipe: Recipe) -> dict[str, str]:
    """What names uploaded weights of the original, and those that training starts from."""
    model = catalog.model(grid.model).id
    pretrained = weights.pretrained_file(model) if recipe.pretrained else None
    return {
        "original_hash": file_hash(grid.original, "An original that was trained elsewhere"),
        "pretrained_hash": file_hash(pretrained, "Pretrained weights"),
    }


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
