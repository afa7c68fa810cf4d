"""What each method left of the attack: a panel a metric, a row a method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import plotly.graph_objects as go
import streamlit as st

from dashboard import frames
from dashboard.charts import dots
from dashboard.frames import depoisoning as depoisoning_frames
from dashboard.widgets import clicks

AXIS: Final = "% of images; dashed: Retrain"
TITLES: Final = {
    ("label_flip", "ta"): "Test accuracy (TA)",
    ("label_flip", "fa"): "Attack success, ASR (FA)",
    ("label_flip", "fa_true"): "FA on true labels",
    ("label_flip", "ta_flipped"): "TA of flipped classes",
    ("backdoor", "ta"): "Clean accuracy (TA)",
    ("backdoor", "asr"): "Attack success rate (ASR)",
    ("backdoor", "asr_others"): "ASR, target class left out",
}


def show(rows: Sequence[frames.Row], scenario: str) -> go.Figure:
    """The figure of the rows of one poison size; a click on a mark opens the row's first run."""
    if depoisoning_frames.too_weak(rows, scenario):
        st.caption(
            ":material/info: This attack hardly worked, so doing nothing looks like a repair."
        )
    panels = [
        _panel(rows, scenario, metric) for metric in depoisoning_frames.panels(rows, scenario)
    ]
    lines = [
        dots.line_of(row, [dots.mark_of(row, panel.name, 100) for panel in panels]) for row in rows
    ]
    figure, clicked = clicks.dotted(rows, lines, panels, "poison_bars", axis=AXIS)
    clicks.open_run(clicked)
    return figure


def _panel(rows: Sequence[frames.Row], scenario: str, metric: str) -> dots.Panel:
    retrain = next((row.cells[metric] for row in rows if row.method == "retrain"), None)
    half = frames.noise(rows, metric)
    return dots.Panel(
        name=metric,
        title=TITLES[scenario, metric],
        span=(0.0, 100.0),
        limits=(0.0, 100.0),
        base=100 * retrain.value.mean if retrain and retrain.value else None,
        half_band=None if half is None else 100 * half,
        ticks=(0, 25, 50, 75, 100),
    )
