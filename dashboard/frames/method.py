"""How the settings of a method were found, from its studies. No Streamlit."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dashboard.text import labels, units
from dashboard.text.labels import number
from mucore import catalog, titles
from mucore.tuning.study import Facts, Setting, Study

JUDGED, FEWER, OUT = "judged on three seeds", "judged on fewer seeds", "too much work, or failed"


@dataclass(frozen=True, eq=False)
class Found:
    """A study as the page shows it. `tried`, a row a setting: `score` in margins of the verdict,
    the mean over its seeds; `best` so far, NaN before the first that is judged; `work` as a share
    of Retrain's; `setting` in words; `outcome`. `original` is what doing nothing scores, `mean` the
    score of the setting that was chosen.
    """

    id: str
    title: str
    tried: pd.DataFrame
    original: float | None
    mean: float | None
    done: bool


def found(studies: Iterable[Study], facts: Iterable[Facts]) -> tuple[Found, ...]:
    """The studies that have trials."""
    shared = {str(each.task): each for each in facts}
    tried = [study for study in studies if study.trials]
    alike = Counter(_place(study.task) for study in tried)
    return tuple(
        _found(study, shared.get(str(study.task)), alone=alike[_place(study.task)] == 1)
        for study in tried
    )


def _found(study: Study, facts: Facts | None, *, alone: bool) -> Found:
    """`alone`: whether no other study is of this scenario, data set and model."""
    choice = study.choice()
    tried = pd.DataFrame(
        {
            "setting": labels.settings_text(each.values),
            "score": each.score,
            "work": each.work,
            "outcome": _outcome(each),
        }
        for each in study.settings
    )
    return Found(
        id=_place(study.task) if alone else f"{_place(study.task)}-{_digits(study.task)}",
        title=_title(study.task) if alone else f"{_title(study.task)} ({_apart(study.task)})",
        tried=tried.assign(best=pd.Series(study.falling(), dtype=float)),
        original=None if facts is None else facts.nothing(study.seed),
        mean=None if choice is None else choice.score,
        done=study.finished(),
    )


def _outcome(setting: Setting) -> str:
    return OUT if not setting.candidate else JUDGED if setting.judged else FEWER


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
    tried = units.count(len(one.tried), "setting")
    if one.mean is None:
        return f"{tried} tried, and none may be chosen{'' if one.done else ' yet'}."
    return f"The best of {tried} uses {one.mean:.2g} times the verdict's margin."


def frame(one: Found) -> pd.DataFrame:
    """A line a setting, text as shown."""
    return pd.DataFrame(
        {
            "No.": range(1, len(one.tried) + 1),
            "Setting": one.tried["setting"],
            "Share of the verdict's margin": one.tried["score"].map("{:.3g}".format),
            "Work, share of Retrain's": [number(each, "ratio") for each in one.tried["work"]],
            "Outcome": one.tried["outcome"],
        }
    )
