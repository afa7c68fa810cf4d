"""The description of one run, and its key.

A `RunSpec` says all that decides a result: data set, model, recipe, scenario, method, their effective parameters and three seeds. Its
canonical JSON, together with the revisions of the cards involved, hashes to `key`; equal keys are one result, computed once. Parameters
are checked here, at the edge, against the cards; nothing inside the core checks them again.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mucore import catalog
from mucore.catalog.cards import MethodCard, Parameter
from mucore.errors import BadValue

# Raised when the engine, the data pipeline or the evaluation changes so that results can move although no card changed.
ENGINE_REVISION = 1

MethodPreset = Literal["authors", "tuned"]


class Recipe(BaseModel):
    """How the original and the retrained model are trained (MUBox: one recipe for both)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    epochs: int = Field(ge=0, le=2000)
    batch_size: int = Field(ge=1, le=8192)
    lr: float = Field(gt=0, le=100)
    optimizer: Literal["sgd", "adam", "adamw"] = "sgd"
    momentum: float = Field(default=0.9, ge=0, lt=1)
    nesterov: bool = True
    weight_decay: float = Field(default=5e-4, ge=0, le=1)
    schedule: Literal["constant", "cosine", "onecycle", "step"] = "cosine"
    # fp32 gives the reference numbers; auto takes bf16 where the device computes it natively.
    precision: Literal["fp32", "bf16", "auto"] = "fp32"


class RunSpec(BaseModel):
    """One row of the table. Build it with `make_spec`, which fills in defaults and checks ranges."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dataset: str
    data_hash: str = ""  # content of a user's own files (npz, folder); catalogued sets are identified by their card's revision
    model: str
    recipe: Recipe
    scenario: str | None  # None: the original model itself, before anybody asked to forget
    scenario_parameters: dict[str, Any] = {}
    method: str
    parameters: dict[str, Any] = {}
    method_hash: str = ""  # content of a user's own method file; mucore's methods are identified by their card's revision
    method_preset: str = "authors"  # label of where the parameters came from; not part of the key
    training_seed: int = Field(default=0, ge=0)
    unlearning_seed: int = Field(default=0, ge=0)
    evaluation_seed: int = Field(default=0, ge=0)
    mia_samples: int = Field(default=2000, ge=10)  # cap a side of the membership attack's data

    def canonical(self) -> dict[str, Any]:
        """What the key hashes: every deciding field, in JSON types, with the revisions of the cards involved."""
        content = self.model_dump(mode="json", exclude={"method_preset", "method_hash"})
        if self.data_hash:  # a user's files are named by what is in them, not by where they lie
            content["dataset"] = self.dataset.partition(":")[0]
        content["revisions"] = {
            "engine": ENGINE_REVISION,
            "dataset": catalog.dataset(self.dataset).revision,
            "model": catalog.model(self.model).revision,
            "method": self.method_hash or catalog.method(self.method).revision,
            "scenario": catalog.scenario(self.scenario).revision if self.scenario else 0,
        }
        return content

    @property
    def key(self) -> str:
        """24 hexadecimal digits that name the result of this run."""
        return _digest(self.canonical())

    @property
    def model_key(self) -> str:
        """The name of the weights alone: the key without what only evaluation depends on.

        For method `original` the scenario does not matter either: all scenarios share one original."""
        content = self.canonical()
        for field in ("evaluation_seed", "mia_samples"):
            content.pop(field)
        if self.method == "original":
            content |= {"scenario": None, "scenario_parameters": {}}
            content["revisions"]["scenario"] = 0
        return _digest(content)

    def original(self) -> RunSpec:
        """The spec that trains the model this run starts from."""
        return self.model_copy(
            update={
                "scenario": None,
                "scenario_parameters": {},
                "method": "original",
                "parameters": {},
                "method_hash": "",
                "method_preset": "authors",
                "unlearning_seed": 0,
            }
        )

    def retrained(self) -> RunSpec:
        """The spec of the reference that this run is compared with: same scenario, same training seed."""
        card = catalog.method("retrain")
        return self.model_copy(
            update={
                "method": "retrain",
                "parameters": {p.name: p.default for p in card.parameters},
                "method_hash": "",
                "method_preset": "authors",
                "unlearning_seed": 0,
            }
        )

    def needs(self) -> list[RunSpec]:
        """The specs whose results must exist before this one can be computed, in order."""
        if self.scenario is None:
            return []
        references = [self.original()]
        if self.key != self.retrained().key:
            references.append(self.retrained())
        return references

    @property
    def label(self) -> str:
        """A short line for queues and logs."""
        if self.scenario is None:
            return f"train original · {self.dataset} · {self.model} · seed {self.training_seed}"
        return f"{self.method} · {self.scenario} · {self.dataset} · {self.model} · seed {self.training_seed}"


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:24]


def make_recipe(preset: str, changes: Mapping[str, Any] | None = None) -> Recipe:
    """The recipe of a preset with `changes` applied. Raises `UnknownName`, `BadValue`."""
    values = {**catalog.preset(preset).recipe, **(changes or {})}
    unknown = set(values) - set(Recipe.model_fields)
    if unknown:
        raise BadValue(f"A recipe has no field {_quoted(unknown)}. It has {', '.join(Recipe.model_fields)}.")
    try:
        return Recipe.model_validate(values)
    except ValidationError as error:
        raise BadValue(_first_problem("recipe", error)) from None


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
    training_seed: int = 0,
    unlearning_seed: int = 0,
    evaluation_seed: int = 0,
    mia_samples: int = 2000,
    data_hash: str = "",
) -> RunSpec:
    """A checked `RunSpec` with every default filled in.

    Names may be aliases. Raises `UnknownName` for a name that no card has, `BadValue` for a value outside its card's range, a
    parameter that does not exist, or a scenario that the method's card does not allow.
    """
    method_card = catalog.method(method)
    catalog.dataset(dataset), catalog.model(model)
    chosen = {}
    if scenario is None:
        if method_card.id != "original":
            raise BadValue(f"{method_card.id} unlearns, so it needs a scenario; only `original` goes without one.")
    else:
        card = catalog.scenario(scenario)
        refuse_scenario(method_card, card.id)
        chosen = resolve(card.parameters, scenario_parameters or {}, owner=f"scenario {card.id}")
        scenario = card.id
    reference = method_card.family == "reference"
    try:
        return RunSpec(
            dataset=dataset,
            data_hash=data_hash,
            model=catalog.model(model).id,
            recipe=recipe,
            scenario=scenario,
            scenario_parameters=chosen,
            method=method_card.id,
            parameters=method_parameters(method_card, recipe, parameters or {}, preset=method_preset),
            method_hash=_own_hash(method_card),
            method_preset=method_preset,
            training_seed=training_seed,
            unlearning_seed=0 if reference else unlearning_seed,  # references draw from the training axis alone
            evaluation_seed=evaluation_seed,
            mia_samples=mia_samples,
        )
    except ValidationError as error:
        raise BadValue(_first_problem("run", error)) from None


def _own_hash(card: MethodCard) -> str:
    if card.family != "own":
        return ""
    from mucore import plugins  # plugins check their cards with the functions below

    plugin = plugins.find(card.id)
    return plugin.source_hash if plugin is not None else ""


def refuse_scenario(card: MethodCard, scenario: str) -> None:
    """Raise `BadValue` with the card's reason where the method does not serve the scenario."""
    if card.scenarios is not None and scenario not in card.scenarios:
        raise BadValue(f"{card.id} does not run under scenario {scenario}: {card.scenarios_reason}")


def method_parameters(card: MethodCard, recipe: Recipe, given: Mapping[str, Any], *, preset: MethodPreset = "authors") -> dict[str, Any]:
    """The effective parameters: the preset's values, scaled to the recipe where the card says so, then `given` on top.

    Values in `given` and in `tuned` are taken as they are; only the authors' epochs are scaled. References and exact methods are not tuned:
    there is nothing that they should come nearer to, so both presets are the same.
    """
    if preset not in ("authors", "tuned"):
        raise BadValue(f"A method preset is authors or tuned, but got {preset!r}.")
    if preset == "tuned" and not card.tuned and card.family not in ("reference", "exact"):
        raise BadValue(f"{card.id} has no tuned preset yet. Use the authors' preset, or set values yourself.")
    base = {p.name: scaled_epochs(p, card, recipe) for p in card.parameters}
    if preset == "tuned":
        base |= card.tuned
    return resolve(card.parameters, {**base, **given}, owner=f"method {card.id}")


def scaled_epochs(parameter: Parameter, card: MethodCard, recipe: Recipe) -> Any:
    """The authors' default; epochs chosen for a long training shrink with the recipe, to one at least (design.md, section 8)."""
    if not parameter.scales_with_epochs or card.paper_epochs is None:
        return parameter.default
    return max(1, round(parameter.default * recipe.epochs / card.paper_epochs))


def resolve(parameters: Iterable[Parameter], given: Mapping[str, Any], *, owner: str) -> dict[str, Any]:
    """Defaults of `parameters` overlaid with `given`, every value checked and brought to its JSON type."""
    cards = {p.name: p for p in parameters}
    for name in given:
        if name not in cards:
            near = difflib.get_close_matches(name, cards, n=1)
            way_out = f"Did you mean {near[0]}?" if near else f"It has {', '.join(cards) or 'no parameters'}."
            raise BadValue(f"{owner} has no parameter {name!r}. {way_out}")
    return {name: check(card, given.get(name, card.default), owner=owner) for name, card in cards.items()}


def check(card: Parameter, value: Any, *, owner: str) -> Any:
    """`value` in the parameter's type, from a number, a string (the CLI) or a list. Raises `BadValue` with rule, value and way out."""
    where = f"{owner}: {card.name}"
    if isinstance(value, str) and value.strip().lower() in ("none", "null") or value is None:
        if card.optional:
            return None
        raise BadValue(f"{where} needs a value; none is not allowed.")
    if card.kind == "choice":
        if value not in card.choices:
            near = difflib.get_close_matches(str(value), card.choices, n=1)
            raise BadValue(
                f"{where} must be one of {', '.join(card.choices)}, but got {value!r}." + (f" Did you mean {near[0]}?" if near else "")
            )
        return value
    if card.kind == "bool":
        if isinstance(value, bool):
            return value
        if str(value).lower() in ("true", "yes", "1", "false", "no", "0"):
            return str(value).lower() in ("true", "yes", "1")
        raise BadValue(f"{where} must be true or false, but got {value!r}.")
    if card.kind in ("ints", "ids"):
        items = value.replace(";", ",").split(",") if isinstance(value, str) else value
        if not isinstance(items, Iterable):
            items = [items]
        numbers = [_integer(item, where) for item in items if str(item).strip()]
        for number in numbers:
            _in_range(card, number, where)
        return numbers
    if card.kind == "budget":
        return _budget(value, where)
    number = _integer(value, where) if card.kind == "int" else _float(value, where)
    _in_range(card, number, where)
    return number


def _budget(value: Any, where: str) -> int | float:
    """A share is a float in (0, 1], a number of samples an int from 1; "20%", "0.2" and "200" all say which they are."""
    text = str(value).strip()
    if text.endswith("%"):
        share = _float(text[:-1], where) / 100
    elif isinstance(value, bool):
        raise BadValue(f"{where} must be a share such as 0.2 or a number of samples such as 200, but got {value}.")
    elif isinstance(value, int) or text.lstrip("+-").isdigit():
        count = int(text)
        if count < 1:
            raise BadValue(f"{where} must be at least 1 sample, but got {count}.")
        return count
    else:
        share = _float(value, where)
    if not 0 < share <= 1:
        hint = f" For {share:g} samples, write the whole number." if share > 1 else ""
        raise BadValue(f"{where} as a share must lie in (0, 1], but got {share:g}.{hint}")
    return share


def _integer(value: Any, where: str) -> int:
    number = _float(value, where)
    if number != int(number):
        raise BadValue(f"{where} must be a whole number, but got {value!r}.")
    return int(number)


def _float(value: Any, where: str) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise BadValue(f"{where} must be a finite number, but got {value!r}.")
    return number


def _in_range(card: Parameter, number: float, where: str) -> None:
    low, high = card.low, card.high
    if (low is not None and number < low) or (high is not None and number > high):
        rule = (
            f"in [{low:g}, {high:g}]"
            if low is not None and high is not None
            else f"at least {low:g}"
            if low is not None
            else f"at most {high:g}"
        )
        hint = f" Did you mean {number / 100:g}?" if high == 1 and 1 < number <= 100 else ""
        raise BadValue(f"{where} must be {rule}, but got {number:g}.{hint}")


def _first_problem(owner: str, error: ValidationError) -> str:
    problem = error.errors()[0]
    where = ".".join(str(part) for part in problem["loc"])
    return f"{owner}: {where}: {problem['msg']}, but got {problem['input']!r}."


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in sorted(names))
