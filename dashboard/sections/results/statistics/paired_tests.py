"""Which two methods differ by more than chance in one metric."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.frames import tradeoffs as tradeoffs_frames
from dashboard.sections.results.statistics import shared
from dashboard.widgets import columns, figures, presenting
from dashboard.widgets.markdown import escape
from mucore.statistics import Statistics


def show(found: Statistics, runs: pd.DataFrame, line: st.delta_generator.DeltaGenerator) -> None:
    frame = tradeoffs_frames.pairs_frame(found, shared.forgot_in(found, runs))
    if frame.empty:
        shared.missing(found, runs, "No paired test", "Launch more seeds")
        return
    hopeless = next((note for note in found.notes if note.startswith("No paired test can")), "")
    if hopeless:
        st.caption(escape(hopeless))
    settings = {
        frame.columns[3]: st.column_config.NumberColumn(format="%.2f"),
        "p": st.column_config.NumberColumn(format="%.2g", help="Of this pair alone."),
        "p (Holm)": st.column_config.NumberColumn(
            format="%.2g", help="Corrected for all pairs: the one to go by."
        ),
    }
    presenting.dataframe(
        frame,
        "paired_tests",
        alt="Pairs of methods, the surest difference first.",
        hide_index=True,
        column_config=columns.aligned(frame, settings),
        height=min(560, 38 + 35 * len(frame)),
    )
    figures.numbers(frame, f"tests-{found.metric}")
