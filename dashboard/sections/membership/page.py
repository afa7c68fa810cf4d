"""Five membership attacks on every method, and one run sample by sample."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import data, frames, state
from dashboard.charts import dots
from dashboard.frames import attacks
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


def show(runs: pd.DataFrame, beside: DeltaGenerator) -> None:
    scenario, dataset = str(runs.iloc[0]["scenario"]), str(runs.iloc[0]["dataset"])
    values = data.metric_values(dataset=dataset, scenario=scenario)
    judged = data.judged(runs)
    metrics = membership_frames.METRICS
    rows = attacks.rows(runs, values, metrics, judged, run_filters.pinned())
    shown = [row for row in rows if membership_frames.attacked(row)]
    methods = sum(not row.reference for row in shown)
    with beside:
        everyone = methods > attacks.NEAREST and state.toggle(f"All {methods} methods", "compete")
        paper = printed(runs.iloc[0]) if state.toggle("The paper's numbers", "paper") else None
    figure = None
    if not messages.none_chosen(runs, **budget_frames.launch_query(runs, ())):
        if said := membership_frames.sentence(rows):
            header.answer(said)
        header.verdict_bar(rows)
        figure = draw(shown if everyone else attacks.first(shown), paper)
    one_run.show(runs, data.source(), judged)
    run_drawer.run_drawer(runs)
    numbers = membership_frames.attacks_frame(rows, paper)
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


def draw(rows: Sequence[frames.Row], paper: tables.Published | None) -> go.Figure | None:
    """The dots; a click on one chooses a run of that method, and the attack, for the part below."""
    printed = {} if paper is None else paper.values
    panels = [panel_of(rows, attack) for attack in ATTACKS]
    lines = [
        dots.line_of(
            row,
            [
                dots.mark_of(row, metric, 100, printed.get((row.method, metric)))
                for metric in membership_frames.METRICS
            ],
        )
        for row in rows
    ]
    if not lines:
        messages.empty("These runs have no membership numbers.", "Open the table", "results")
        return None
    run = state.param("run")
    chosen = next((row.id for row in rows if run in row.keys), "")
    figure, marks = clicks.dotted(lines, panels, "attacks", axis=AXIS, row=chosen)
    if paper is not None:
        st.caption(f"Grey ticks: printed by {paper.source}.", help=escape(paper.caption))
    if marks:
        keys = {row.id: row.keys for row in rows}
        state.set_param("run", keys[marks[0][0]][0])
        state.set_param("attack", None if marks[0][1] == ATTACKS[1] else marks[0][1])
        st.rerun()
    return figure


def panel_of(rows: Sequence[frames.Row], attack: str) -> dots.Panel:
    metric = f"mia_{attack}"
    base = next((row.mean(metric) for row in rows if row.method == "retrain"), None)
    half = frames.noise(rows, metric)
    return dots.Panel(
        name=attack,
        title=catalog.metric(metric).title.removesuffix(" MIA efficacy"),
        span=(0.0, 100.0),
        base=None if base is None else 100 * base,
        half_band=None if half is None else 100 * half,
        ticks=(0, 50, 100),
    )
