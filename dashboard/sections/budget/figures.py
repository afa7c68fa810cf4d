"""The curves: a panel a scenario, of distances to Retrain or of any metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import state
from dashboard.charts import budget_curves
from dashboard.frames.budget import DISTANCE
from dashboard.frames.tradeoffs import measure
from dashboard.text import labels, units
from dashboard.widgets import clicks
from dashboard.widgets.markdown import escape
from mucore import catalog


def pick_metric(there: Sequence[str]) -> str:
    """Distances, or one of the metrics that the runs have. Parameter: metric."""
    names = {DISTANCE: "Distance to Retrain, points (log)"}
    names |= {name: catalog.metric(name).title for name in there}
    return state.select(
        "Metric",
        "metric",
        list(names),
        format_func=names.__getitem__,
        label_visibility="collapsed",
        width=340,
    )


def head(metric: str) -> str:
    """What a metric's column is called: "Distance (points)", "FA (%)"."""
    if metric == DISTANCE:
        return "Distance (points)"
    how = measure(metric)
    unit = {"percent": " (%)", "MB": " (MB)", "seconds": " (s)"}.get(how.unit, "")
    return f"{how.short}{unit}"


def draw(found: pd.DataFrame, metric: str, titles: Mapping[str, str]) -> list[go.Figure]:
    """The panels of `found` in rows of two on one scale, below each other in a narrow window; what
    is grey in them stands below.
    """
    shown = budget_curves.of_metric(found, metric)
    if shown.empty:
        st.markdown("No method has a number here yet.")
        return []
    axis, run = budget_curves.up(shown), state.param("run")
    vivid = {name: budget_curves.coloured(mine) for name, mine in found.groupby("panel")}
    turns = budget_curves.dashes(shown, {title for each in vivid.values() for title in each})
    names = [name for name in titles if name in set(shown["panel"])]
    selected = shown.loc[shown["key"] == run, "line"]
    drawn = []
    with st.container(key="panels_budget"):
        for start in range(0, len(names), 2):
            columns = st.columns(min(len(names), 2), gap="medium")
            for column, name in zip(columns, names[start : start + 2], strict=False):
                mine = shown[shown["panel"] == name]
                figure = budget_curves.draw(
                    mine,
                    titles[name],
                    axis,
                    {title: turns[title] for title in vivid[name] if title in turns},
                    dark=state.dark(),
                    selected=next(iter(selected), ""),
                )
                drawn.append(figure)
                with column:
                    alt = budget_curves.alt_text(mine, titles[name])
                    clicks.chart(figure, f"budget_{labels.short_id(name)}", alt=alt)
    methods = shown.loc[shown["family"] != "reference", "title"]
    grey = [title for title in dict.fromkeys(methods) if title not in turns]
    if grey:
        st.caption(escape(f"Grey: {units.shortened(grey, 8)}."))
    return drawn
