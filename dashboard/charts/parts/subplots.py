"""Figures of several panels, and grids of small ones on shared axes, one a method, in rows of one
length as far as they go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard import theme
from dashboard.charts.parts import axes

COLUMNS = 5  # panels in a row


def figure(*, dark: bool, size: int = 13, **layout: Any) -> go.Figure:
    """An empty figure of panels in the look of the pages; `layout` is that of plotly's
    `make_subplots`, `size` that of the panels' titles.
    """
    made = make_subplots(**layout)
    made.update_layout(template=theme.template(dark))
    made.update_annotations(font={"size": size, "color": theme.ground(dark).text})
    return made


def ending(column: int) -> str:
    """How plotly's names of the axes of the panel in this column, from 1, end: "" or "2"."""
    return "" if column == 1 else str(column)


def grid(titles: Sequence[str], *, dark: bool) -> tuple[go.Figure, list[dict[str, int]]]:
    """An empty figure with a panel a title, and the row and column of each."""
    rows = max(1, -(-len(titles) // COLUMNS))
    columns = max(1, -(-len(titles) // rows))
    made = figure(
        rows=rows,
        cols=columns,
        shared_xaxes="all",
        shared_yaxes="all",
        horizontal_spacing=0.025,
        vertical_spacing=0.2 / rows,
        subplot_titles=titles,
        dark=dark,
    )
    return made, [
        {"row": number // columns + 1, "col": number % columns + 1} for number in range(len(titles))
    ]


def dress(
    figure: go.Figure,
    places: Sequence[Mapping[str, int]],
    *,
    across: Mapping[str, Any],
    up: Mapping[str, Any],
    title: str,
    dark: bool,
) -> None:
    """Give every panel the axes `across` and `up`, numbers below the lowest of each column, and one
    `title` below them all.
    """
    # all axes at once: one by one each makes plotly look through the whole figure
    every = {axis.plotly_name: across for axis in figure.select_xaxes()} | {
        axis.plotly_name: up for axis in figure.select_yaxes()
    }
    figure.update_layout(every)
    columns = max((place["col"] for place in places), default=1)
    for place in places[-columns:]:
        figure.update_xaxes(showticklabels=True, row=place["row"], col=place["col"])
    below = {"x": 0.5, "xref": "paper", "y": 0, "yref": "paper", "yanchor": "top", "yshift": -26}
    axes.write(figure, title, theme.ground(dark).muted, size=13, **below)


def height(places: Sequence[Mapping[str, int]], panel: int) -> int:
    """Pixels of the whole figure whose panels are `panel` high."""
    return max((place["row"] for place in places), default=1) * (70 + panel) + 60
