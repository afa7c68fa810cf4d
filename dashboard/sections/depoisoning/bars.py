"""The bars of one poison size."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import state
from dashboard.charts import poison_bars
from dashboard.charts.parts import noise
from dashboard.frames import budget as budget_frames
from dashboard.frames import depoisoning as depoisoning_frames
from dashboard.text import units
from dashboard.widgets import clicks
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape


def show(
    found: budget_frames.Curves,
    runs: pd.DataFrame,
    scenario: str,
    count: int,
    *,
    alone: bool,
    said: list[str],
) -> go.Figure | None:
    """The bars of one poison size; a click on a bar opens its first run. `said` grows by what
    stands below: nothing is said twice.
    """
    metrics = depoisoning_frames.panels(found, scenario)
    info = poison_bars.poison_bars_info(
        depoisoning_frames.ordered(found, count), scenario=scenario, count=count, metrics=metrics
    )
    if not alone:
        st.markdown(
            f"**{units.count(count, 'poisoned sample')}**"
            + (f", {info.share}" if info.share else "")
        )
    if not info.panels or not info.panels[0].bars:
        st.markdown(
            "No method has a number here: with the methods and settings chosen above, only the "
            "original and Retrain have run."
        )
        link(
            "launch",
            "Launch methods",
            icon=":material/arrow_forward:",
            **budget_frames.launch_query(runs, ()),
        )
        return None
    if depoisoning_frames.too_weak(found, scenario, count):
        st.caption(
            ":material/info: This attack hardly worked, so a method that does nothing looks healed."
        )
    selected = found.line_of(state.param("run"))
    figure = poison_bars.draw(info, dark=state.dark(), selected=selected, legend=not said)
    with st.container(key=f"sideways_{count}"):  # on a phone it scrolls
        clicks.chart(figure, f"poison_bars_{count}", alt=poison_bars.alt_text(info))
    if new := [sentence for sentence in notes(info) if sentence not in said]:
        st.caption(escape(" ".join(new)))
    said += new
    return figure


def notes(info: poison_bars.PoisonBarsInfo) -> list[str]:
    """What a reader must know about this very figure."""
    made = ["Nearest to Retrain first. ?: an indication."]
    if any(bar.half for panel in info.panels for bar in panel.bars):
        made.append("Thin bars: 95 % interval over seeds.")
    if any(panel.noise is not None for panel in info.panels):
        made.append(noise.SAID)
    absent = [panel.title for panel in info.panels if panel.retrain is None]
    if absent:
        made.append(f"No Retrain yet, so no dashed line: {', '.join(absent)}.")
    return made
