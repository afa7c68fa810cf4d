"""Efficacy: how much information about the forgotten samples is left in the weights (Becker &
Liebig).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import data, frames, state
from dashboard.charts import dots, two_metrics
from dashboard.charts.parts import axes
from dashboard.frames import attacks
from dashboard.frames import efficacy as efficacy_frames
from dashboard.text import labels
from dashboard.widgets import clicks, figures, header, messages, run_drawer, run_filters
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import provenance
from mucore.metrics.mia import ATTACKS

QUESTION: Final = "How much do the weights still hold about the forgotten samples?"
AXIS: Final = "log₁₀ efficacy (lower: less exposed). Tick: bound"


def show(runs: pd.DataFrame, beside: DeltaGenerator) -> None:
    scenario, dataset = str(runs.iloc[0]["scenario"]), str(runs.iloc[0]["dataset"])
    values = data.metric_values(dataset=dataset, scenario=scenario)
    judged = data.judged(runs)
    rows = attacks.rows(runs, values, efficacy_frames.METRICS, judged, run_filters.pinned())
    measured = [row for row in rows if row.mean("efficacy") is not None]
    if not measured:
        unmeasured(rows)
        provenance(runs)
        return
    with beside:
        methods = sum(not row.reference for row in measured)
        everyone = methods > attacks.NEAREST and state.toggle(f"All {methods} methods", "compete")
    if said := efficacy_frames.sentence(rows):
        header.answer(said)
    header.verdict_bar(rows)
    figure = draw(measured if everyone else attacks.first(measured))
    against_membership(rows)
    run_drawer.run_drawer(runs)
    figures.numbers(efficacy_frames.table(rows), f"efficacy-{scenario}", figure)
    provenance(runs)


def how_to_read(runs: pd.DataFrame) -> str:
    return "  \n".join(
        [
            escape(f"{labels.setup_text(runs.iloc[0])}."),
            "**Efficacy**: 1 / information (squared gradients) that the weights hold about the "
            "forget set. **Bound**: the same from the mean gradient; never lower.",
            "**Retrain's value is the goal.** Lower is not better: a damaged model has large "
            "gradients everywhere.",
            "**Grey area**: 95 % band of Retrains of other seeds.",
            "**Hollow**: indicated, more seeds may change the verdict.",
            "After Becker & Liebig, 2022. Click a mark for its run.",
        ]
    )


def draw(rows: Sequence[frames.Row]) -> go.Figure:
    """Efficacy and its bound by method; a click opens the first run."""
    lines = [
        dots.line_of(row, [dots.mark_of(row, "efficacy", tick=row.mean("efficacy_bound"))])
        for row in rows
    ]
    lines[:0] = [
        dots.Line(key="", title="Before training", marks=(dots.Mark(value),))
        for row in rows
        if (value := row.mean("efficacy_untrained")) is not None
    ]
    marks = [mark for line in lines for mark in line.marks if mark]
    ends = [x for mark in marks for x in (mark.value, mark.tick) if x is not None]
    panel = dots.Panel(
        name="efficacy",
        title="",
        span=axes.padded(ends, 0.06, 0.2),
        base=next((row.mean("efficacy") for row in rows if row.method == "retrain"), None),
        half_band=frames.noise(rows, "efficacy"),
    )
    figure, clicked = clicks.dotted(rows, lines, [panel], "efficacy_dots", axis=AXIS)
    clicks.open_run(clicked)
    return figure


def against_membership(rows: Sequence[frames.Row]) -> None:
    st.subheader("Against membership inference", anchor=False)
    attack = state.segmented(
        "Attack",
        "attack",
        list(ATTACKS),
        default="entropy",
        format_func=attacks.title,
        label_visibility="collapsed",
    )
    measures = two_metrics.Measures(
        x="efficacy",
        y=f"mia_{attack}",
        across="log₁₀ efficacy: lower is less exposed",
        up="Forgotten samples called unseen, %",
        percent=True,
    )
    places = two_metrics.places(rows, measures)
    if not places:
        st.markdown("No run has both an efficacy and a number of this attack.")
        return
    look: dict[str, Any] = {"dark": state.dark(), "selected": state.params("run")}
    figure = two_metrics.draw(rows, places, measures, **look)
    alt = two_metrics.alt_text(rows, places, measures)
    clicks.chart(figure, "efficacy_membership", alt=alt)


def unmeasured(rows: Sequence[frames.Row]) -> None:
    """No run has an efficacy: the reason that the runs give, or that they are older than it."""
    reasons = [row.cells["efficacy"].reason for row in rows]
    text = next((f"No efficacy here: {reason}" for reason in reasons if reason), "")
    messages.empty(escape(text), "Launch a comparison", "launch")
