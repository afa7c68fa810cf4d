"""The flags of `run`, `plan` and `tune`, and the grid that they ask for."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from mucore import catalog
from mucore.cli.base import WHOLE
from mucore.errors import BadValue, UnknownName, said
from mucore.numbers import MOST, finite, whole_number

if TYPE_CHECKING:
    from mucore.catalog.tuning import Borrowed
    from mucore.runner.plan import Grid


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class TaskOptions:
    """What is to be forgotten, and by whom: what `run`, `plan` and `tune` ask alike."""

    methods: Annotated[
        list[str],
        Parameter(
            negative="",
            consume_multiple=True,
            help="Method ids, separated by commas or spaces, or all.",
        ),
    ]
    dataset: Annotated[
        str | None,
        Parameter(help="A data set's id, npz:PATH or folder:PATH. A paper's preset names one."),
    ] = None
    model: Annotated[str | None, Parameter(help="A model's id. A paper's preset names one.")] = None
    scenario: Annotated[
        list[str] | None,
        Parameter(
            negative="",
            consume_multiple=True,
            help="Scenario ids, separated by commas or spaces. A paper's preset names some.",
        ),
    ] = None
    preset: Annotated[
        str,
        Parameter(help="Recipe of the original and the retrained model; a paper's whole setting."),
    ] = "standard"
    budget: Annotated[
        str | None,
        Parameter(help="How much to forget: a share (0.2, 20%) or a number of samples (200)."),
    ] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class GridOptions(TaskOptions):
    """What to compare; `run` and `plan` take the same flags."""

    then: Annotated[
        list[str],
        Parameter(
            negative="",
            help='A further request to the result of the one before: "SCENARIO KEY=VALUE ..."; '
            "may be repeated. The first is --scenario.",
        ),
    ] = field(default_factory=list)
    changes: Annotated[
        list[str],
        Parameter(
            name="--set",
            negative="",
            help="scenario.KEY=VALUE, METHOD.KEY=VALUE or recipe.KEY=VALUE; may be repeated.",
        ),
    ] = field(default_factory=list)
    method_preset: Annotated[
        Literal["authors", "tuned"], Parameter(help="Where the methods' parameters come from.")
    ] = "authors"
    seeds: Annotated[str, Parameter(help="Training seeds: 0,1,2 or 0-2.")] = "0"
    unlearning_seeds: Annotated[str, Parameter(help="Seeds of the methods.")] = "0"
    evaluation_seeds: Annotated[str, Parameter(help="Seeds of the membership attacks.")] = "0"
    mia_samples: Annotated[
        int, WHOLE, Parameter(help="Most samples on either side of a membership attack.")
    ] = 2000
    sweep: Annotated[
        list[str],
        Parameter(
            negative="",
            help="METHOD.KEY=VALUE,VALUE,...: the method once with each value; may be repeated.",
        ),
    ] = field(default_factory=list)
    noise: Annotated[
        str,
        Parameter(
            help="Standard deviations of Gaussian noise on every gradient "
            "while unlearning: 0,0.001,0.01."
        ),
    ] = "0"
    scope: Annotated[
        str,
        Parameter(
            help="What methods may train: all, classifier (the last layer alone) or all,classifier."
        ),
    ] = "all"
    original: Annotated[
        str,
        Parameter(
            help="A file with weights of the original, which is then not trained; it "
            "is copied into the store."
        ),
    ] = ""
    preprocess: Annotated[
        str,
        Parameter(
            help="What pixels become: mucore (normalised by the data set's mean and deviation), "
            "0..1, -1..1 or MEAN/STD, one number a channel.",
            allow_leading_hyphen=True,
        ),
    ] = ""


def build_grid(options: GridOptions) -> tuple[Grid, list[str]]:
    """The grid that the flags ask for, and sentences for a person about what was left aside. Raises
    `UnknownName`, `BadValue`.
    """
    from mucore.runner.plan import parse_grid
    from mucore.spec import fill

    preset = catalog.preset(options.preset)
    named = fill(
        preset.id,
        dataset=options.dataset or "",
        model=options.model or "",
        scenarios=split_names(options.scenario or []),
    )
    dataset, model = named.dataset, named.model
    for flag, value in (
        ("--dataset", dataset),
        ("--model", model),
        ("--scenario", named.scenarios),
    ):
        if not value:
            raise BadValue(
                f"{flag} is missing, and the preset {preset.id} names none. Give it, or choose a "
                "paper's preset."
            )
    chosen = [catalog.scenario(name) for name in named.scenarios]
    every = split_names(options.methods) == ["all"]
    cards = (
        list(catalog.all_methods())
        if every
        else _once(catalog.method(name) for name in split_names(options.methods))
    )
    if not chosen or not cards:
        raise BadValue(
            "A comparison needs at least one scenario and one method, such as --scenario "
            "one_class --methods finetune."
        )
    recipe, scenario_values, method_values = _changes(options.changes, chosen, cards, dataset)
    sweeps = _sweeps(options.sweep, cards, method_values)
    notes = []
    if options.budget is not None:
        having = [card for card in chosen if any(p.name == "budget" for p in card.parameters)]
        without = " and ".join(card.id for card in chosen if card not in having)
        if not having:
            raise BadValue(
                f"{without} has no budget: it forgets exactly the classes or samples that are "
                "named. Leave --budget out."
            )
        if without:
            notes.append(f"{without} has no budget; --budget counts for the other scenarios.")
        for card in having:
            scenario_values[card.id].setdefault("budget", options.budget)
    scenarios = fill(preset.id, scenarios=named.scenarios, parameters=scenario_values).choices()
    if options.then and len(scenarios) > 1:
        raise BadValue(
            "A sequence of requests starts with one scenario. Give one --scenario, and each "
            "further request as --then."
        )
    scenarios += [_request(text, dataset, preset.id) for text in options.then]
    grid = parse_grid(
        {
            "dataset": dataset,
            "model": model,
            "preset": preset.id,
            "recipe": recipe | ({"preprocess": options.preprocess} if options.preprocess else {}),
            "scenarios": scenarios,
            "sequence": bool(options.then),
            "methods": [
                {
                    "id": card.id,
                    "preset": options.method_preset,
                    "parameters": {**method_values[card.id], **swept},
                }
                for card in cards
                for swept in sweeps[card.id]
            ],
            "training_seeds": parse_seeds(options.seeds, "--seeds"),
            "unlearning_seeds": parse_seeds(options.unlearning_seeds, "--unlearning-seeds"),
            "evaluation_seeds": parse_seeds(options.evaluation_seeds, "--evaluation-seeds"),
            "mia_samples": options.mia_samples,
            "original": options.original,
            "noise": _numbers(options.noise, "--noise"),
            "scopes": split_names([options.scope]) or ["all"],
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


def _once(cards: Iterable[catalog.MethodCard]) -> list[catalog.MethodCard]:
    """Each card once: an alias and the id it stands for are the same one."""
    return list({card.id: card for card in cards}.values())


MOST_SEEDS = 10_000  # of one flag


def parse_seeds(text: str, flag: str = "--seeds") -> list[int]:
    """`0,1,2` or `0-2` as a list without doubles. Raises `BadValue`."""
    spans: list[range] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        first, last = (whole_number(each) for each in part.partition("-")[::2])
        if first is None or first < 0 or ("-" in part and last is None):
            raise BadValue(
                f"{flag} must be whole numbers from 0, such as 0,1,2 or 0-2, but got {said(text)}."
            )
        last = first if last is None else last
        if last > MOST:
            raise BadValue(f"{flag} go up to 2^63 - 1, but got {said(part)}.")
        if last < first:
            raise BadValue(f"{flag}: the range {part} runs backwards. Did you mean {last}-{first}?")
        spans.append(range(first, last + 1))
    if not spans:
        raise BadValue(f"{flag} must name at least one seed, such as 0, but got {said(text)}.")
    count = sum(span.stop - span.start for span in spans)  # len() ends at 2^63 - 1
    if count > MOST_SEEDS:
        raise BadValue(
            f"{flag} may name {MOST_SEEDS:,} seeds at most, but {said(text)} are {count:,}. Choose "
            "fewer."
        )
    return list(dict.fromkeys(seed for span in spans for seed in span))


def _changes(
    texts: Iterable[str],
    chosen: Sequence[catalog.ScenarioCard],
    cards: Sequence[catalog.MethodCard],
    dataset: str,
) -> tuple[dict[str, Any], dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """The `--set` flags as changes of the recipe, per scenario and per method. Values stay texts:
    the cards check them.

    `scenario.KEY` counts for every chosen scenario that has the parameter; a scenario's own id in
    its place singles it out.
    """
    from mucore.spec import Recipe

    recipe: dict[str, Any] = {}
    for_scenario: dict[str, dict[str, Any]] = {card.id: {} for card in chosen}
    for_method: dict[str, dict[str, Any]] = {card.id: {} for card in cards}
    for text in texts:
        where, equals, value = text.partition("=")
        owner, dot, key = where.strip().partition(".")
        if not equals or not dot or not key:
            raise BadValue(
                "--set must look like scenario.budget=0.1, scrub.lr=0.001 or recipe.epochs=3, "
                f"but got {said(text)}."
            )
        value = value.strip()
        if owner == "recipe":
            _known(key, Recipe.model_fields, "field of the recipe")
            recipe[key] = value
        elif owner == "scenario" or owner in for_scenario:
            targets = [card for card in chosen if owner in ("scenario", card.id)]
            _known(
                key,
                [p.name for card in targets for p in card.parameters],
                f"parameter of scenario {', '.join(c.id for c in targets)}",
            )
            for card in targets:
                for parameter in card.parameters:
                    if parameter.name == key:
                        for_scenario[card.id][key] = (
                            _listed(value, dataset) if parameter.kind == "ids" else value
                        )
        else:
            card = _chosen_method(owner, cards, for_scenario)
            _known(key, [p.name for p in card.parameters], f"parameter of method {card.id}")
            for_method[card.id][key] = value
    return recipe, for_scenario, for_method


def _sweeps(
    texts: Iterable[str],
    cards: Sequence[catalog.MethodCard],
    fixed: Mapping[str, Mapping[str, Any]],
) -> dict[str, list[dict[str, str]]]:
    """Per method the sets of values to run it with: all combinations of its sweeps, one empty set
    where it has none.
    """
    from mucore.runner.plan import check_count

    values: dict[str, dict[str, list[str]]] = {card.id: {} for card in cards}
    for text in texts:
        where, _, listed = text.partition("=")
        owner, dot, key = where.strip().partition(".")
        chosen = split_names([listed])
        if not chosen or not dot or not key:
            raise BadValue(f"--sweep must look like scrub.lr=0.001,0.01, but got {said(text)}.")
        card = _chosen_method(owner, cards, [], flag="--sweep")
        _known(key, [p.name for p in card.parameters], f"parameter of method {card.id}")
        if key in fixed[card.id] or key in values[card.id]:
            raise BadValue(
                f"{card.id}.{key} is set twice. Name all its values in one --sweep, and leave it "
                "out of --set."
            )
        values[card.id][key] = chosen
    check_count({"methods": sum(prod(map(len, keys.values())) for keys in values.values())})
    return {
        name: [dict(zip(keys, each, strict=True)) for each in product(*keys.values())]
        for name, keys in values.items()
    }


def _borrowed(methods: Sequence[str], grid: Grid) -> list[str]:
    """Sentences on tuned settings that were found for another task than the one they run in."""
    from mucore.catalog import tuning
    from mucore.runner.plan import tuning_tasks

    return [
        f"Under {each.scenario} there are no tuned settings of {', '.join(each.methods)} for this "
        f"{_lacking(each)}; those of {each.source.title} are taken. `tune` searches them."
        for each in tuning.borrowed(methods, tuning_tasks(grid))
    ]


def _lacking(found: Borrowed) -> str:
    """By what a task differs from the one whose settings are taken."""
    if {"scenario", "data", "model"} & {*found.parts}:
        return "data set and model"
    words = {"recipe": "recipe", "scenario_parameters": "forget set", "weights": "original"}
    return " and ".join(words[part] for part in found.parts)


def _numbers(text: str, flag: str) -> list[float]:
    """`0,0.001` as a list without doubles. Raises `BadValue`."""
    numbers = [finite(part, flag) for part in split_names([text])]
    if not numbers:
        raise BadValue(f"{flag} must be numbers, such as 0,0.001,0.01, but got {said(text)}.")
    return list(dict.fromkeys(numbers))


def _request(text: str, dataset: str, preset: str) -> dict[str, Any]:
    """`class_wise class_ids=3,4` as a scenario with its parameters; those that it leaves open are
    the preset's.
    """
    from mucore.spec import fill

    name, *settings = text.split() or [""]
    card = catalog.scenario(name)
    values: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise BadValue(
                f'--then must look like "one_class class_id=3 budget=0.1", but got {said(text)}.'
            )
        _known(key, [p.name for p in card.parameters], f"parameter of scenario {card.id}")
        values[key] = _listed(value, dataset) if key == "ids" else value
    return fill(preset, scenarios=[card.id], parameters={card.id: values}).choices()[0]


def _known(key: str, known: Iterable[str], kind: str) -> None:
    known = list(known)
    if key in known:
        return
    if not known:
        raise BadValue(f"There is no {kind} named {said(key)}: it has none to set.")
    raise UnknownName(kind, key, known)


def _chosen_method(
    name: str, cards: Sequence[catalog.MethodCard], scenarios: Iterable[str], *, flag: str = "--set"
) -> catalog.MethodCard:
    for card in cards:
        if name == card.id or name in card.aliases:
            return card
    others = [each for card in catalog.methods() for each in (card.id, *card.aliases)] + [
        card.id for card in catalog.scenarios()
    ]
    if name in others:
        raise BadValue(
            f"{flag} is about {name}, which this comparison does not include. Add it to the "
            "comparison, or leave the setting out."
        )
    settable = ["scenario", "recipe", *scenarios] if flag == "--set" else []
    raise UnknownName(
        f"method{' or scenario' if settable else ''} for {flag}",
        name,
        [*settable, *(card.id for card in cards)],
    )


def _listed(value: str, dataset: str) -> list[int]:
    """The rows that a text, `@FILE` or `set:NAME` names."""
    from mucore.forget_sets import identity

    return identity.chosen(value, dataset, lambda sentence: print(sentence, file=sys.stderr))
