"""Five membership attacks on every method, and one run sample by sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import data, frames, state
from dashboard.charts import dots
from dashboard.frames import attacks
from dashboard.frames import membership as membership_frames
from dashboard.sections.membership import one_run
from dashboard.text import labels, units
from dashboard.widgets import clicks, figures, header, messages, run_drawer, run_filters
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import provenance
from mucore.metrics.mia import ATTACKS

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
    if said := membership_frames.sentence(rows):
        header.answer(said)
    header.verdict_bar(rows)
    figure = draw(shown if everyone else attacks.first(shown))
    one_run.show(runs, judged)
    run_drawer.run_drawer(runs)
    figures.numbers(membership_frames.attacks_frame(rows), f"membership-{scenario}", figure)
    provenance(runs)


def how_to_read(runs: pd.DataFrame) -> str:
    first = runs.iloc[0]
    forgotten = units.count(int(runs["forget_count"].median()), "sample")
    return "  \n".join(
        [
            escape(f"{labels.setup_text(first)}. {forgotten} to forget."),
            "Each attack guesses from a model's predictions whether it was trained on a sample.",
            "**The goal is Retrain's value** (dashed), not 100 %: Retrain never saw these samples.",
            "**Grey cross**: in at least half the runs the attack cannot tell retained from test "
            "samples, so its number proves nothing.",
            "**Grey area**: 95 % band of Retrains of other seeds.",
            "**Hollow**: indicated, more seeds may change the verdict.",
            "Attacks as in MUBox, whose numbers are in Results. Click a mark for its run.",
        ]
    )


def draw(rows: Sequence[frames.Row]) -> go.Figure | None:
    """The dots; a click on one chooses a run of that method, and the attack, for the part below."""
    panels = [panel_of(rows, attack) for attack in ATTACKS]
    lines = [
        dots.line_of(row, [dots.mark_of(row, name, 100) for name in membership_frames.METRICS])
        for row in rows
    ]
    if not lines:
        messages.empty("These runs have no membership numbers.", "Open the table", "results")
        return None
    figure, clicked = clicks.dotted(rows, lines, panels, "attacks", axis=AXIS)
    if clicked:
        run, attack = clicked[0]
        state.set_param("run", run)
        state.set_param("attack", None if attack == ATTACKS[1] else attack)
        st.rerun()
    return figure


def panel_of(rows: Sequence[frames.Row], attack: str) -> dots.Panel:
    metric = f"mia_{attack}"
    base = next((row.mean(metric) for row in rows if row.method == "retrain"), None)
    half = frames.noise(rows, metric)
    return dots.Panel(
        name=attack,
        title=attacks.title(attack),
        span=(0.0, 100.0),
        limits=(0.0, 100.0),
        base=None if base is None else 100 * base,
        half_band=None if half is None else 100 * half,
        ticks=(0, 50, 100),
    )
