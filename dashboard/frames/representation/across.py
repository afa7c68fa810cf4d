"""AGL of the same methods on two data sets."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from dashboard import frames
from dashboard.text.presets import is_plain, presets, settings_across
from mucore import catalog
from mucore.verdicts import Judged


def whole_classes(everything: pd.DataFrame, chosen: pd.DataFrame) -> pd.DataFrame:
    """The runs of `everything` that forgot whole classes, with the methods and the presets
    (authors', tuned, own) of the runs `chosen`, and the references; none that is an experiment
    (`presets.is_plain`).
    """
    scenarios = [card.id for card in catalog.scenarios() if card.class_wise]
    runs = everything[everything["scenario"].isin(scenarios)]
    runs = runs.loc[[is_plain(text) for text in runs["parameters"]]]
    references = runs["method"].isin(["original", "retrain"])
    wanted = set(zip(chosen["method"], presets(chosen), strict=True))
    mine = pd.Series(
        [each in wanted for each in zip(runs["method"], presets(runs), strict=True)],
        index=runs.index,
    )
    return runs[references | mine]


def two_sets(
    x: pd.DataFrame,
    y: pd.DataFrame,
    values: pd.DataFrame,
    judged: Mapping[str, Judged] | None = None,
) -> list[tuple[frames.Row, float, float]]:
    """The methods that ran in both, `x` and `y` being the runs of one forget set each, as rows of
    `x`, with their AGL in either; what falls most from x to y comes first.
    """
    there, here = (_by_settings(runs, values, judged) for runs in (y, x))
    pairs = [
        (row, one.mean, there[settings][1].mean)
        for settings, (row, one) in here.items()
        if settings in there
    ]
    return sorted(pairs, key=lambda pair: (pair[2] - pair[1], pair[0].title))


def _by_settings(
    runs: pd.DataFrame, values: pd.DataFrame, judged: Mapping[str, Judged] | None
) -> dict[tuple[str, str], tuple[frames.Row, frames.Estimate]]:
    """The rows with an AGL by method and preset, which is the same on two data sets though the
    values are not; own settings by value.
    """
    settings = dict(zip(runs["key"], settings_across(runs), strict=True))
    found: dict[tuple[str, str], tuple[frames.Row, frames.Estimate]] = {}
    for row in frames.metric_rows(runs, values, ["agl"], judged=judged):
        if not row.reference and (value := row.cells["agl"].value) is not None:
            found.setdefault((row.method, settings[row.keys[0]]), (row, value))
    return found
