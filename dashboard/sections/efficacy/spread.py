"""Every method over seeds and forget sets."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import state
from dashboard.charts import efficacy_spread
from dashboard.charts.parts import noise, strips
from dashboard.text import units
from dashboard.widgets import clicks
from dashboard.widgets.markdown import escape, metric_help


@st.cache_resource(show_spinner=False, max_entries=16)
def drawn(
    _frame: pd.DataFrame,
    _labels: dict[str, str],
    store: tuple[str, int, str],
    dark: bool,
    selected: str,
) -> tuple[efficacy_spread.EfficacySpreadInfo, go.Figure]:
    """The figure over seeds and forget sets; `store` says which store, when it was read and which
    runs, so that frames need no hashing.

    Kept as it is, since a pickled copy differs in the order of its keys and Streamlit would take it
    for another figure, without the click.
    """
    info = efficacy_spread.efficacy_spread_info(_frame, sets=list(_labels), labels=_labels)
    return info, efficacy_spread.draw(info, dark=dark, selected=selected)


def show(frame: pd.DataFrame, labels: dict[str, str], store: tuple[str, int, str]) -> go.Figure:
    st.subheader("Over seeds and forget sets", anchor=False, help=metric_help("efficacy"))
    info, figure = drawn(frame, labels, store, state.dark(), state.param("run"))
    dense = (
        "one dot a run, a curve where there are eight seeds or more"
        if info.seeds >= strips.DENSE
        else "one dot a run"
    )
    st.caption(
        f"Becker & Liebig, Figure 1: {dense}. Look at whether a method stands where Retrain "
        "stands, and whether hollow marks (the bound) keep the order of the filled "
        f"ones.{f' {noise.SAID}' if info.noise else ''}"
    )
    clicks.chart(figure, "efficacy_spread", alt=efficacy_spread.alt_text(info))
    few = (
        (
            f"At most {units.count(info.seeds, 'run')} a method and forget set: points, not a "
            "distribution. "
        )
        if info.seeds < strips.DENSE
        else ""
    )
    out = (
        (
            f"Without a panel here, but in the figures below: {', '.join(info.left_out)}; choose "
            "panels with Methods."
        )
        if info.left_out
        else ""
    )
    if few or out:
        st.caption(escape(few + out))
    return figure
