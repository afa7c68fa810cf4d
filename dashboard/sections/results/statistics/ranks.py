"""Average ranks over scenarios, and which of them chance may explain."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.charts import critical_difference
from dashboard.frames import tradeoffs as tradeoffs_frames
from dashboard.sections.results.statistics import shared
from dashboard.widgets import clicks, figures
from mucore.statistics import Statistics


def show(found: Statistics, runs: pd.DataFrame, line: st.delta_generator.DeltaGenerator) -> None:
    if found.ranking is None:
        shared.missing(found, runs, "No average ranks", "Launch more scenarios")
        return
    names = {
        name: (tradeoffs_frames.line_title(name), tradeoffs_frames.line_family(name))
        for name in found.ranking.ranks
    }
    forgot, keys = shared.forgot_in(found, runs), line_keys(runs, data.chosen(runs))
    figure = critical_difference.draw(
        found.ranking, names, keys, forgot, dark=state.dark(), selected=state.param("run")
    )
    alt = critical_difference.alt_text(found.ranking, names)
    clicks.chart(figure, "critical_difference", alt=alt)
    st.caption("A bar joins what chance may explain. Hollow: forgot in no scenario.")
    numbers = tradeoffs_frames.ranks_frame(found.ranking, forgot)
    figures.numbers(numbers, f"ranks-{found.metric}", figure)


@st.cache_data(show_spinner=False, max_entries=16)
def line_keys(_runs: pd.DataFrame, chosen: str) -> dict[str, str]:
    """`frames.tradeoffs.line_keys`; `chosen` says which runs."""
    return tradeoffs_frames.line_keys(shared.labelled(_runs, chosen))
