"""Methods by usefulness and forgetting."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
import streamlit as st

from dashboard import state
from dashboard.charts import nomus_scatter
from dashboard.frames import Row
from dashboard.frames.identity import Paper
from dashboard.widgets import clicks
from dashboard.widgets.markdown import escape


def show(rows: Sequence[Row], paper: Paper | None) -> go.Figure | None:
    places = [
        (method, paper.value(method, "forgetting_score"), paper.value(method, "ta"))
        for method in (paper.methods if paper else ())
        if paper is not None
    ]
    ghosts = [(name, x, y) for name, x, y in places if x is not None and y is not None]
    info = nomus_scatter.nomus_scatter_info(rows, ghosts)
    if not info.dots:
        st.markdown(
            "No run has a forgetting score yet. It needs ten images of forgotten persons and of "
            "persons that nobody has seen."
        )
        return None
    figure = nomus_scatter.draw(info, dark=state.dark(), selected=state.param("run"))
    clicks.chart(figure, "nomus_scatter", alt=nomus_scatter.alt_text(info))
    if info.missing:
        st.caption(escape(f"Not drawn, a number is missing: {', '.join(info.missing)}."))
    return figure
