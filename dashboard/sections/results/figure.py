"""What a method costs against how far it ends from Retrain, beside the nearest methods."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from dashboard import frames, state
from dashboard.charts import cost_distance, results_table
from dashboard.widgets import beside_retrain, clicks
from dashboard.widgets.markdown import escape

LINES = 13  # of the short table: as high as the figure


def show(table: frames.ResultsTable, apart: float | None) -> go.Figure | None:
    """The figure and, at its right, the short table; None where there is nothing to draw."""
    found = cost_distance.cost_distance_info(table.rows, apart)
    left, right = st.columns([62, 38], gap="medium")
    figure = None
    with left:
        if found.dots:
            figure = cost_distance.draw(found, dark=state.dark(), selected=state.param("row"))
            clicks.chart(
                figure, "cost_distance", alt=cost_distance.alt_text(found), parameter="row"
            )
            lines = any(dot.low is not None for dot in found.dots)
            hollow = "Hollow: indicated only. Line: 95 % interval over its seeds. "
            st.caption(f"{hollow if lines else ''}Retrain's distance is 0.")
        else:
            figure = beside_retrain.show(table.rows)
        if found.dots and found.missing:
            st.caption(escape(f"Without a distance: {', '.join(found.missing)}."))
    with right, st.container(key="beside"):
        nearest(table)
    return figure


def nearest(table: frames.ResultsTable) -> None:
    html = results_table.short_html(
        table, dark=state.dark(), selected=state.param("row"), lines=LINES
    )
    component = st.components.v2.component(
        "mucore_short_table", html=results_table.FRAME, css=results_table.CSS, js=results_table.JS
    )
    clicked = component(
        data={"html": html},
        key="short_table",
        on_row_change=lambda: None,
        on_sort_change=lambda: None,
    )
    if isinstance(clicked.row, str):
        state.set_param("row", None if clicked.row == state.param("row") else clicked.row)
        st.rerun()
    st.markdown(
        f"[All {len(table.methods)} methods, all metrics :material/arrow_downward:](#all-metrics)"
    )
