"""The flags of `run`, `plan` and `tune`, and the grid that they ask for."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from mucore import catalog
from mucore.cli.base import WHOLE
from mucore.errors import BadValue, UnknownName, said
from mucore.numbers import finite, whole_numbers

if TYPE_CHECKING:
    from mucore.runner.plan import Grid

MOST_SEEDS = 10_000  # of one flag


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class TaskOptions:
    """What is to be forgotten, and by whom: what `run`, `plan` and `tune` ask alike.

    Parameters
    ----------
    methods
        Method ids, separated by commas or spaces, or all.
    dataset
        A data set's id, npz:PATH or folder:PATH. A paper's preset names one.
    model
        A model's id. A paper's preset names one.
    scenario
        Scenario ids, separated by commas or spaces. A paper's preset names some.
    preset
        Recipe of the original and the retrained model; a paper's whole setting.
    budget
        How much to forget: a share (0.2, 20%), a number of samples (200), or several of them:
        0.02,0.1.
    """

    methods: Annotated[list[str], Parameter(consume_multiple=True)]
    dataset: str | None = None
    model: str | None = None
    scenario: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None
    preset: str = "standard"
    budget: str | None = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class GridOptions(TaskOptions):
    """What to compare; `run` and `plan` take the same flags.

    Parameters
    ----------
    then
        A further request to the result of the one before: "SCENARIO KEY=VALUE ..."; may be
        repeated. The first is --scenario.
    changes
        scenario.KEY=VALUE, METHOD.KEY=VALUE or recipe.KEY=VALUE; may be repeated.
    method_preset
        Where the methods' parameters come from.
    seeds
        Training seeds: 0,1,2 or 0-2.
    unlearning_seeds
        Seeds of the methods.
    evaluation_seeds
        Seeds of the membership attacks.
    mia_samples
        Most samples on either side of a membership attack.
    sweep
        METHOD.KEY=VALUE,VALUE,...: the method once with each value; may be repeated.
        Semicolons part values that are lists.
    noise
        Standard deviations of Gaussian noise on every gradient while unlearning:
        0,0.001,0.01.
    scope
        What methods may train: all, classifier (the last layer alone) or all,classifier.
    original
        A file with weights of the original, which is then not trained; it is copied into the
        store.
    preprocess
        What pixels become: mucore (normalised by the data set's mean and deviation), 0..1,
        -1..1 or MEAN/STD, one number a channel.
    """

    then: list[str] = field(default_factory=list)
    changes: Annotated[list[str], Parameter(name="--set")] = field(default_factory=list)
    method_preset: Literal["authors", "tuned"] = "authors"
    seeds: str = "0"
    unlearning_seeds: str = "0"
    evaluation_seeds: str = "0"
    mia_samples: Annotated[int, WHOLE] = 2000
    sweep: list[str] = field(default_factory=list)
    noise: str = "0"
    scope: str = "all"
    original: str = ""
    preprocess: Annotated[str, Parameter(allow_leading_hyphen=True)] = ""


def build_grid(options: GridOptions) -> tuple[Grid, list[str]]:
    """The grid that the flags ask for, and sentences for a person about what was left aside. Raises
    `UnknownName`, `BadValue`.
    """
    from mucore.runner.plan import parse_grid
    from mucore.spec import fill

    named = fill(
        options.preset,
        dataset=options.dataset or "",
        model=options.model or "",
        scenarios=split_names(options.scenario or []),
    )
    for flag in ("dataset", "model", "scenarios"):
        if not getattr(named, flag):
            raise BadValue(
                f"--{flag.removesuffix('s')} is missing, and the preset {options.preset} names "
                "none. Give it, or choose a paper's preset."
            )
    cards = _methods(options.methods)
    values = _changes([*options.changes, *options.sweep], named.scenarios, cards, named.dataset)
    notes = []
    if options.budget is not None:
        having = [name for name in named.scenarios if "budget" in _parameters(name)]
        without = " and ".join(name for name in named.scenarios if name not in having)
        if not having:
            raise BadValue(
                f"{without} has no budget: it forgets exactly the classes or samples that are "
                "named. Leave --budget out."
            )
        if without:
            notes.append(f"{without} has no budget; --budget counts for the other scenarios.")
        for name in having:
            values[name].setdefault("budget", options.budget)
    if options.then and len(named.scenarios) > 1:
        raise BadValue(
            "A sequence of requests starts with one scenario. Give one --scenario, and each "
            "further request as --then."
        )
    set_by_hand = {name: values[name] for name in named.scenarios}
    first = fill(options.preset, scenarios=named.scenarios, parameters=set_by_hand).choices()
    then = [_request(text, named.dataset, options.preset) for text in options.then]
    preprocess = {"preprocess": options.preprocess} if options.preprocess else {}
    grid = parse_grid(
        {
            "dataset": named.dataset,
            "model": named.model,
            "preset": options.preset,
            "recipe": values["recipe"] | preprocess,
            "scenarios": [*first, *then],
            "sequence": bool(then),
            "methods": [
                {"id": card.id, "preset": options.method_preset, "parameters": values[card.id]}
                for card in cards
            ],
            "training_seeds": parse_seeds(options.seeds, "--seeds"),
            "unlearning_seeds": parse_seeds(options.unlearning_seeds, "--unlearning-seeds"),
            "evaluation_seeds": parse_seeds(options.evaluation_seeds, "--evaluation-seeds"),
            "mia_samples": options.mia_samples,
            "original": options.original,
            "noise": [finite(part, "--noise") for part in split_names([options.noise])],
            "scopes": split_names([options.scope]),
        }
    )
    if options.method_preset == "tuned":
        notes += _borrowed([card.id for card in cards], grid)
    return grid, notes


def split_names(values: Iterable[str]) -> list[str]:
    """Comma-separated and repeated flags as one list without doubles."""
    return list(
        dict.fromkeys(name.strip() for value in values for name in value.split(",") if name.strip())
    )


def parse_seeds(text: str, flag: str = "--seeds") -> list[int]:
    """`0,1,2` or `0-2` as a list without doubles. Raises `BadValue`."""
    return whole_numbers(text, flag, MOST_SEEDS)


def _methods(names: Sequence[str]) -> list[catalog.MethodCard]:
    """The cards of the methods that are named, each once."""
    if split_names(names) == ["all"]:
        return list(catalog.all_methods())
    cards = [catalog.method(name) for name in split_names(names)]
    if not cards:
        raise BadValue("A comparison needs at least one method, such as --methods finetune.")
    return list({card.id: card for card in cards}.values())


def _parameters(scenario: str) -> dict[str, catalog.Parameter]:
    return {each.name: each for each in catalog.scenario(scenario).parameters}


def _changes(
    texts: Iterable[str],
    scenarios: Iterable[str],
    cards: Sequence[catalog.MethodCard],
    dataset: str,
) -> dict[str, dict[str, Any]]:
    """What `--set` and `--sweep` change of the recipe, of each scenario and of each method. Values
    stay texts: the cards check them.

    `scenario.KEY` counts for every chosen scenario that has the parameter; a scenario's own id in
    its place singles it out.
    """
    known = {name: card.id for card in cards for name in (card.id, *card.aliases)}
    known |= {name: name for name in ("recipe", *scenarios)}
    found: dict[str, dict[str, Any]] = {name: {} for name in known.values()}
    for text in texts:
        where, equals, value = text.partition("=")
        owner, _, key = where.strip().partition(".")
        if not equals or not key:
            raise BadValue(
                "--set and --sweep must look like scenario.budget=0.1, scrub.lr=0.001 or "
                f"recipe.epochs=3, but got {said(text)}."
            )
        if owner == "scenario":
            owners = [name for name in scenarios if key in _parameters(name)]
            if not owners:
                every = {each for name in scenarios for each in _parameters(name)}
                raise UnknownName("parameter of the chosen scenarios", key, every)
        elif owner in known:
            owners = [known[owner]]
        else:
            raise UnknownName("method or scenario of this comparison", owner, ["scenario", *known])
        for name in owners:
            found[name][key] = _value(key, value.strip(), dataset)
    return found


def _value(key: str, value: str, dataset: str) -> Any:
    """The rows that a text, `@FILE` or `set:NAME` names, where samples are named; else the text."""
    from mucore.forget_sets import identity

    if key != identity.PARAMETER:
        return value
    return identity.chosen(value, dataset, lambda sentence: print(sentence, file=sys.stderr))


def _request(text: str, dataset: str, preset: str) -> dict[str, Any]:
    """`class_wise class_ids=3,4` as a scenario with its parameters; those that it leaves open are
    the preset's.
    """
    from mucore.spec import fill

    name, *settings = text.split() or [""]
    values: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise BadValue(
                f'--then must look like "one_class class_id=3 budget=0.1", but got {said(text)}.'
            )
        values[key] = _value(key, value, dataset)
    return fill(preset, scenarios=[name], parameters={name: values}).choices()[0]


def _borrowed(methods: Sequence[str], grid: Grid) -> list[str]:
    """Sentences on tuned settings that were found for another task than the one they run in."""
    from mucore.catalog import tuning
    from mucore.runner.plan import tuning_tasks

    return [
        f"Under {each.scenario} no search was for exactly this task: the settings of "
        f"{', '.join(each.methods)} are those of {each.source.title}."
        for each in tuning.borrowed(methods, tuning_tasks(grid))
    ]
