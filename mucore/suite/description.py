"""A suite: tasks, seeds, metrics and divisions of a benchmark, frozen as data with a hash.

The files lie in mucore/catalog/suites and are made by scripts/make_suites.py. A suite never
changes: another one is a new version, with a name of its own, and results of the two never mix.
"""

from __future__ import annotations

import hashlib
import json
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from mucore import catalog
from mucore.errors import BadFile, BadValue, UnknownName, said
from mucore.runs import make_recipe
from mucore.runs.spec import ENGINE_REVISION
from mucore.suite import scores

FOLDER = Path(catalog.__file__).with_name("suites")
UNTRIED = (
    "Untried on real data: nobody has run it on more than drawn images in files of its layout."
)


class Task(BaseModel):
    """A scenario on a data set, model and recipe, with the content of the first and of the set
    that is forgotten. `revisions` are those of engine, data set, model and scenario.

    Where the data were not at hand, `data_hash` is the published archive's checksum ("md5:..."),
    without which no loader reads it, and `forget_hash` is empty: order and seed decide it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    dataset: str
    data_hash: str  # SHA-256 of what the loader gives, before anything is poisoned
    sizes: dict[str, int]  # samples of each split
    model: str
    preset: str
    recipe: dict[str, Any]
    scenario: str
    scenario_parameters: dict[str, Any]
    forget_hash: str
    forget_count: int
    revisions: dict[str, int]

    @property
    def id(self) -> str:
        return f"{self.scenario}-{self.dataset}"

    @property
    def untried(self) -> bool:
        return not self.forget_hash

    @property
    def title(self) -> str:
        return f"{self.scenario} on {self.dataset}, {self.model}"


class Suite(BaseModel):
    """What a suite file says. `cap` is the share of Retrain's gradient samples that a trial of a
    search may take; `divisions` say in a sentence where settings come from; `methods` are those
    that run where none are named (none: all).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    title: str
    meaning: str
    divisions: dict[str, str]
    tasks: tuple[Task, ...]
    training_seeds: tuple[int, ...]
    unlearning_seed: int
    evaluation_seed: int
    mia_samples: int
    metrics: dict[str, int]  # revisions of their cards
    trials: int
    cap: float
    objective_revision: int
    methods: tuple[str, ...] = ()

    @cached_property
    def hash(self) -> str:
        """24 hexadecimal digits that name the content."""
        content = self.model_dump(mode="json", exclude_defaults=True)
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    @property
    def caveat(self) -> str:
        """A sentence for whoever looks at it; "" where there is nothing to say."""
        return UNTRIED if any(task.untried for task in self.tasks) else ""

    def task(self, dataset: str, scenario: str | None) -> Task | None:
        return next((t for t in self.tasks if (t.dataset, t.scenario) == (dataset, scenario)), None)


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def load(name: str) -> Suite:
    """The suite of that name. Raises `UnknownName`."""
    if name not in names():
        raise UnknownName("suite", name, names())
    return _read(FOLDER / f"{name}.json")


@lru_cache(maxsize=8)
def _read(path: Path) -> Suite:
    return Suite.model_validate_json(path.read_text(encoding="utf-8"))


def division(suite: Suite, name: str) -> str:
    """The name, if it is one of the suite's divisions. Raises `UnknownName`."""
    if name not in suite.divisions:
        raise UnknownName(f"division of {suite.id}", name, suite.divisions)
    return name


def changed(suite: Suite) -> list[str]:
    """What this mucore has otherwise than the suite was frozen with, each as words; empty where
    results of the two compare.
    """
    here = {card.id: card.revision for card in catalog.metrics()}
    found = [(f"the metric {name}", then, here.get(name)) for name, then in suite.metrics.items()]
    found.append(("the score", suite.objective_revision, scores.REVISION))
    recipes = []
    for task in suite.tasks:
        now = revisions(task.dataset, task.model, task.scenario)
        found += [
            (f"the {name} of {task.title}", then, now.get(name))
            for name, then in task.revisions.items()
        ]
        if make_recipe(task.preset).model_dump(mode="json") != task.recipe:
            recipes.append(f"the recipe {task.preset} is another")
    said = [
        f"{what} had revision {then} and has {now or 'none'}"
        for what, then, now in found
        if then != now
    ]
    return list(dict.fromkeys(said + recipes))


def check(suite: Suite) -> None:
    """Raise `BadValue` where this mucore would not give the results that the suite asks for."""
    if found := changed(suite):
        raise BadValue(
            f"{suite.id} was frozen otherwise than this mucore is: {'; '.join(found[:3])}. A "
            "changed suite is a new version: use the mucore that has this one, or a newer suite "
            "(mucore suite list)."
        )


def revisions(dataset: str, model: str, scenario: str) -> dict[str, int]:
    """Of what decides a task's numbers beside methods and metrics."""
    return {
        "engine": ENGINE_REVISION,
        "dataset": catalog.dataset(dataset).revision,
        "model": catalog.model(model).revision,
        "scenario": catalog.scenario(scenario).revision,
    }


def same_suite(content: Any) -> Suite:
    """The suite that a pack says it is of, `content` as its file has it. Raises `BadFile` where
    this mucore has none of that name or another one under it.
    """
    try:
        name, digest = content["id"], content["hash"]
    except (KeyError, TypeError):
        raise BadFile("This is no pack of a suite: it does not say which one it is of.") from None
    try:
        suite = load(name)
    except UnknownName as error:
        raise BadFile(f"{error} The pack may be of a newer mucore.") from None
    if digest != suite.hash:
        raise BadFile(
            f"The pack was made for {suite.id} with the hash {said(digest)}, but here it has "
            f"{suite.hash}. A changed suite is a new version, so these results do not compare."
        )
    return suite
