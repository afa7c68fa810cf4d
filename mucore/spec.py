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

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_validator,
    model_serializer,
)

from mucore import catalog, given
from mucore.catalog.cards import DatasetCard, MethodCard, Parameter, ScenarioCard, Task
from mucore.errors import BadValue, Refused

# Raised when the engine, the data pipeline or the evaluation changes so that results can move although no card changed.
ENGINE_REVISION = 1

MethodPreset = Literal["authors", "tuned"]
Scope = Literal["all", "classifier"]


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
    # Fields from here on came after results existed: they are written only where they differ from their default, so that keys stay.
    milestones: tuple[int, ...] = ()  # epochs after which "step" divides the rate by ten; half and three quarters where none is given
    validation_from: Literal["training", "test"] = "training"  # test: for papers that train on everything; see datasets/cut.py
    per_class: int = Field(default=0, ge=0)  # only the first so many training samples of each class; 0 for all
    greyscale: bool = False
    class_weights: bool = False  # loss weights N / (C n_c) from the training labels, for the original, Retrain and their records
    augment: bool = True  # false: no crop and flip although the data set allows it, for every training and method of the run
    pretrained: bool = False  # start from pretrained weights, see models/pretrained.py; the head starts anew

    @field_validator("milestones", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return [each for each in value.replace(";", ",").split(",") if each.strip()] if isinstance(value, str) else value

    @model_serializer(mode="wrap")
    def _without_late_defaults(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields = list(type(self).model_fields.items())
        late = dict(fields[[name for name, _ in fields].index("precision") + 1 :])
        return {name: value for name, value in handler(self).items() if name not in late or getattr(self, name) != late[name].default}

    def cut(self) -> dict[str, Any]:
        """How the data set is divided before training: what `datasets.load` takes besides the name."""
        return {name: getattr(self, name) for name in ("validation_from", "per_class", "greyscale")}


class RunSpec(BaseModel):
    """One row of the table. Build it with `make_spec`, which fills in defaults and checks ranges."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dataset: str
    data_hash: str = ""  # content of a user's own files (npz, folder); catalogued sets are identified by their card's revision
    model: str
    recipe: Recipe
    scenario: str | None  # None: the original model itself, before anybody asked to forget
    scenario_parameters: dict[str, Any] = {}
    original_hash: str = ""  # SHA-256 of a file with the original's weights; empty: it is trained here
    pretrained_hash: str = ""  # SHA-256 of the user's file of pretrained weights; empty: none, or the published ones
    poison: dict[str, Any] = {}  # what was done to the training data first: {"scenario": id, **its parameters}; empty: nothing
    method: str
    parameters: dict[str, Any] = {}
    method_hash: str = ""  # content of a user's own method file; mucore's methods are identified by their card's revision
    method_preset: str = "authors"  # label of where the parameters came from; not part of the key
    training_seed: int = Field(default=0, ge=0)
    unlearning_seed: int = Field(default=0, ge=0)
    evaluation_seed: int = Field(default=0, ge=0)
    mia_samples: int = Field(default=2000, ge=10)  # cap a side of the membership attack's data
    # Standard deviation of the Gaussian noise on every gradient while unlearning (engine/loop.py); references have none.
    noise: float = Field(default=0.0, ge=0, le=100, allow_inf_nan=False)
    scope: Scope = "all"  # which layers a method may train: all, or the last linear one alone
    # In a sequence of requests the run of the request before: this one starts from its result. None: from the original.
    after: RunSpec | None = None

    def canonical(self) -> dict[str, Any]:
        """What the key hashes: every deciding field, in JSON types, with the revisions of the cards involved."""
        content = self.model_dump(mode="json", exclude={"method_preset", "method_hash"})
        if not self.poison:  # keys of clean runs are older than poisoned ones
            del content["poison"]
        for late in ("original_hash", "pretrained_hash"):
            if not content[late]:
                del content[late]
        for late in ("noise", "scope"):
            if content[late] == type(self).model_fields[late].default:
                del content[late]
        if self.after is None:  # and those of single requests than those of sequences
            del content["after"]
        else:
            content["after"] = _without_evaluation(self.after.canonical())
        if self.data_hash:  # a user's files are named by what is in them, not by where they lie
            content["dataset"] = self.dataset.partition(":")[0]
        content["revisions"] = {
            "engine": ENGINE_REVISION,
            "dataset": catalog.dataset(self.dataset).revision,
            "model": catalog.model(self.model).revision,
            "method": self.method_hash or catalog.method(self.method).revision,
            "scenario": catalog.scenario(self.scenario).revision if self.scenario else 0,
        }
        if self.poison:
            content["revisions"]["poison"] = catalog.scenario(self.poison["scenario"]).revision
        return content

    @property
    def key(self) -> str:
        """24 hexadecimal digits that name the result of this run."""
        return _digest(self.canonical())

    @property
    def model_key(self) -> str:
        """The name of the weights alone: the key without what only evaluation depends on.

        For method `original` the scenario does not matter either: all scenarios on the same training data share one original."""
        content = _without_evaluation(self.canonical())
        if self.method == "original":
            content |= {"scenario": None, "scenario_parameters": {}}
            content.pop("after", None)
            content["revisions"]["scenario"] = 0
        return _digest(content)

    @property
    def requests(self) -> list[RunSpec]:
        """The runs of a sequence of requests from the first to this one; this one alone where there is no other."""
        return [*(self.after.requests if self.after is not None else []), self]

    def original(self) -> RunSpec:
        """The spec that trains the model this run, or its sequence, starts from, on poisoned data where the scenario poisons them."""
        return self.model_copy(
            update={
                "scenario": None,
                "scenario_parameters": {},
                "after": None,
                "method": "original",
                "parameters": {},
                "method_hash": "",
                "method_preset": "authors",
                "unlearning_seed": 0,
                "noise": 0.0,
                "scope": "all",
            }
        )

    def untouched(self) -> RunSpec:
        """The spec of the original under this run's scenario: what every method of the scenario starts from, measured."""
        kept = {"scenario": self.scenario, "scenario_parameters": self.scenario_parameters}
        return self.original().model_copy(update={**kept, "after": self.after and self.after.untouched()})

    def retrained(self) -> RunSpec:
        """The spec of the reference that this run is compared with: same scenario, same training seed, same requests before."""
        card = catalog.method("retrain")
        return self.model_copy(
            update={
                "after": self.after and self.after.retrained(),
                "method": "retrain",
                "parameters": {p.name: p.default for p in card.parameters},
                "method_hash": "",
                "method_preset": "authors",
                "unlearning_seed": 0,
                "noise": 0.0,
                "scope": "all",
            }
        )

    def needs(self) -> list[RunSpec]:
        """The specs whose results must exist before this one can be computed, in order."""
        if self.scenario is None:
            return []
        references = [self.original()]
        if self.key != self.retrained().key:
            references.append(self.retrained())
        if self.after is not None and not self.from_original:
            references.append(self.after)
        return references

    @property
    def from_original(self) -> bool:
        """Whether no earlier result has a part in this one: of a first request, and of the references in any."""
        return self.after is None or self.method in ("original", "retrain")

    @property
    def label(self) -> str:
        """A short line for queues and logs."""
        if self.scenario is None:
            what = f"poisoned original ({self.poison['scenario']})" if self.poison else "original"
            return f"train {what} · {self.dataset} · {self.model} · seed {self.training_seed}"
        request = f" · request {len(self.requests)}" if self.after is not None else ""
        seeds = f"{self.training_seed}/{self.unlearning_seed}" if self.unlearning_seed else f"{self.training_seed}"
        changes = (f" · noise {self.noise:g}" if self.noise else "") + (" · classifier alone" if self.scope == "classifier" else "")
        return f"{self.method}{changes} · {self.scenario}{request} · {self.dataset} · {self.model} · seed {seeds}"


def settings(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a run's method in `RunSpec.model_dump`, and what else the run does otherwise than usual: noise, scope.

    Tables go by these, so that a run with noise is not taken for a plain one.
    """
    noise, scope = spec.get("noise", 0.0), spec.get("scope", "all")
    beside = ({"gradient_noise": noise} if noise else {}) | ({"scope": scope} if scope != "all" else {})
    return {**spec.get("parameters", {}), **beside}


def _without_evaluation(canonical: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in canonical.items() if name not in ("evaluation_seed", "mia_samples")}


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
    original_hash: str = "",
    pretrained_hash: str = "",
    noise: float = 0.0,
    scope: Scope = "all",
    after: RunSpec | None = None,
) -> RunSpec:
    """A checked `RunSpec` with every default filled in.

    Names may be aliases. `after` makes it the next request of a sequence (docs/design.md): the run of the one before, whose
    references the next ones follow. Raises `UnknownName` for a name that no card has, `BadValue` for a value outside its card's range, a
    parameter that does not exist, or a scenario or scope that the method's card does not allow.
    """
    method_card = catalog.method(method)
    catalog.dataset(dataset), catalog.model(model)
    chosen, poison = {}, {}
    if scenario is None:
        if method_card.id != "original":
            raise BadValue(f"{method_card.id} unlearns, so it needs a scenario; only `original` goes without one.")
    else:
        card = catalog.scenario(scenario)
        refuse_scenario(method_card, card.id)
        for each in (card, method_card):  # of a user's own files the task is known when they are loaded
            refuse_task(each, catalog.dataset(dataset).task)
        chosen = resolve(card.parameters, scenario_parameters or {}, owner=f"scenario {card.id}")
        if "downstream" in card.needs and chosen["downstream"] is None:
            chosen["downstream"] = _downstream(catalog.dataset(dataset))
        scenario = card.id
        poison = {"scenario": card.id, **chosen} if card.poisons else {}
    reference = method_card.family == "reference"
    effective = method_parameters(method_card, recipe, parameters or {}, preset=method_preset, scenario=scenario)
    if scenario is not None:
        refuse_values(method_card, effective, scenario)
        refuse_file(method_card, effective)
        if original_hash:
            refuse_original(method_card, effective)
    if not reference:
        refuse_scope(method_card, effective, scope)
    if after is not None:
        after = _before(after, method_card, effective, poisons=bool(poison))
    try:
        spec = RunSpec(
            dataset=dataset,
            data_hash=data_hash,
            original_hash=original_hash,
            pretrained_hash=pretrained_hash,
            model=catalog.model(model).id,
            recipe=recipe,
            scenario=scenario,
            scenario_parameters=chosen,
            poison=poison,
            method=method_card.id,
            parameters={p.name: effective[p.name] for p in method_card.parameters if not (p.late and effective[p.name] == p.default)},
            method_hash=_own_hash(method_card),
            method_preset=method_preset,
            training_seed=training_seed,
            unlearning_seed=0 if reference else unlearning_seed,  # references draw from the training axis alone
            evaluation_seed=evaluation_seed,
            mia_samples=mia_samples,
            noise=0.0 if reference else noise,
            scope="all" if reference else scope,
            after=after,
        )
    except ValidationError as error:
        raise BadValue(_first_problem("run", error)) from None
    if after is not None:
        for field in ("dataset", "data_hash", "original_hash", "pretrained_hash", "model", "recipe", "training_seed"):
            if getattr(spec, field) != getattr(after, field):
                here, there = getattr(spec, field), getattr(after, field)
                rule = "The requests of a sequence share data set, model, recipe and training seed"
                raise BadValue(f"{rule}, but {field.replace('_', ' ')} is {here!r} and was {there!r} before.")
    return spec


def _before(after: RunSpec, card: MethodCard, parameters: Mapping[str, Any], *, poisons: bool) -> RunSpec:
    """The run that a method's next request follows, a reference's being a reference. Raises `Refused`, `BadValue`."""
    if after.scenario is None:
        raise BadValue("A request can follow another one only, but the run before has no scenario.")
    if poisons or after.poison:
        raise BadValue("A scenario that poisons the training data does so before anybody asks to forget, so it cannot be in a sequence.")
    if card.id == "original":
        return after.untouched()
    if card.id == "retrain":
        return after.retrained()
    if names := records_of(card, parameters):
        raise Refused(
            f"{card.id} serves the first request of a sequence only: it needs a record of the original's training ({', '.join(names)}), "
            "and after that request the model is not the original any more."
        )
    return after


def records_of(card: MethodCard, parameters: Mapping[str, Any]) -> list[str]:
    """The card's records that have to be made for these parameters: one that is a choice of a parameter only if it is chosen."""
    offered = {choice for p in card.parameters for choice in p.choices}
    chosen = [value for value in parameters.values() if isinstance(value, str)]
    return [name for name in card.records if name != "initial" and (name not in offered or name in chosen)]


def _downstream(card: DatasetCard) -> str:
    """The first data set that the card names as downstream."""
    if not card.downstream:
        raise BadValue(
            f"{card.id} has no downstream set of its own. Name one with images of the same shape, such as scenario.downstream=digits, or "
            "choose another data set."
        )
    return card.downstream[0]


def _own_hash(card: MethodCard) -> str:
    if card.family != "own":
        return ""
    from mucore import plugins  # plugins check their cards with the functions below

    plugin = plugins.find(card.id)
    return plugin.source_hash if plugin is not None else ""


def refuse_scenario(card: MethodCard, scenario: str) -> None:
    """Raise `Refused` with the card's reason where the method does not serve the scenario."""
    if not catalog.serves(card, scenario):
        raise Refused(f"{card.id} does not run under scenario {scenario}: {card.scenarios_reason}")


def refuse_file(card: MethodCard, values: Mapping[str, Any]) -> None:
    """Raise `Refused` where a method that works on a file got none."""
    for parameter in card.parameters:
        if parameter.kind == "file" and not values[parameter.name]:
            raise Refused(f"{card.id} needs a file and got none. Set {card.id}.{parameter.name} to its path.")


# Records (mucore/recorders.py) of the very training that the original came from.
OF_TRAINING = frozenset({"initial", "running_sum", "per_step", "final_epochs", "learning_events", "omp", "imp"})


def refuse_original(card: MethodCard, values: Mapping[str, Any]) -> None:
    """Raise `Refused` where a method needs something of the original's training, for an original that was trained elsewhere."""
    wanted = [name for name in card.records if name in OF_TRAINING]
    if not wanted or (card.elsewhere and all(values[name] in free for name, free in card.elsewhere.items())):
        return
    what = "the initial weights" if wanted == ["initial"] else "a record"
    changes = " and ".join(f"{card.id}.{name} to {' or '.join(map(str, free))}" for name, free in card.elsewhere.items())
    raise Refused(
        f"{card.id} needs {what} of the original's training, and this original was trained elsewhere. "
        f"{f'Set {changes}, or let' if changes else 'Let'} the original be trained here."
    )


def refuse_scope(card: MethodCard, values: Mapping[str, Any], scope: Scope) -> None:
    """Raise `Refused` with the card's reason where a method cannot be confined to the classifier.

    A user's own method may have no reason on its card; what it does to other layers is then seen when it has run.
    """
    if scope == "all" or not card.own_layers or (card.confined and all(values[name] in free for name, free in card.confined.items())):
        return
    changes = " and ".join(f"{card.id}.{name} to {' or '.join(map(str, free))}" for name, free in card.confined.items())
    raise Refused(
        f"{card.id} cannot be confined to the classifier: {card.own_layers} "
        f"{f'Set {changes}, or leave' if changes else 'Leave'} it out where the scope is classifier."
    )


def refuse_task(card: MethodCard | ScenarioCard, task: Task) -> None:
    """Raise `Refused` where a method, with its card's reason, or a scenario does not serve labels of this kind."""
    if task in card.tasks:
        return
    if isinstance(card, MethodCard):
        raise Refused(f"{card.id} does not run on {task}: {card.tasks_reason or f'its card names {_listed(card.tasks)} only.'}")
    others = [each.id for each in catalog.scenarios() if task in each.tasks]
    raise Refused(
        f"The scenario {card.id} goes by the class of a sample, but the labels of this data set are {task}, several to an image. "
        f"Choose one of {', '.join(others)}."
    )


def refuse_values(card: MethodCard, values: Mapping[str, Any], scenario: str) -> None:
    """Raise `Refused` with the reason where one of a method's values does not serve the scenario."""
    for parameter in (p for p in card.parameters if p.choice_scenarios):
        served, reason = parameter.choice_scenarios.get(values[parameter.name], (None, ""))
        if served is not None and scenario not in served:
            limited = parameter.choice_scenarios
            others = [choice for choice in parameter.choices if choice not in limited or scenario in limited[choice][0]]
            raise Refused(
                f"{card.id}: {parameter.name} cannot be {values[parameter.name]} under scenario {scenario}: {reason} "
                f"Choose {' or '.join(others)}."
            )


def complete(card: MethodCard, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a stored spec, with the defaults of those that came after it or that it leaves out for its key's sake."""
    return {p.name: p.default for p in card.parameters if p.late} | dict(parameters)


def method_parameters(
    card: MethodCard, recipe: Recipe, given: Mapping[str, Any], *, preset: MethodPreset = "authors", scenario: str | None = None
) -> dict[str, Any]:
    """The effective parameters: the preset's values, scaled to the recipe where the card says so, then `given` on top.

    The authors' values are those for `scenario` where the card has some of its own for it. Values in `given` and in `tuned` are taken as
    they are; only the authors' epochs are scaled. References and exact methods are not tuned: there is nothing that they should come nearer
    to, so both presets are the same.
    """
    if preset not in ("authors", "tuned"):
        raise BadValue(f"A method preset is authors or tuned, but got {preset!r}.")
    if preset == "tuned" and not card.tuned and card.family not in ("reference", "exact"):
        raise BadValue(f"{card.id} has no tuned preset yet. Use the authors' preset, or set values yourself.")
    base = {p.name: scaled_epochs(p, card, recipe) for p in card.parameters} | dict(card.scenario_values.get(scenario or "", {}))
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
    if card.optional and isinstance(value, str) and not value.strip():  # a field of a form that was left empty
        return None
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
    if card.kind == "pairs":
        return _pairs(value, where)
    if card.kind == "file":
        return given.file_hash(str(value), what=where) if str(value).strip() else ""
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


def _pairs(value: Any, where: str) -> list[str]:
    """Texts such as "0-9", the smaller class first, in the order of those; from such texts or from one with commas."""
    items = value.replace(";", ",").split(",") if isinstance(value, str) else value
    rule = f"{where} must be pairs of two different classes, such as 0-9,1-8"
    found: list[tuple[int, int]] = []
    for item in items if isinstance(items, Iterable) else [items]:
        if not str(item).strip():
            continue
        parts = str(item).split("-")
        if len(parts) != 2 or not all(part.strip().isdecimal() for part in parts) or int(parts[0]) == int(parts[1]):
            raise BadValue(f"{rule}, but got {str(item).strip()!r}.")
        found.append((min(map(int, parts)), max(map(int, parts))))
    named = sorted(number for pair in found for number in pair)
    if not found:
        raise BadValue(f"{rule}, but got none. Leave it out to pair the first class with the last, and so on.")
    for number, following in zip(named, named[1:], strict=False):
        if number == following:
            raise BadValue(f"{where} may name a class in one pair only, but class {number} is in two. Take one of them out.")
    return [f"{low}-{high}" for low, high in sorted(found)]


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


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in sorted(names))
