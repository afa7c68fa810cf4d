"""A suite's methods by division and task, from what has been run of it here."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from dashboard import data
from dashboard.sections.results import tabs
from dashboard.sections.results.board import all_tasks, one_task
from dashboard.text import labels
from dashboard.widgets import header, run_drawer, run_filters
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import provenance
from dashboard.widgets.run_filters import Menu
from mucore.errors import MucoreError
from mucore.suite.board import Board, Division, without
from mucore.suite.description import Suite, load, names

QUESTION = "Which methods forget in every task, and at what cost?"
HOW = """A suite is a frozen list of tasks. It compares with the Retrains of its own
seeds, the table with all, so verdicts may differ.  
**Distance**: gaps to Retrain in units of how far two Retrains are apart.  
**Work**: samples read, as a share of Retrain's.  
**?**: indicated, more seeds may change the verdict."""
EVERY = "all"


def show(source: data.Source, top: st.delta_generator.DeltaGenerator) -> None:
    suites = {name: load(name) for name in names()}
    with top:
        header.header(QUESTION, HOW, source)
    chips = run_filters.chip_line("suite", "division", "task", "methods")
    usual = next(filter(judged, suites), None)
    suite = suites[pick(chips, "suite", {n: each.title for n, each in suites.items()}, usual)]
    found = data.board(suite.id)
    if suite.caveat:
        st.caption(f":material/experiment: {suite.caveat}")
    if found is None or not found.divisions:
        tabs.answer("")
        empty(suite, found)
        run_drawer.closed()
        return
    divisions = {division.name: division for division in found.divisions}
    titles = {name: labels.preset_title(name) for name in divisions}
    division = divisions[pick(chips, "division", titles)]
    tables = {table.task.scenario: table for table in division.tables}
    every = {EVERY: "All tasks", **{name: labels.scenario_title(name) for name in tables}}
    task = pick(chips, "task", every)
    with chips["methods"]:
        run_filters.pick_hidden()
    if hidden := run_filters.hidden():
        division = without(division, hidden)
        tables = {table.task.scenario: table for table in division.tables}
        if not any(table.lines for table in division.tables):
            tabs.answer("Every method of this suite is hidden.")
            run_drawer.closed()
            return
    name = f"{suite.id}-{division.name}-{task}"
    if task == EVERY:
        all_tasks.show(division, name)
    else:
        one_task.show(tables[task], name)
    said(found, division, task)
    keys = {
        run.key
        for table in division.tables
        for line in (table.retrain, table.original, *table.lines)
        for run in line.runs.values()
    }
    runs = data.unlearning_runs()
    runs = runs[runs["key"].isin(keys)]
    run_drawer.run_drawer(runs)
    provenance(runs)


def pick(
    chips: Mapping[str, st.delta_generator.DeltaGenerator],
    name: str,
    options: Mapping[str, str],
    usual: str | None = None,
) -> str:
    """A choice behind a chip. Parameter: its `name`."""
    menu = Menu(name.title(), name, list(options), options.__getitem__, usual)
    value = menu.value
    with chips[name], run_filters.chip(name, menu.label, options[value]):
        menu.draw()
    return value


def judged(suite: str) -> bool:
    """Whether there is something to show of a suite: the page opens on the first of these."""
    try:
        found = data.board(suite)
    except MucoreError:  # said where somebody chooses this suite
        return False
    return found is not None and bool(found.divisions)


def said(found: Board, division: Division, task: str) -> None:
    """How much of a division there is, and which tasks do not count."""
    about = next(about for name, about in found.packs if name == division.name)
    if about["there"] < about["asked"]:
        st.caption(
            f":material/hourglass_empty: {about['there']:,} of {about['asked']:,} runs of this "
            "division are there."
        )
    for absent, reason in division.absent if task == EVERY else ():
        st.caption(escape(f"Not judged: {labels.scenario_title(absent.scenario)}. {reason}"))
    mute = [table for table in division.tables if not table.telling]
    if mute and task == EVERY:
        titles = ", ".join(labels.scenario_title(table.task.scenario) for table in mute)
        st.caption(escape(f"Not ranked, since no verdict is possible: {titles}."))
    for name in found.absent:
        st.caption(
            f"Division {labels.preset_title(name)} has no runs: "
            f"`python -m mucore suite run {found.suite.id} --division {name} --jobs 2`"
        )


def empty(suite: Suite, found: Board | None) -> None:
    with st.container(border=True):
        st.markdown(
            "This suite has not been run here yet. This command runs it:"
            if found is None
            else "No task has its original and its Retrain yet. This command resumes the suite:"
        )
        st.code(
            f"python -m mucore suite run {suite.id} --division authors --jobs 2", language="bash"
        )
