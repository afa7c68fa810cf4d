"""Two metrics of every method, beside what MUBox prints."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import state
from dashboard.charts import pareto
from dashboard.charts.parts import noise
from dashboard.frames import tradeoffs as tradeoffs_frames
from dashboard.frames.tradeoffs import Contest
from dashboard.papers import tables as published
from dashboard.sections.tradeoffs import goals
from dashboard.text import units
from dashboard.widgets import clicks
from dashboard.widgets.markdown import escape


def show(found: Contest, runs: pd.DataFrame, metrics: list[str]) -> go.Figure | None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        across = state.select("Across", "x", metrics, default="fa", format_func=goals.title)
        up = state.select("Up", "y", metrics, default="ta", format_func=goals.title)
        paper = paper_table(runs)
        ghosts = paper is not None and state.toggle("MUBox's points", "paper", help=paper.caption)
    x, y = tradeoffs_frames.measure(across), tradeoffs_frames.measure(up)
    cost = next((goal for goal in found.goals if goal.log), None)
    size = f" Larger marks: more {cost.short}." if cost else ""
    grey = " Grey marks do not compete; point at one for its verdict." if found.aside else ""
    places = tradeoffs_frames.paper_places(paper, x, y) if paper is not None and ghosts else []
    info = pareto.pareto_info(found, x, y, cost.id if cost else "", places)
    marks = (
        f"Full marks, which no other beats: {units.shortened(info.front, pareto.NAMED)}. Open: "
        "beaten."
        if info.front
        else "Dashed: Retrain. Dotted: Original."
    )
    strip = f" {noise.SAID}" if any(info.noise) else ""
    st.caption(escape(f"{marks}{strip}{grey}{size} A range above opens a crowded corner."))
    if not info.points:
        st.markdown("No method has both of these numbers. Choose others.")
        return None
    figure = pareto.draw(info, dark=state.dark(), selected=state.param("run"))
    clicks.chart(figure, "front", alt=pareto.alt_text(info))
    notes = (
        [f"Not drawn, because a number is missing: {', '.join(info.missing)}."]
        if info.missing
        else []
    )
    if info.outside:
        lines = [
            f"{title}'s, at {how.short}{' gap' if how.gap else ''} {how.text(value)} "
            f"{how.unit_name}".strip()
            for title, how, value in info.outside
        ]
        notes.append(f"Lines beyond the chart's edge: {'; '.join(lines)}.")
    if paper is not None and ghosts:
        notes.append(paper.caption if places else "MUBox prints no numbers for these two axes.")
    if notes:
        st.caption(escape(" ".join(notes)))
    return figure


def paper_table(runs: pd.DataFrame) -> published.Published | None:
    first = runs.iloc[0]
    return published.of_mubox(str(first["scenario"]), dataset=str(first["dataset"]))
