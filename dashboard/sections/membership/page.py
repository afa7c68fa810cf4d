"""Five membership attacks on every method, and one run sample by sample."""

from __future__ import annotations

import json
from typing import Any, Final

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import data, frames, state
from dashboard.charts import dots
from dashboard.frames import budget as budget_frames
from dashboard.frames import membership as membership_frames
from dashboard.papers import tables
from dashboard.sections.membership import one_run
from dashboard.text import labels, units
from dashboard.widgets import clicks, figures, header, messages, run_drawer, run_filters
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import provenance
from mucore import catalog
from mucore.metrics.membership import ATTACKS

QUESTION: Final = "Can an attacker still tell which samples were forgotten?"
AXIS: Final = "Forgotten samples called unseen, %"


def show(top: DeltaGenerator, chips: DeltaGenerator, beside: DeltaGenerator) -> None:
    source, runs = data.source(), data.unlearning_runs()
    if runs.empty:
        with top:
            messages.no_results(QUESTION, "Five attacks, one question.")
        return
    with chips:
        runs = run_filters.pick_runs(runs, first=run_filters.OPENS_ON)
    if runs.empty:
        with top:
            messages.none_finished(QUESTION, source)
        return
    with top:
        header.header(QUESTION, how_to_read(runs), source)
    scenario, dataset = str(runs.iloc[0]["scenario"]), str(runs.iloc[0]["dataset"])
    values = data.metric_values(dataset=dataset, scenario=scenario)
    judged = data.judged(runs)
    table = frames.results_table(
        runs,
        values[values["key"].isin(runs["key"])],
        view="value",
        sort=frames.USUAL,
        judged=judged,
        pinned=run_filters.pinned(),
    )
    with beside:
        everyone = len(table.methods) > membership_frames.NEAREST and state.toggle(
            f"All {len(table.methods)} methods", "compete"
        )
        paper = printed(runs.iloc[0]) if state.toggle("The paper's numbers", "paper") else None
    figure = None
    if not messages.none_chosen(runs, **budget_frames.launch_query(runs, ())):
        if said := membership_frames.sentence(table):
            header.answer(said)
        header.verdict_bar(table.methods)
        figure = draw(table, membership_frames.rows_shown(table, everyone=everyone), paper)
    one_run.show(runs, source, judged)
    run_drawer.run_drawer(runs)
    numbers = membership_frames.attacks_frame(table, paper)
    figures.numbers(numbers, f"membership-{scenario}", figure)
    provenance(runs)


def how_to_read(runs: pd.DataFrame) -> str:
    first = runs.iloc[0]
    forgotten = units.count(int(runs["forget_count"].median()), "sample")
    return "  \n".join(
        [
            escape(f"{labels.setup_text(first)}. {forgotten} to forget."),
            "Each attack guesses from a model's predictions whether it was trained on a sample.",
            "**Good is Retrain's value** (dashed), not 100 %: Retrain never saw these samples.",
            "**Grey cross**: on half of the runs or more the attack cannot tell retained from test "
            "samples, so its number is no evidence.",
            "**Grey area**: 95 % band of Retrains of other seeds. **Hollow**: an indication.",
            "Numbers as in MUBox, Tables 1 and 3 to 6. Click a mark for its run.",
        ]
    )


def printed(first: pd.Series) -> tables.Published | None:
    """The numbers of the paper that prints attacks for the scenario of the run `first`."""
    found = tables.with_attacks(
        str(first["scenario"]),
        dataset=str(first["dataset"]),
        model=str(first["model"]),
        parameters=json.loads(first["scenario_parameters"]),
    )
    return found[1] if found else None


def draw(table: frames.ResultsTable, rows: list[frames.Row], paper: tables.Published | None):
    """The dots; a click on one chooses a run of that method, and the attack, for the part below."""
    panels = [panel_of(table, attack) for attack in ATTACKS]
    lines = [
        dots.line_of(
            row,
            [
                dots.mark_of(row, f"mia_{attack}", 100, paper_value(paper, row, attack))
                for attack in ATTACKS
            ],
        )
        for row in rows
    ]
    if not any(mark for line in lines for mark in line.marks):
        messages.empty("These runs have no membership numbers.", "Open the table", "results")
        return None
    run = state.param("run")
    selected = next((row.id for row in table.rows if run in row.keys), "")
    look: dict[str, Any] = {"axis": AXIS, "dark": state.dark(), "selected": selected}
    figure = dots.draw(lines, panels, **look)
    marks = clicks.stacking(
        figure,
        dots.draw(lines, panels, stacked=True, **look),
        "attacks",
        alt=dots.alt_text(lines, panels, AXIS),
    )
    if paper is not None:
        st.caption(f"Grey ticks: printed by {paper.source}.", help=escape(paper.caption))
    row = table.row(marks[0][0]) if marks else None
    if row is not None:
        state.set_param("run", row.keys[0])
        state.set_param("attack", None if marks[0][1] == ATTACKS[1] else marks[0][1])
        st.rerun()
    return figure


def panel_of(table: frames.ResultsTable, attack: str) -> dots.Panel:
    half = table.noise.get(f"mia_{attack}")
    retrain = next((row for row in table.rows if row.method == "retrain"), None)
    value = None if retrain is None else retrain.cells[f"mia_{attack}"].value
    return dots.Panel(
        name=attack,
        title=catalog.metric(f"mia_{attack}").title.removesuffix(" MIA efficacy"),
        span=(0.0, 100.0),
        base=None if value is None else 100 * value.mean,
        half_band=None if half is None else 100 * half,
        ticks=(0, 50, 100),
    )


def paper_value(paper: tables.Published | None, row: frames.Row, attack: str) -> float | None:
    return None if paper is None else paper.values.get((row.method, f"mia_{attack}"))
