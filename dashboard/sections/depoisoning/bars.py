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
        st.info(
            "This attack hardly worked: the original is fooled little more than Retrain, so a "
            "method that does nothing looks healed. Train for longer, or poison more samples.",
            icon=":material/info:",
        )
    selected = found.line_of(state.param("run"))
    figure = poison_bars.draw(info, dark=state.dark(), selected=selected, legend=not said)
    clicks.chart(figure, f"poison_bars_{count}", alt=poison_bars.alt_text(info))
    if new := [sentence for sentence in notes(info, scenario, metrics) if sentence not in said]:
        st.caption(escape(" ".join(new)))
    said += new
    return figure


def notes(info: poison_bars.PoisonBarsInfo, scenario: str, metrics: tuple[str, ...]) -> list[str]:
    """What a reader must know about this very figure."""
    made = [
        (
            "Nearest to Retrain first. Beside each name stands its verdict; ? says that more seeds "
            "may change it. Click a bar for its run."
        )
    ]
    seeds = {bar.seeds for panel in info.panels for bar in panel.bars}
    if max(seeds) == 1:
        made.append("One training seed, so no interval.")
    else:
        span = str(max(seeds)) if len(seeds) == 1 else f"{min(seeds)} to {max(seeds)}"
        made.append(
            f"Thin bars are 95 % t-intervals over {span} training seeds, cut at 0 and 100 %."
        )
    if any(panel.noise is not None for panel in info.panels):
        made.append(noise.SAID)
    if scenario == "label_flip" and "ta_flipped" not in metrics:
        made.append("Every class is flipped, so TA of the flipped classes is TA and has no panel.")
    absent = [panel.title for panel in info.panels if panel.retrain is None]
    if absent:
        made.append(f"No Retrain yet, so no dashed line: {', '.join(absent)}.")
    made.append("MUBox draws its figures without printed numbers to set beside these.")
    return made
