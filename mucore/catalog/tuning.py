"""The values of the preset `tuned`: what `mucore tune` found, task by task, and which of it serves
a run.

A task is a scenario with its parameters on a data set, model and recipe. A run takes the setting of
its very task; where there is none, that of the nearest task in which its method was tuned
(`nearest`), and is called tuned elsewhere. Settings come from tuned.json beside this file and from
the reader's home, where `mucore tune` writes what it found there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import compress, product
from pathlib import Path
from typing import Any, Final

from mucore.errors import BadFile
from mucore.userfiles.paths import default_home

FILE = "tuned.json"
SHIPPED = Path(__file__).with_name(FILE)  # written by scripts/make_tuned.py from data/studies
# By what tasks differ, the gravest first; `Tuned.distance` has a number for each.
PARTS: Final = ("scenario", "data", "model", "recipe", "scenario_parameters", "weights")
_TASK = (
    *("dataset", "data_hash", "model", "preset", "scenario"),
    *("recipe", "scenario_parameters", "original_hash", "pretrained_hash"),
)


@dataclass(frozen=True, kw_only=True)
class TuningTask:
    """What a setting is asked for. `dataset` is an id, without a path; `data_hash` names a user's
    own data, "" catalogued ones; `recipe` and `scenario_parameters` are as JSON has them, every
    parameter among them; the last two name files of weights, "" where there are none.
    """

    dataset: str = ""
    data_hash: str = ""
    model: str = ""
    recipe: Mapping[str, Any] = field(default_factory=dict)
    scenario: str = ""
    scenario_parameters: Mapping[str, Any] = field(default_factory=dict)
    original_hash: str = ""
    pretrained_hash: str = ""


@dataclass(frozen=True, kw_only=True)
class Tuned(TuningTask):
    """A setting that was found for a method, and the task that it was found for; `preset` is what
    its recipe was made from. `trials` are the settings that its search tried, `cap` the share of
    Retrain's gradient samples that each might take, `open` says that nothing the method can do
    costs as little as others may.
    """

    method: str
    values: Mapping[str, Any]
    preset: str
    trials: int = 0
    cap: float = 0.0
    open: bool = False

    def of(self, task: TuningTask) -> bool:
        """Whether this is the very task."""
        return not any(self.distance(task))

    def covers(self, *, dataset: str, **task: Any) -> bool:
        """Whether it was sought for this task, as far as stored runs tell: of a user's own data by
        name, and whoever trained the original.
        """
        mine = {
            name: getattr(self, name) for name in ("data_hash", "original_hash", "pretrained_hash")
        }
        kind = dataset.partition(":")[0]
        return self.dataset == kind and self.of(TuningTask(dataset=kind, **mine, **task))

    def distance(self, task: TuningTask) -> tuple[float, ...]:
        """How far its task is from another, by `PARTS`: scenario, data, model, then in how many
        points recipe and parameters differ, then weights that training starts from.
        """
        same = self.scenario == task.scenario
        far = 0 if same else 1 if _kind(self.scenario) == _kind(task.scenario) else 2
        data = "data_hash" if self.data_hash else "dataset"
        return (
            far,
            getattr(self, data) != getattr(task, data),
            self.model != task.model,
            _points(self.recipe, task.recipe),
            # those of another scenario are of other things
            _points(self.scenario_parameters, task.scenario_parameters) if same else 0,
            (self.original_hash, self.pretrained_hash)
            != (task.original_hash, task.pretrained_hash),
        )

    @property
    def title(self) -> str:
        """ "one_class on digits, mlp, quick (scenario.budget=0.5)", in brackets what is not as
        usual.
        """
        where = ", ".join(filter(None, (self.dataset, self.model, self.preset)))
        changes = ", ".join(f"{name}={value}" for name, value in self.changes().items())
        return f"{self.scenario} on {where}" + (f" ({changes})" if changes else "")

    def changes(self) -> dict[str, Any]:
        """What its task has otherwise than its preset and the scenario's card, by the names of
        `--set`: "scenario.budget", "recipe.epochs".
        """
        recipe, chosen = _usual(self.preset, self.scenario)
        parts = (("scenario", self.scenario_parameters, chosen), ("recipe", self.recipe, recipe))
        return {
            f"{owner}.{name}": value
            for owner, mine, usual in parts
            for name, value in mine.items()
            if name != "revision" and usual.get(name, ...) != value
        }


def shipped() -> tuple[Tuned, ...]:
    """What comes with mucore."""
    return _read(SHIPPED, *_stamp(SHIPPED))


def own() -> tuple[Tuned, ...]:
    """What the reader's searches found."""
    return at(default_home())


def at(home: Path) -> tuple[Tuned, ...]:
    """What searches in a home found. Raises `BadFile`."""
    path = home / FILE
    return _read(path, *_stamp(path))


def settings(method: str) -> tuple[Tuned, ...]:
    """All tuned settings of a method, the reader's own first."""
    return tuple(each for each in (*own(), *shipped()) if each.method == method)


def nearest(method: str, task: TuningTask) -> Tuned | None:
    """The setting of a task, or of the nearest one in which the method was tuned; the reader's own
    before what comes with mucore. None where nothing is known.
    """
    return min(settings(method), key=lambda each: each.distance(task), default=None)


@dataclass(frozen=True)
class Borrowed:
    """Methods that have no tuned setting of a scenario's task and take that of another one; `parts`
    (of `PARTS`) say by what the two differ.
    """

    scenario: str
    methods: tuple[str, ...]
    source: Tuned
    parts: tuple[str, ...]


def borrowed(methods: Iterable[str], tasks: Iterable[TuningTask]) -> list[Borrowed]:
    """Which runs with the preset `tuned` take the setting of another task than theirs."""
    groups: dict[tuple[str, str, tuple[str, ...]], dict[str, Tuned]] = {}
    for task, method in product(tasks, methods):
        found = nearest(method, task)
        if found is not None and not found.of(task):
            parts = tuple(compress(PARTS, found.distance(task)))
            groups.setdefault((task.scenario, found.title, parts), {})[method] = found
    return [
        Borrowed(scenario, tuple(found), next(iter(found.values())), parts)
        for (scenario, _, parts), found in groups.items()
    ]


def stamps() -> tuple[tuple[int, int], ...]:
    """What moves when tuned settings change: of what comes with mucore, and of the home."""
    return _stamp(SHIPPED), _stamp(default_home() / FILE)


def content(found: Iterable[Tuned]) -> dict[str, Any]:
    """Settings as the file has them, one task after another; of two for one task the first."""
    tasks: dict[str, Any] = {}
    for each in found:
        search = {name: getattr(each, name) for name in ("values", "trials", "cap", "open")}
        task = {name: getattr(each, name) for name in _TASK}
        kept = tasks.setdefault(json.dumps(task, sort_keys=True), {**task, "methods": {}})
        kept["methods"].setdefault(each.method, search)
    return {"tasks": list(tasks.values())}


def _points(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> int:
    """In how many values two differ. The revision of a recipe is none: it moves last digits, so
    what was found under one serves another.
    """
    names = (mine.keys() | theirs.keys()) - {"revision"}
    return sum(mine.get(name, ...) != theirs.get(name, ...) for name in names)


def _usual(preset: str, scenario: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The recipe of a preset and the scenario's parameters under it, as JSON has them."""
    from mucore import catalog  # whose cards of methods are read before these are asked for
    from mucore.runs import make_recipe

    chosen = {each.name: each.default for each in catalog.scenario(scenario).parameters}
    chosen |= catalog.preset(preset).scenarios.get(scenario, {})
    return make_recipe(preset).model_dump(mode="json"), json.loads(json.dumps(chosen))


def _kind(scenario: str) -> str:
    """What scenarios ask for alike: whole classes, poison to undo, persons, or samples."""
    from mucore import catalog  # whose cards of methods are read before these are asked for
    from mucore.catalog.scenarios import PERSONS

    if not scenario:
        return ""
    card = catalog.scenario(scenario)
    if card.poisons:
        return "poison"
    if card.class_wise:
        return "classes"
    return "persons" if card.id in PERSONS else "samples"


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=8)
def _read(path: Path, changed: int, size: int) -> tuple[Tuned, ...]:
    if not changed:
        return ()
    try:
        tasks = json.loads(path.read_text(encoding="utf-8"))["tasks"]
        return tuple(
            Tuned(method=method, **{name: task[name] for name in _TASK}, **found)
            for task in tasks
            for method, found in task["methods"].items()
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise BadFile(
            f"{path} holds no tuned settings: {error}. Remove it, or put it back as it was."
        ) from None
