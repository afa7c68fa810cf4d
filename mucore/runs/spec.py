"""One run and its key.

The canonical JSON of a `RunSpec`, together with the revisions of the cards involved, hashes to
`key`; equal keys are one result, computed once. What came to the description after results existed
is written only where it differs from its default, so that keys stay.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mucore import catalog
from mucore.catalog.tuning import TuningTask
from mucore.errors import BadValue
from mucore.numbers import MOST
from mucore.runs.recipe import Recipe, first_problem

# Raised when the engine, the data pipeline or the evaluation changes so that results can move
# although no card changed.
ENGINE_REVISION = 1

# of `settings`, beside the parameters: which text of a user's own method file ran
FILE_VERSION = "file_version"

# of `scenario_parameters`, beside the parameters: the revision of the scenario's card from 2 on
REVISION = "revision"

# the methods that all others are measured against
REFERENCES = ("original", "retrain")

Scope = Literal["all", "classifier"]
Seed = Annotated[int, Field(ge=0, le=MOST)]


class RunSpec(BaseModel):
    """One row of the table. Build it with `make_spec`, which fills in defaults and checks
    ranges.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    dataset: str
    # content of a user's own files (npz, folder); catalogued sets are identified by their card's
    # revision
    data_hash: str = ""
    model: str
    recipe: Recipe
    scenario: str | None  # None: the original model itself, before anybody asked to forget
    scenario_parameters: dict[str, Any] = {}
    # SHA-256 of a file with the original's weights; empty: it is trained here
    original_hash: str = ""
    # SHA-256 of the user's file of pretrained weights; empty: none, or the published ones
    pretrained_hash: str = ""
    # what was done to the training data first: {"scenario": id, **its parameters}; empty: nothing
    poison: dict[str, Any] = {}
    method: str
    parameters: dict[str, Any] = {}
    # content of a user's own method file; mucore's methods are identified by their card's revision
    method_hash: str = ""
    method_preset: str = "authors"  # a `PresetLabel`; not part of the key
    training_seed: Seed = 0
    unlearning_seed: Seed = 0
    evaluation_seed: Seed = 0
    mia_samples: int = Field(default=2000, ge=10)  # cap a side of the membership attack's data
    # Standard deviation of the Gaussian noise on every gradient while unlearning (engine/loop.py);
    # references have none.
    noise: float = Field(default=0.0, ge=0, le=100, allow_inf_nan=False)
    scope: Scope = "all"  # which layers a method may train: all, or the last linear one alone
    # In a sequence of requests the run of the request before: this one starts from its result.
    # None: from the original.
    after: RunSpec | None = None

    def canonical(self) -> dict[str, Any]:
        """What the key hashes: every deciding field, in JSON types, with the revisions of the cards
        involved.
        """
        content = self.model_dump(mode="json", exclude={"method_preset", "method_hash"})
        for newer in ("poison", "original_hash", "pretrained_hash", "noise", "scope", "after"):
            if content[newer] == type(self).model_fields[newer].default:
                del content[newer]
        if self.after is not None:
            content["after"] = _without_evaluation(self.after.canonical())
        if self.data_hash:  # a user's files are named by what is in them, not by where they lie
            content["dataset"] = self.dataset.partition(":")[0]
        content["revisions"] = {
            "engine": ENGINE_REVISION,
            "dataset": catalog.dataset(self.dataset).revision,
            "model": catalog.model(self.model).revision,
            "method": self.method_hash or catalog.method(self.method).revision,
            "scenario": scenario_revision(self.scenario_parameters) if self.scenario else 0,
        }
        if self.poison:
            content["revisions"]["poison"] = catalog.scenario(self.poison["scenario"]).revision
        return content

    @cached_property  # a plan asks several times, and each takes a tenth of a millisecond
    def key(self) -> str:
        """24 hexadecimal digits that name the result of this run."""
        return _digest(self.canonical())

    @cached_property
    def model_key(self) -> str:
        """The name of the weights alone: the key without what only evaluation depends on.

        For method `original` the scenario does not matter either: all scenarios on the same
        training data share one original.
        """
        content = _without_evaluation(self.canonical())
        if self.method == "original":
            content |= {"scenario": None, "scenario_parameters": {}}
            content.pop("after", None)
            content["revisions"]["scenario"] = 0
        return _digest(content)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with other fields, and so with keys of its own."""
        copy = super().model_copy(update=update, deep=deep)
        for name in ("key", "model_key"):
            copy.__dict__.pop(name, None)
        return copy

    @property
    def requests(self) -> list[RunSpec]:
        """The runs of a sequence of requests from the first to this one; this one alone where there
        is no other.
        """
        return [*(self.after.requests if self.after is not None else []), self]

    def on_seed(self, training_seed: int) -> RunSpec:
        """The same run, and those of the requests before it, of another training seed."""
        after = self.after and self.after.on_seed(training_seed)
        return self.model_copy(update={"training_seed": training_seed, "after": after})

    def original(self) -> RunSpec:
        """The spec that trains the model this run, or its sequence, starts from, on poisoned data
        where the scenario poisons them.
        """
        nothing = {"scenario": None, "scenario_parameters": {}, "after": None}
        return self._reference("original", {}).model_copy(update=nothing)

    def untouched(self) -> RunSpec:
        """The spec of the original under this run's scenario: what every method of the scenario
        starts from, measured.
        """
        after = self.after and self.after.untouched()
        return self._reference("original", {}).model_copy(update={"after": after})

    def retrained(self) -> RunSpec:
        """The spec of the reference that this run is compared with: same scenario, same training
        seed, same requests before.
        """
        defaults = {p.name: p.default for p in catalog.method("retrain").parameters}
        after = self.after and self.after.retrained()
        return self._reference("retrain", defaults).model_copy(update={"after": after})

    def _reference(self, method: str, parameters: dict[str, Any]) -> RunSpec:
        """This run by a reference, which draws from the training axis alone."""
        usual = ("method_hash", "method_preset", "unlearning_seed", "noise", "scope")
        fields = {name: type(self).model_fields[name].default for name in usual}
        return self.model_copy(update={**fields, "method": method, "parameters": parameters})

    def needs(self) -> list[RunSpec]:
        """The specs whose results must exist before this one can be computed, in order."""
        if self.scenario is None:
            return []
        references = [self.original()]
        if self.key != self.retrained().key:
            references.append(self.retrained())
        if self.after is not None and not self.from_original:
            references += [*self.after.needs(), self.after]
        return list({each.key: each for each in references}.values())

    @property
    def from_original(self) -> bool:
        """Whether no earlier result has a part in this one: of a first request, and of the
        references in any.
        """
        return self.after is None or self.method in REFERENCES

    @property
    def tuning_task(self) -> TuningTask:
        """What tuned settings for this run are sought for. A later request of a sequence is a task
        of its own: its method does not start from an original.
        """
        chosen = json.loads(json.dumps(self.scenario_parameters))
        if self.after is not None:
            chosen["after"] = self.after.model_key
        names = ("data_hash", "model", "original_hash", "pretrained_hash")
        return TuningTask(
            dataset=self.dataset.partition(":")[0],
            recipe=self.recipe.model_dump(mode="json"),
            scenario=self.scenario or "",
            scenario_parameters=chosen,
            **{name: getattr(self, name) for name in names},
        )

    @property
    def label(self) -> str:
        """A short line for queues and logs."""
        place = f"{self.dataset} · {self.model} · seed {self.training_seed}"
        if self.scenario is None:
            what = f"poisoned original ({self.poison['scenario']})" if self.poison else "original"
            return f"train {what} · {place}"
        budget = self.scenario_parameters.get("budget")
        parts = [
            self.method,
            f"noise {self.noise:g}" if self.noise else "",
            "classifier alone" if self.scope == "classifier" else "",
            self.scenario if budget is None else f"{self.scenario} {budget:g}",
            f"request {len(self.requests)}" if self.after is not None else "",
            f"{place}/{self.unlearning_seed}" if self.unlearning_seed else place,
        ]
        return " · ".join(filter(None, parts))


def stored_spec(content: Mapping[str, Any]) -> RunSpec:
    """The spec of a stored run or job. Raises `BadValue` for one of a version that describes runs
    otherwise.
    """
    try:
        return RunSpec.model_validate(dict(content))
    except ValidationError as error:
        raise BadValue(
            f"{first_problem('The stored run cannot be read: ', error)} Another version of mucore "
            "described it. Update mucore, or launch the run anew."
        ) from None


def scenario_revision(parameters: Mapping[str, Any]) -> int:
    """That of the scenario's card when the run was described: what its parameters mean. It stands
    among them where it is not the first, so that an older run keeps key and meaning.
    """
    return parameters.get(REVISION, 1)


def settings(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a run's method in `RunSpec.model_dump`, and what else the run does
    otherwise than usual: noise, scope; of a user's own method, which text of its file ran, by the
    first digits of its hash.

    Tables go by these, so that a run with noise is not taken for a plain one, and what an edited
    file did is not averaged with what it did before.
    """
    found = dict(spec.get("parameters", {}))
    if noise := spec.get("noise", 0.0):
        found["gradient_noise"] = noise
    if (scope := spec.get("scope", "all")) != "all":
        found["scope"] = scope
    if version := spec.get("method_hash", ""):
        found[FILE_VERSION] = version[:8]
    return found


def _without_evaluation(canonical: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in canonical.items()
        if name not in ("evaluation_seed", "mia_samples")
    }


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(
        json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
    ).hexdigest()[:24]
