"""Accuracy of each class less Retrain's, one line a run: where forgetting is paid for."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, heatmap
from dashboard.frames import NOISE
from dashboard.text.labels import number

PRINTED = 12  # classes up to which every cell shows its number
NARROW = 8  # runs up to which it does so on a phone
FULL = 10.0  # points at which the colour is full: one class that is gone hides no other gap


def draw(
    gaps: pd.DataFrame, halves: pd.Series, split: str, *, dark: bool, stacked: bool = False
) -> go.Figure:
    """A heat map of `gaps`, points by run and class, runs from the top in their order; white is as
    good as Retrain. Above them stands the 95 % band of Retrains of other seeds, if any: `halves`
    by class. `stacked`: a line a class, for a phone.
    """
    text = gaps.map(lambda gap: number(gap / 100, "percent", signed=True))
    cells = gaps
    if not halves.empty:
        band = halves.reindex(gaps.columns).map(lambda half: f"± {number(half / 100, 'percent')}")
        text = pd.concat([band.to_frame(NOISE).T, text])
        cells = gaps.reindex(text.index).fillna({name: 0.0 for name in gaps}, limit=1)
    if stacked:
        cells, text = cells.T, text.T
    figure = axes.figure(dark=dark)
    figure.add_trace(
        heatmap.cells(
            cells.to_numpy(),
            cells.columns,
            cells.index,
            text.to_numpy(),
            span=(-FULL, FULL),
            what="points",
            hover="<b>%{y}</b><br>%{x}: %{text} points",
            dark=dark,
            printed=len(cells.columns) <= (NARROW if stacked else PRINTED),
            signed=True,
        )
    )
    figure.update_xaxes(
        title=f"{split.capitalize()} accuracy less Retrain's, points",
        type="category",
        tickangle=-90 if stacked else None,
        showgrid=False,
    )
    figure.update_yaxes(
        type="category",
        autorange="reversed",
        showgrid=False,
        tickfont={"color": theme.ground(dark).text},
    )
    figure.update_layout(height=max(400, 110 + 30 * len(cells)), margin={"t": 12})
    return figure


def alt_text(gaps: pd.DataFrame, halves: pd.Series, split: str) -> str:
    """The figure in one or two sentences, for a reader who cannot see it."""
    cells = gaps.stack()
    low, high = (
        f"{' at '.join(each)}, {cells[each]:+.1f}" for each in (cells.idxmin(), cells.idxmax())
    )
    grey = f" The 95 % band of Retrains of other seeds: up to {halves.max():.1f} points."
    return (
        f"Heat map of {len(gaps)} runs by {len(gaps.columns)} columns: {split} accuracy less "
        f"Retrain's, in points. Lowest: {low}. Highest: {high}." + ("" if halves.empty else grey)
    )
