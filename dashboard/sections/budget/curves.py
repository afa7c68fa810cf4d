"""The curves, and what a reader must know about them."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
import streamlit as st

from dashboard import state
from dashboard.charts import budget_curves
from dashboard.charts.parts import noise
from dashboard.frames import budget as budget_frames
from dashboard.text import units
from dashboard.widgets import clicks, run_filters
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape
from mucore import catalog


def show(found: budget_frames.Curves, ghosts: Sequence[budget_curves.Ghost]) -> go.Figure:
    """The figure; a click on a mark opens its first run."""
    view = run_filters.values_or_gaps()
    info = budget_curves.budget_curves_info(found, view=view, ghosts=ghosts)
    selected = found.line_of(state.param("run"))
    zoom = state.choice("zoom", ["all", "near"]) == "near"
    figure = budget_curves.draw(info, dark=state.dark(), zoom=zoom, selected=selected)
    clicks.chart(figure, "budget_curves", alt=budget_curves.alt_text(info))
    st.caption(escape(" ".join(notes(found, info, zoom=zoom))))
    return figure


def notes(
    found: budget_frames.Curves, info: budget_curves.BudgetCurvesInfo, *, zoom: bool
) -> list[str]:
    """What a reader must know about this very figure."""
    seeds = [step.seeds for line in found.lines for step in line.steps]
    made = ["Click a mark for its run."]
    if len(found.sizes) == 1 and len(found.methods) > 1:
        made.append("Marks stand side by side so that none hides another: they share one budget.")
    if any(line.damaged for line in found.methods):
        made.append("A cross: the model is damaged there.")
    if len(found.methods) > len(info.coloured):
        made.append("Grey: the other methods; hover for the name, or choose fewer under Methods.")
    if max(seeds) == 1:
        made.append("One training seed, so no interval.")
    else:
        made.append(
            f"{min(seeds)} to {max(seeds)} training seeds a mark; bars are 95 % t-intervals."
            if min(seeds) != max(seeds)
            else f"Bars are 95 % t-intervals over {max(seeds)} training seeds."
        )
    if any(panel.noise for panel in info.panels):
        made.append(noise.SAID)
    short = [line.title for line in found.lines if len(line.steps) < len(found.sizes)]
    if short and len(found.sizes) > 1:
        made.append(f"Not at every budget: {units.shortened(short, 6)}.")
    for panel in info.panels:
        if zoom and panel.outside:
            made.append(
                f"Outside this range of {catalog.metric(panel.metric).short}: "
                f"{units.shortened(panel.outside, 6)}."
            )
        hidden = sum(not panel.near[0] <= mark.y <= panel.near[1] for mark in panel.ghosts)
        if zoom and hidden:
            made.append(
                f"Printed numbers outside this range of {catalog.metric(panel.metric).short}: "
                f"{hidden}."
            )
        if panel.missing:
            what = "a gap" if panel.view == "gap" else "a value"
            made.append(
                f"Without {what} in {catalog.metric(panel.metric).short}: "
                f"{units.shortened(panel.missing, 6)}."
            )
    if any(panel.view == "value" for panel in info.panels) and any(
        panel.view == "gap" for panel in info.panels
    ):
        made.append("A metric without a gap to Retrain is shown as its value.")
    return made


def measured(found: budget_frames.Curves) -> bool:
    return any(
        step.cells[metric].value is not None
        for line in found.lines
        for step in line.steps
        for metric in found.metrics
    )


def show_nothing_measured() -> None:
    st.markdown(
        "None of these runs has a test or forget accuracy. Their drawer on the results page says "
        "why."
    )
    link("results", "Open the results", icon=":material/table_chart:")
