"""How the settings of a method were found, from its studies. No Streamlit."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from dashboard.text import labels, units
from dashboard.text.labels import number
from mucore import catalog, titles
from mucore.tuning.report import doing_nothing, further
from mucore.tuning.study import Facts, Study

Came = Literal["candidate", "still", "out"]
CAME: Mapping[Came, str] = {
    "candidate": "may be chosen",
    "still": "moved nothing",
    "out": "too much work, or failed",
}


@dataclass(frozen=True)
class Tried:
    """One setting on the first seed of a search; `score` in units of Retrain's spread."""

    score: float
    came: Came
    setting: str
    work: float


@dataclass(frozen=True)
class Found:
    """A study as the page shows it. `falling` is the best score so far after each trial, None
    before the first candidate; `original` is what doing nothing scores on the first seed,
    `further` whether the chosen setting scores worse than that over all its seeds.
    """

    id: str
    title: str
    tried: tuple[Tried, ...]
    falling: tuple[float | None, ...]
    original: float | None
    chosen: str
    mean: float | None
    done: bool
    further: bool


def found(studies: Iterable[Study], facts: Iterable[Facts], *, wanted: int) -> tuple[Found, ...]:
    """The studies that have trials; `wanted` of them make a search whole, or as many as came to a
    setting.
    """
    shared = {str(each.task): each for each in facts}
    tried = [study for study in studies if study.trials]
    alike = Counter(_place(study.task) for study in tried)
    return tuple(
        _found(study, shared.get(str(study.task)), wanted, alone=alike[_place(study.task)] == 1)
        for study in tried
    )


def _found(study: Study, facts: Facts | None, wanted: int, *, alone: bool) -> Found:
    """`alone`: whether no other study is of this scenario, data set and model."""
    choice = study.choice()
    ended = choice is not None and study.next_check() is None
    seed = {} if facts is None else facts.seeds.get(str(study.seed), {})
    return Found(
        id=_place(study.task) if alone else f"{_place(study.task)}-{_digits(study.task)}",
        title=_title(study.task) if alone else f"{_title(study.task)} ({_apart(study.task)})",
        tried=tuple(
            Tried(
                trial.score,
                "out" if trial.over or trial.ended else "still" if trial.still else "candidate",
                labels.settings_text(trial.values),
                trial.work,
            )
            for trial in study.first
        ),
        falling=tuple(study.falling()),
        original=seed.get("score"),
        chosen="" if choice is None else labels.settings_text(choice.values),
        mean=None if choice is None else choice.score,
        done=ended or study.finished(wanted),
        further=further(choice, doing_nothing(study, facts)),
    )


def _place(task: Mapping[str, Any]) -> str:
    return f"{task['scenario']}-{task['dataset']}-{task['model']}"


def _digits(task: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(task, sort_keys=True).encode()).hexdigest()[:8]


def _apart(task: Mapping[str, Any]) -> str:
    """What tells a task from others with its scenario, data set and model."""
    forgets = labels.forget_set_text(task["scenario_parameters"], task["dataset"])
    return f"{forgets}; {labels.recipe_text(task['recipe'])}"


def _title(task: Mapping[str, Any]) -> str:
    where = f"{titles.dataset(task['dataset'])}, {catalog.model(task['model']).title}"
    return f"{catalog.scenario(task['scenario']).title} on {where}"


def sentence(one: Found) -> str:
    """What a search came to."""
    tried = len(one.tried)
    useless = sum(each.came != "candidate" for each in one.tried)
    began = f"{units.count(tried, 'setting')} {'was' if tried == 1 else 'were'} tried"
    began += "" if one.done else " so far"
    left = f", of which {useless} moved nothing, took too much work or failed" if useless else ""
    if one.mean is None:
        return f"{began}{left}. None may be chosen{'' if one.done else ' yet'}."
    authors = one.tried[0]
    before = (
        f" the authors' setting has {authors.score:.2g} on the first seed"
        if authors.came == "candidate"
        else f" the authors' setting {_BUT[authors.came]} on the first seed"
    )
    far = ", further from Retrain than doing nothing is" if one.further else ""
    return (
        f"{began}{left}. Chosen: {one.chosen}, with a score of {one.mean:.2g} on average over "
        f"three seeds{far};{before}."
    )


_BUT = {"still": "moved nothing", "out": "took too much work or failed"}


def frame(one: Found) -> pd.DataFrame:
    """A line a trial of the first seed."""
    return pd.DataFrame(
        {
            "Trial": range(1, len(one.tried) + 1),
            "Setting": [each.setting for each in one.tried],
            "Distance, units of Retrain's spread": [f"{each.score:.3g}" for each in one.tried],
            "Work, share of Retrain's": [number(each.work, "ratio") for each in one.tried],
            "Outcome": [CAME[each.came] for each in one.tried],
        }
    )
