"""Which settings of methods a page shows: those of a preset, or all."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pandas as pd

from dashboard import data
from dashboard.text import labels
from dashboard.text.presets import OWN, has_values, presets
from mucore.catalog import tuning
from mucore.runs import REFERENCES
from mucore.statistics.runs import SETTING

ALL = "all"
# what a reader may look at alone
_PRESETS = ("tuned", "tuned_elsewhere", "authors")
SETTINGS = {**{name: labels.METHOD_PRESETS[name] for name in _PRESETS}, OWN: "Own"}
NAMES = {ALL: "All", **SETTINGS}


def has_settings(runs: pd.DataFrame, settings: str) -> pd.Series:
    """Which runs have the settings of a preset, or none of a preset; the authors' are tuned, too,
    where a search found nothing better.
    """
    if settings == ALL:
        return pd.Series(True, index=runs.index)
    found = presets(runs)
    return found.eq(settings) | _as_tuned(runs) if settings == "tuned" else found.eq(settings)


def _as_tuned(runs: pd.DataFrame) -> pd.Series:
    # settings are found by the names of data alone
    columns = ("method", "parameters", *(name for name in SETTING if name != "hashes"))
    asked = list(zip(*(runs[name] for name in columns), strict=True))
    same = {each: _is_tuned(*map(str, each)) for each in set(asked)}
    return pd.Series([same[each] for each in asked], index=runs.index)


def _is_tuned(
    method: str, parameters: str, dataset: str, model: str, recipe: str, scenario: str, chosen: str
) -> bool:
    task = {"recipe": json.loads(recipe), "scenario_parameters": json.loads(chosen)}
    return any(
        has_values(method, parameters, found.values)
        and found.covers(dataset=dataset, model=model, scenario=scenario, **task)
        for found in tuning.settings(method)
    )


def settings_of(runs: pd.DataFrame) -> list[str]:
    """What a reader can choose of presets: nothing where there is but one."""
    used = set(presets(runs[~runs["method"].isin(REFERENCES)]))
    options = [name for name in SETTINGS if name in used]
    return [ALL, *options] if len(options) > 1 else []


def usual_settings(options: Sequence[str], *, experiments: bool = False) -> str:
    """What a page opens on: in the demo the tuned ones, where a search has had its runs; else the
    authors'. One of `experiments` needs the runs with changed settings, where there are any.
    """
    if not options or not data.source().demo or (experiments and OWN in options):
        return ALL
    return "tuned" if "tuned" in options else "authors"
