"""The trade-off beside the table."""

from __future__ import annotations

import streamlit as st

from dashboard import frames, state
from dashboard.charts import tradeoff
from dashboard.charts.parts import noise
from dashboard.widgets import clicks
from dashboard.widgets.markdown import escape


def show(table: frames.ResultsTable):
    info = tradeoff.tradeoff_info(table)
    names = {"all": "All", "near": "Near Retrain"}
    grey = "" if info.noise is None else f" {noise.SAID}"
    if info.flat:
        grey += f" In {' and '.join(info.flat)} they agree, so there it is a line."
    st.caption(
        f"The star is Retrain: nearer is better, lower costs accuracy.{grey} Each "
        "mark is a line of the table; click it for its runs."
    )
    zoom = (
        state.segmented(
            "Zoom",
            "zoom",
            list(names),
            format_func=lambda name: names[name],
            label_visibility="collapsed",
        )
        == "near"
    )
    if not info.marks:
        st.markdown("No method has both gaps yet: they need the Retrain of the same training seed.")
        return None
    figure = tradeoff.draw(
        info, dark=state.dark(), zoom=zoom, selected=state.param("row"), legend=False
    )
    clicks.chart(figure, "tradeoff", alt=tradeoff.alt_text(info), parameter="row")
    left_out = [info.note] if info.note else []
    left_out += (
        [f"Outside this window: {', '.join(info.outside)}."] if zoom and info.outside else []
    )
    left_out += (
        [f"Not drawn, since a gap is missing: {', '.join(info.missing)}."] if info.missing else []
    )
    if left_out:
        st.caption(escape(" ".join(left_out)))
    return figure
