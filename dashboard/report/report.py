"""The whole report of a selection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import pandas as pd

from dashboard.report.blocks import PARTS, Items, Report, Section
from dashboard.report.costs import cost_blocks, meanings
from dashboard.report.flags import flag_blocks
from dashboard.report.reproduce import command_blocks, configuration_blocks, repeats
from dashboard.report.results import budget_blocks, setting_sections
from dashboard.report.selection import settings
from dashboard.report.statistics import (
    computed_statistics,
    ranking_labels,
    rows_by_line,
    statistics_blocks,
)
from dashboard.report.summary import answers, asked, caveats
from dashboard.report.verdicts import method_blocks
from dashboard.text import units
from mucore import statistics
from mucore.errors import BadValue
from mucore.store.rows import Result

MAX_RUNS = 500  # more than this nobody reads, and a PDF of it takes minutes


def build(
    runs: pd.DataFrame,
    values: pd.DataFrame,
    results: Sequence[Result],
    *,
    made: datetime,
    references: Sequence[Result] = (),
    comparison: str = "",
) -> Report:
    """The whole report of `runs`. `values` are their metrics, `results` their records; every part
    is in it, `Report.only` picks some. `references` are what the store has beside them to judge
    them by (`mucore.verdicts.references_of`). `comparison` is the name and note of the comparison
    that they were made for.

    Raises `BadValue` where no run forgets anything, or where there are more runs than a reader can
    take in.
    """
    runs = runs[runs["scenario"].notna()]
    if runs.empty:
        raise BadValue("No run of this selection forgets anything, so there is nothing to report.")
    if len(runs) > MAX_RUNS:
        raise BadValue(
            f"{units.count(len(runs), 'run')} are too many for one report; at most {MAX_RUNS}. "
            "Choose fewer scenarios or methods."
        )
    values = values[values["key"].isin(runs["key"])]
    found = settings(runs, values, results, references)
    computed, untold = computed_statistics(runs, values)
    suspicions = next((each.suspicions for each in computed.values()), None)
    suspicions = statistics.suspicions(runs, values) if suspicions is None else suspicions
    labels = ranking_labels(found, runs)
    commands = repeats(found)
    sections = [
        Section("What was asked", (asked(found, runs, comparison),)),
        Section("The answer", (answers(found, suspicions, labels),), "answer"),
        Section("Read with care", (Items(caveats(found, runs, values)),)),
        Section("Results", ()),
    ]
    for place, setting in enumerate(found, start=1):
        sections += [replace(section, level=3) for section in setting_sections(place, setting)]
    sections += [
        Section("Across forget set sizes", budget_blocks(found), "budget"),
        Section("Flags and notes", flag_blocks(found, suspicions, labels), "flags"),
        Section("Cost", cost_blocks(found, values), "cost"),
        Section("How verdicts are made", method_blocks(found), "verdicts"),
        Section("What the numbers mean", (meanings(found, values),), "metrics"),
        Section(
            "Statistics",
            statistics_blocks(computed, untold, labels, rows_by_line(found, runs)),
            "statistics",
            wide=True,
        ),
        Section(
            "Configuration of every run",
            configuration_blocks(found, commands),
            "configuration",
            wide=True,
        ),
        Section("Commands that repeat the runs", command_blocks(commands), "commands"),
    ]
    return Report(sections=tuple(sections), demo=bool(runs["demo"].all()), made=made).only(
        list(PARTS)
    )
