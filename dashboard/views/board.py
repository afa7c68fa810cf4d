"""Board: a suite's methods by division and task, from what has been run of it here."""

from __future__ import annotations

import streamlit as st

from dashboard import data, state
from dashboard.sections.board import all_tasks, one_task
from dashboard.text import labels, units
from dashboard.widgets import header, run_drawer, run_filters
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import provenance
from mucore.errors import MucoreError
from mucore.suite import site
from mucore.suite.board import Board, without
from mucore.suite.description import Suite, load, names
from mucore.suite.tables import Division

QUESTION = "Which methods forget in every task, and at what cost?"
EVERY = "all"


def page() -> None:
    source = data.source()
    suites = {name: load(name) for name in names()}
    top = st.container()
    columns = header.filter_row([1.6, 1.4, 2, 1.5])
    with columns[0]:
        suite = suites[
            state.select(
                "Suite",
                "suite",
                list(suites),
                default=next(filter(judged, suites), None),
                format_func=lambda name: suites[name].title,
            )
        ]
    with top:
        header.header(QUESTION, caption(suite), source)
    found = data.board(suite.id)
    if found is None or not found.divisions:
        empty(suite, found)
        run_drawer.closed()
        return
    divisions = {division.name: division for division in found.divisions}
    with columns[1]:
        division = divisions[
            state.segmented(
                "Division", "division", list(divisions), format_func=labels.preset_title
            )
        ]
    tables = {table.task.scenario: table for table in division.tables}
    with columns[2]:
        task = state.select(
            "Task",
            "task",
            [EVERY, *tables],
            format_func=lambda name: "All tasks" if name == EVERY else labels.scenario_title(name),
        )
    with columns[3]:
        run_filters.pick_hidden()
    answers = st.container()
    said(found, division, task)
    if hidden := run_filters.hidden():
        division = without(division, hidden)
        tables = {table.task.scenario: table for table in division.tables}
        if not any(table.lines for table in division.tables):
            st.info("Every method of this suite is hidden.", icon=":material/visibility_off:")
            run_drawer.closed()
            return
    name = f"{suite.id}-{division.name}-{task}"
    if task == EVERY:
        all_tasks.show(division, name, answers)
    else:
        one_task.show(tables[task], name, answers)
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


def judged(suite: str) -> bool:
    """Whether there is something to show of a suite: the page opens on the first of these."""
    try:
        found = data.board(suite)
    except MucoreError:  # said where somebody chooses this suite
        return False
    return found is not None and bool(found.divisions)


def caption(suite: Suite) -> str:
    first, last = suite.training_seeds[0], suite.training_seeds[-1]
    return (
        f"{suite.meaning} {units.count(len(suite.tasks), 'task')}, training seeds {first} to "
        f"{last}, each with an original and a Retrain of its own; frozen as {suite.id}, hash "
        f"{suite.hash}."
    )


def said(found: Board, division: Division, task: str) -> None:
    """How much of a division there is, while some of it is missing; of all tasks also which of them
    do not count.
    """
    about = next(about for name, about in found.packs if name == division.name)
    if about["there"] < about["asked"]:
        st.info(
            f"{about['there']:,} of {about['asked']:,} runs of this division are there. Verdicts "
            "and ranks rest on these alone; where a method lacks runs, the page says so.",
            icon=":material/hourglass_empty:",
        )
    for absent, reason in division.absent if task == EVERY else ():
        st.caption(escape(f"Not judged: {labels.scenario_title(absent.scenario)}. {reason}"))
    for table in division.tables:
        if task in (EVERY, table.task.scenario) and not table.telling:
            title, headline = labels.scenario_title(table.task.scenario), site.headline(table)
            st.caption(
                # of one task the headline stands above the table
                ("" if task != EVERY else f"{title}. {escape(headline)} ")
                + "The task counts towards no rank. "
                "Results takes further Retrains, too, where there are any."
            )
    for name, reason in found.absent:
        st.caption(
            f"Division {labels.preset_title(name)}: {escape(reason)} "
            f"`python -m mucore suite run {found.suite.id} --division {name} --jobs 2` runs it."
        )


def empty(suite: Suite, found: Board | None) -> None:
    with st.container(border=True):
        st.markdown(
            "Nothing of this suite has been run here yet."
            if found is None
            else "No task has its original and its Retrain yet, so nothing can be judged."
        )
        st.markdown(
            "This command runs it, resumes where it stopped when it is started again, and writes "
            "a pack that others can check. Finished runs show here whenever the page is opened:"
        )
        st.code(
            f"python -m mucore suite run {suite.id} --division authors --jobs 2", language="bash"
        )


page()
