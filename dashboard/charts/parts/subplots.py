"""Small figures side by side on shared axes, one a method, in rows of one length as far as they
go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard import theme

COLUMNS = 5  # panels in a row


def grid(titles: Sequence[str], *, dark: bool) -> tuple[go.Figure, list[dict[str, int]]]:
    """An empty figure with a panel a title, and the row and column of each."""
    rows = max(1, -(-len(titles) // COLUMNS))
    columns = max(1, -(-len(titles) // rows))
    figure = make_subplots(
        rows=rows,
        cols=columns,
        shared_xaxes="all",
        shared_yaxes="all",
        horizontal_spacing=0.025,
        vertical_spacing=0.2 / rows,
        subplot_titles=titles,
    )
    figure.update_layout(template=theme.template(dark))
    figure.update_annotations(font={"size": 13, "color": theme.ground(dark).text})
    return figure, [
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
    axes = {axis.plotly_name: across for axis in figure.select_xaxes()} | {
        axis.plotly_name: up for axis in figure.select_yaxes()
    }
    figure.update_layout(axes)
    columns = max((place["col"] for place in places), default=1)
    for place in places[-columns:]:
        figure.update_xaxes(showticklabels=True, row=place["row"], col=place["col"])
    axis = {
        "x": 0.5,
        "xref": "paper",
        "y": 0,
        "yref": "paper",
        "yanchor": "top",
        "yshift": -26,
        "showarrow": False,
    }
    figure.add_annotation(text=title, font={"size": 13, "color": theme.ground(dark).muted}, **axis)


def height(places: Sequence[Mapping[str, int]], panel: int) -> int:
    """Pixels of the whole figure whose panels are `panel` high."""
    return max((place["row"] for place in places), default=1) * (70 + panel) + 60
