"""The flags of `run`, `plan`, `quality` and `tune`, and the grid that they ask for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from mucore.cli.base import WHOLE
from mucore.errors import BadValue, said

if TYPE_CHECKING:
    from mucore.runner.grid import Grid

_CHANGE = re.compile(r"([^.=]+)\.([^=]+)=(.*)", re.DOTALL)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class TaskOptions:
    """What is to be forgotten, and by whom: what `run`, `plan` and `tune` ask alike.

    Parameters
    ----------
    methods
        Method ids, separated by commas or spaces, or all.
    dataset
        A data set's id, npz:PATH or folder:PATH. A paper's preset names one; else
        fashion-mnist-10k.
    model
        A model's id. A paper's preset names one; else resnet9-small.
    scenario
        Scenario ids, separated by commas or spaces. A paper's preset names some; else class_wise.
    preset
        Recipe of the original and the retrained model; a paper's whole setting.
    budget
        How much to forget: a share (0.2, 20%), a number of samples (200), or several of them:
        0.02,0.1. The same as --set scenario.budget.
    changes
        scenario.KEY=VALUE, METHOD.KEY=VALUE or recipe.KEY=VALUE; may be repeated. Several values
        with commas (semicolons between lists) are tried one after another.
    """

    methods: Annotated[list[str], Parameter(consume_multiple=True)]
    dataset: str | None = None
    model: str | None = None
    scenario: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None
    preset: str = "standard"
    budget: str | None = None
    changes: Annotated[list[str], Parameter(name=("--set", "--sweep"))] = field(
        default_factory=list
    )


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class GridOptions(TaskOptions):
    """What to compare; `run` and `plan` take the same flags.

    Parameters
    ----------
    then
        A further request to the result of the one before: "SCENARIO KEY=VALUE ..."; may be
        repeated. The first is --scenario.
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
    noise
        Standard deviations of Gaussian noise on every gradient while unlearning:
        0,0.001,0.01.
    scopes
        What methods may train: all, classifier (the last layer alone) or all,classifier.
    original
        A file with weights of the original, which is then not trained; it is copied into the
        store.
    preprocess
        What pixels become: mucore (normalised by the data set's mean and deviation), 0..1,
        -1..1 or MEAN/STD, one number a channel.
    """

    then: list[str] = field(default_factory=list)
    method_preset: Literal["authors", "tuned"] = "authors"
    seeds: str = "0"
    unlearning_seeds: str = "0"
    evaluation_seeds: str = "0"
    mia_samples: Annotated[int, WHOLE] = 2000
    noise: str = "0"
    scopes: Annotated[str, Parameter(name="--scope")] = "all"
    original: str = ""
    preprocess: Annotated[str, Parameter(allow_leading_hyphen=True)] = ""


def build_grid(options: TaskOptions) -> Grid:
    """The grid that the flags ask for. Raises `UnknownName`, `BadValue`."""
    from mucore.runner.request import grid_of

    asked = dict(vars(options))
    budget, then = asked.pop("budget"), asked.pop("then", [])
    parameters: dict[str, dict[str, Any]] = {"recipe": {}, "scenario": {}}
    for change in asked.pop("changes"):
        if (found := _CHANGE.fullmatch(change)) is None:
            raise BadValue(
                "--set and --sweep must look like scenario.budget=0.1, scrub.lr=0.001 or "
                f"recipe.epochs=3, but got {said(change)}."
            )
        owner, key, value = (part.strip() for part in found.groups())
        parameters.setdefault(owner, {})[key] = value
    if budget is not None:
        parameters["scenario"].setdefault("budget", budget)
    asked |= {
        "recipe": parameters.pop("recipe"),
        "scenario_parameters": parameters.pop("scenario"),
        "parameters": parameters,
        "then": [_request(text) for text in then],
    }
    return grid_of(asked)


def split_names(values: Iterable[str]) -> list[str]:
    """Comma-separated and repeated flags as one list without doubles."""
    return list(
        dict.fromkeys(name.strip() for value in values for name in value.split(",") if name.strip())
    )


def _request(text: str) -> dict[str, Any]:
    """`class_wise class_ids=3,4` as a scenario with its parameters."""
    name, *settings = text.split() or [""]
    if not all("=" in each for each in settings):
        raise BadValue(
            f'--then must look like "one_class class_id=3 budget=0.1", but got {said(text)}.'
        )
    return {"id": name, "parameters": dict(each.split("=", 1) for each in settings)}
