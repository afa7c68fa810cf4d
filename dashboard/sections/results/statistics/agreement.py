"""Where metrics agree on the order of methods, and where they do not."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import state
from dashboard.charts import agreement
from dashboard.frames import tradeoffs as tradeoffs_frames
from dashboard.sections.results.statistics import shared
from dashboard.widgets import figures
from mucore.statistics import Statistics

WHAT = "Kendall's τ"


def show(found: Statistics, runs: pd.DataFrame, line: st.delta_generator.DeltaGenerator) -> None:
    if found.tau.notna().to_numpy().sum() <= len(found.tau):  # each with itself alone
        shared.missing(found, runs, "No rank agreement", "Launch more methods")
        return
    heads = [tradeoffs_frames.short_name(name) for name in found.tau.columns]
    square = pd.DataFrame(found.tau.to_numpy(dtype=float), heads, heads)
    figure = agreement.draw(square, WHAT, signed=True, dark=state.dark())
    with st.container(key="sideways_agreement"):  # a phone scrolls it sideways
        alt = agreement.alt_text(square, WHAT, signed=True)
        figures.chart(figure, "metric_agreement", alt=alt)
    figures.numbers(tradeoffs_frames.tau_frame(found.tau), "agreement-of-metrics", figure)
