"""Which runs are replayed: one, or two beside each other, those whose replay is ready first."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pandas as pd

from dashboard import state
from dashboard.frames import compare as compare_frames
from dashboard.frames.replay import has_steps
from dashboard.widgets import run_filters
from mucore.statistics import SETTING

NONE = "none"
READY = "ready"


def replayable(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs that have steps of one network to go through, by method: no original, no file of
    weights, no ensemble.
    """
    return runs[[has_steps(str(method)) for method in runs["method"]]]


def opening(runs: pd.DataFrame, ready: Collection[str]) -> str:
    """The run whose setting the page opens on: the one in the address, else a ready one of the
    setting with most methods ready.
    """
    if (asked := state.param("key")) in set(runs["key"]):
        return asked
    mine = runs[runs["key"].isin(ready)]
    if mine.empty:
        return ""
    methods = mine.groupby(list(SETTING))["method"].transform("nunique")
    return str(
        mine.loc[methods == methods.max()].sort_values("finished", kind="stable")["key"].iloc[-1]
    )


def pick(
    runs: pd.DataFrame, every: pd.DataFrame, ready: Collection[str]
) -> tuple[list[str], dict[str, str]]:
    """The keys of the chosen runs, one or two, and their titles by key. Parameters: key,
    other.

    On offer are `runs`, which the filters leave, and of the same setting those that are ready or
    named in the address.
    """
    first = runs.iloc[0]
    same = every
    for column in SETTING:
        same = run_filters.keep(same, column, first[column])
    wanted = {*ready, state.param("key"), state.param("other")}
    offered = compare_frames.in_order(
        same[same["key"].isin(runs["key"]) | same["key"].isin(wanted)]
    )
    offered = replayable(offered)
    titles = compare_frames.labels(offered, full=False)
    order = sorted(titles, key=lambda key: key not in ready)
    usual, beside = usual_pair(offered, [key for key in order if key in ready])

    def name(key: str) -> str:
        return (
            titles[key] + (f" · {READY}" if key in ready else "")
            if key in titles
            else "No second run"
        )

    look: dict[str, Any] = {"format_func": name, "label_visibility": "collapsed", "width": 260}
    key = state.select("Run", "key", order, default=usual, **look)
    others = [NONE, *(each for each in order if each != key)]
    other = state.select(
        "Beside it", "other", others, default=beside if beside != key else usual, **look
    )
    keys = [each for each in (key, other) if each in titles]
    return keys, compare_frames.labels(
        offered[offered["key"].isin(keys)], full=False, among=offered
    )


def usual_pair(offered: pd.DataFrame, ready: list[str]) -> tuple[str | None, str]:
    """The runs that a reader sees first: two ready ones of different methods and one seed where
    there are any, methods before Retrain.
    """
    lines = offered.set_index("key")
    if not ready:
        methods = offered[offered["method"] != "retrain"]
        return (None if methods.empty else str(methods["key"].iloc[0])), NONE
    known = sorted(ready, key=lambda key: str(lines.at[key, "method"]) == "retrain")
    first = known[0]
    others = [key for key in known if lines.at[key, "method"] != lines.at[first, "method"]]
    others.sort(key=lambda key: lines.at[key, "training_seed"] != lines.at[first, "training_seed"])
    return first, others[0] if others else NONE
