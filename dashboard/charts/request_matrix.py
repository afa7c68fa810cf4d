"""Requests one after another: forget accuracy of each request's samples after every later one.

Cells print the method's accuracy and Retrain's in brackets; the colour is their difference. Both
tables hold fractions, a line a request, a column for the model before any request and after each.
"""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, heatmap
from dashboard.text.labels import number

SMALLEST_LIMIT = 10.0  # points at which the colour is full, at least


def draw(mine: pd.DataFrame, retrain: pd.DataFrame, *, dark: bool) -> go.Figure:
    gaps = 100 * (mine - retrain)
    limit = max(SMALLEST_LIMIT, gaps.abs().fillna(0.0).max(axis=None))
    figure = axes.figure(dark=dark)
    figure.add_trace(
        heatmap.cells(
            # what has no Retrain has no colour
            gaps.where(retrain.notna() | mine.isna(), 0.0).to_numpy(),
            mine.columns,
            mine.index,
            _cells(mine, retrain).to_numpy(),
            span=(-limit, limit),
            what="points",
            hover="<b>%{y}</b><br>%{x}: %{text} %",
            dark=dark,
            signed=True,
            hoverongaps=False,
        )
    )
    title = "The model: accuracy, %, in brackets Retrain's"
    figure.update_xaxes(title=title, type="category", showgrid=False)
    tick = {"color": theme.ground(dark).text}
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False, tickfont=tick)
    figure.update_layout(height=max(400, 120 + 44 * len(mine)), margin={"t": 12})
    return figure


def _cells(mine: pd.DataFrame, retrain: pd.DataFrame) -> pd.DataFrame:
    ours = mine.map(lambda each: number(each, "percent"))
    theirs = retrain.map(lambda each: f" ({number(each, 'percent')})")
    return (ours + theirs.where(retrain.notna(), "")).where(mine.notna(), "")


def alt_text(mine: pd.DataFrame, retrain: pd.DataFrame) -> str:
    last = _cells(mine, retrain).iloc[:, -1]
    said = "; ".join(f"{name}: {text} %" for name, text in last.items())
    return (
        f"Table of {len(mine)} requests by the model after each. After the last, with Retrain's in "
        f"brackets, {said}."
    )
