"""The values of the preset `tuned`: what `mucore tune` found, task by task, and which of it serves
a run.

A task is a scenario on a data set, model and recipe. A run takes the setting of its own task; where
there is none, that of the nearest task in which its method was tuned (`nearest`). Settings come
from tuned.json beside this file and from the reader's home, where `mucore tune` writes what it
found there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from mucore.errors import BadFile
from mucore.userfiles.paths import default_home

FILE = "tuned.json"
SHIPPED = Path(__file__).with_name(FILE)  # written by scripts/make_tuned.py from data/studies


@dataclass(frozen=True)
class Tuned:
    """A setting that was found for a method, and the task that it was found for: two scenarios
    where one setting was sought for both. `data_hash` names a user's own data, "" catalogued ones.
    """

    method: str
    values: Mapping[str, Any]
    dataset: str
    data_hash: str
    model: str
    preset: str
    scenarios: tuple[str, ...]
    trials: int = 0

    def of(self, *, dataset: str, data_hash: str, model: str, scenario: str) -> bool:
        """Whether this is the very task."""
        return (
            self.scenarios == (scenario,)
            and self.model == model
            and self._same_data(dataset, data_hash)
        )

    def covers(self, *, dataset: str, model: str, scenario: str) -> bool:
        """Whether it was sought for this task, alone or together with another scenario; of a user's
        own data by name alone.
        """
        return (
            scenario in self.scenarios
            and self.model == model
            and self.dataset == dataset.partition(":")[0]
        )

    def _same_data(self, dataset: str, data_hash: str) -> bool:
        if self.data_hash:
            return self.data_hash == data_hash
        return self.dataset == dataset

    def distance(
        self, *, dataset: str, data_hash: str, model: str, scenario: str
    ) -> tuple[int, bool, bool]:
        """How far its task is from another: by scenario, then data, then model."""
        kinds = {_kind(each) for each in self.scenarios}
        far = (
            0
            if self.scenarios == (scenario,)
            else 1
            if scenario in self.scenarios
            else 2
            if _kind(scenario) in kinds
            else 3
        )
        return far, not self._same_data(dataset, data_hash), self.model != model

    @property
    def title(self) -> str:
        """ "one_class on digits, mlp"; of one that is for no task in particular, ""."""
        if not self.scenarios:
            return ""
        return f"{' and '.join(self.scenarios)} on {self.dataset}, {self.model}"


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


def nearest(
    method: str,
    *,
    dataset: str = "",
    data_hash: str = "",
    model: str = "",
    scenario: str = "",
    otherwise: Mapping[str, Any] | None = None,
) -> Tuned | None:
    """The setting of a task, or of the nearest one in which the method was tuned; the reader's own
    before what comes with mucore.

    `otherwise` are values that a card states for no task in particular, taken where there are no
    others; None where nothing is known.
    """
    task = {
        "dataset": dataset.partition(":")[0],
        "data_hash": data_hash,
        "model": model,
        "scenario": scenario,
    }
    found = min(settings(method), key=lambda each: each.distance(**task), default=None)
    if found is None and otherwise:
        return Tuned(method, otherwise, "", "", "", "", ())
    return found


@dataclass(frozen=True)
class Borrowed:
    """Methods that have no tuned setting of a scenario's task and take that of another one."""

    scenario: str
    methods: tuple[str, ...]
    source: Tuned


def borrowed(
    methods: Iterable[str],
    scenarios: Iterable[str],
    *,
    dataset: str,
    data_hash: str,
    model: str,
) -> list[Borrowed]:
    """Which runs with the preset `tuned` take the setting of another task than theirs."""
    groups: dict[tuple[str, str], list[Tuned]] = {}
    for scenario in scenarios:
        for method in methods:
            name = dataset.partition(":")[0]
            found = nearest(
                method, dataset=name, data_hash=data_hash, model=model, scenario=scenario
            )
            if found is not None and not found.of(
                dataset=name, data_hash=data_hash, model=model, scenario=scenario
            ):
                groups.setdefault((scenario, found.title), []).append(found)
    return [
        Borrowed(scenario, tuple(each.method for each in found), found[0])
        for (scenario, _), found in groups.items()
    ]


def stamps() -> tuple[tuple[int, int], ...]:
    """What moves when tuned settings change: of what comes with mucore, and of the home."""
    return _stamp(SHIPPED), _stamp(default_home() / FILE)


def content(found: Iterable[Tuned]) -> dict[str, Any]:
    """Settings as the file has them, one task after another; of two for one task the first."""
    tasks: dict[tuple[Any, ...], dict[str, Any]] = {}
    for each in found:
        key = (each.dataset, each.data_hash, each.model, each.preset, each.scenarios)
        names = ("dataset", "data_hash", "model", "preset", "scenarios")
        task = tasks.setdefault(key, {**dict(zip(names, key, strict=True)), "methods": {}})
        task["methods"].setdefault(
            each.method, {"values": dict(each.values), "trials": each.trials}
        )
    return {"tasks": list(tasks.values())}


def _kind(scenario: str) -> str:
    """What scenarios ask for alike: whole classes, poison to undo, persons, or samples."""
    from mucore import catalog  # whose cards of methods are read before these are asked for
    from mucore.catalog.metrics.persons import PERSONS
    from mucore.errors import UnknownName

    try:
        card = catalog.scenario(scenario)
    except UnknownName:
        return ""
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
        return tuple(_settings(json.loads(path.read_text(encoding="utf-8"))))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadFile(
            f"{path} holds no tuned settings: {error}. Remove it, or put it back as it was."
        ) from None


def _settings(content: Mapping[str, Any]) -> Iterator[Tuned]:
    for task in content["tasks"]:
        where = {name: task[name] for name in ("dataset", "data_hash", "model", "preset")}
        for method, found in task["methods"].items():
            yield Tuned(
                method=method,
                values=dict(found["values"]),
                trials=int(found["trials"]),
                scenarios=tuple(task["scenarios"]),
                **where,
            )
