"""How well things agree two by two, as a square heat map: metrics by Kendall's tau, or runs by
equal predictions.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.parts import axes, heatmap
from dashboard.text.labels import MINUS

NUMBERED = 26  # larger squares carry no numbers: they would not be readable


def draw(square: pd.DataFrame, what: str, *, signed: bool, dark: bool) -> go.Figure:
    """A heat map of a symmetric table, rows from the top; what cannot be compared (NaN) stays
    empty. Values go from −1 (opposite) to 1 where `signed`, else from 0 to 1; `what` a value is
    stands over the colour bar.
    """
    places = list(range(len(square)))  # and not names, so that two of one name stay two
    names = [str(name) for name in square.columns]
    # shares begin a step of ten percent below the smallest, so that small differences show
    least = -1.0 if signed else max(0.0, math.floor(10 * square.min(axis=None) - 1e-9) / 10)
    figure = axes.figure(dark=dark)
    figure.add_trace(
        heatmap.cells(
            square.to_numpy(),
            places,
            places,
            square.map(lambda value: _text(value, signed)).to_numpy(),
            span=(least, 1),
            what=what,
            hover="%{customdata[0]}<br>%{customdata[1]}<br>%{text}",
            dark=dark,
            printed=len(names) <= NUMBERED,
            signed=signed,
            customdata=[[[one, other] for other in names] for one in names],
        )
    )
    ticks = {"tickvals": places, "ticktext": names, "showgrid": False, "zeroline": False}
    figure.update_xaxes(tickangle=-45, **ticks)
    figure.update_yaxes(autorange="reversed", **ticks)
    figure.update_layout(height=max(400, 140 + 26 * len(names)), margin={"t": 8})
    return figure


def _text(value: float, signed: bool) -> str:
    if math.isnan(value):
        return ""
    return f"{value:.2f}".replace("-", MINUS) if signed else f"{100 * value:.0f}"


def alt_text(square: pd.DataFrame, what: str, *, signed: bool) -> str:
    names, size = square.columns, len(square)
    pairs = np.where(np.triu(np.ones((size, size), bool), 1), square, np.nan)
    if np.isnan(pairs).all():
        return f"Heat map, {what}, {size} by {size}; no pair can be compared."
    one, other = divmod(int(np.nanargmin(pairs)), size)
    return (
        f"Heat map, {what}, {size} by {size}. Least: {names[one]} and {names[other]}, "
        f"{_text(pairs[one, other], signed)}."
    )
