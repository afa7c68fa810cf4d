"""Lines of `mucore.statistics`: a method with one set of parameters over all scenarios, its title,
its run, and where it forgot.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from dashboard.text import labels
from mucore import catalog
from mucore.statistics import Statistics
from mucore.verdicts import Word


def line_title(line: str) -> str:
    """The title of a line of `ranking`: the method's, with what tells its sets of parameters
    apart.
    """
    method, _, extra = line.partition(" ")
    title, _ = labels.method_names(method)
    return f"{title} {extra}".strip()


def line_keys(runs: pd.DataFrame) -> dict[str, str]:
    """The run that stands for each line of `ranking`: the first of its first scenario, by its
    seeds; `runs` as `label_runs` names them.
    """
    seeds = ["training_seed", "unlearning_seed", "evaluation_seed"]
    order = {card.id: place for place, card in enumerate(catalog.scenarios())}
    found = runs.sort_values(
        ["scenario", *seeds], key=lambda each: each.map(order) if each.name == "scenario" else each
    )
    return found.groupby("line")["key"].first().to_dict()


def line_verdicts(runs: pd.DataFrame, words: Mapping[str, Word]) -> dict[tuple[str, str], bool]:
    """(setting, line) of `ranking` -> whether the word of the line's verdict, `words` by key,
    qualifies there and all its runs ended well; `runs` as `label_runs` names them.
    """
    made: dict[tuple[str, str], bool] = {}
    columns = (runs[name].tolist() for name in ("setting", "line", "key", "status"))
    for setting, line, key, status in zip(*columns, strict=True):
        made[setting, line] = (
            made.get((setting, line), True) and words.get(key) == "forgot" and status == "ok"
        )
    return made


def forgot_in(found: Statistics, qualified: Mapping[tuple[str, str], bool]) -> dict[str, int]:
    """In how many of the settings compared each method forgot; `qualified` as `line_verdicts` gives
    it.
    """
    settings = {setting for setting, _ in found.blocks}
    return {
        line: sum(qualified.get((setting, line), False) for setting in settings)
        for line in found.methods
    }
