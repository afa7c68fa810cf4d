"""Figures of several panels, and grids of small ones on shared axes, one a method, in rows of one
length as far as they go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
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
    # all titles at once: one by one each makes plotly look through the whole figure
    font = {"font": _font(size, dark)}
    made.layout.annotations = [each.to_plotly_json() | font for each in made.layout.annotations]
    return made


def _font(size: int, dark: bool) -> dict[str, Any]:
    return {"size": size, "color": theme.ground(dark).text}


def ending(number: int) -> str:
    """How plotly's names of the axes of the panel with this number, from 1, end: "" or "2"."""
    return "" if number == 1 else str(number)


def grid(
    titles: Sequence[str], *, dark: bool, most: int = COLUMNS
) -> tuple[go.Figure, list[dict[str, int]]]:
    """An empty figure with a panel a title, at most `most` in a row, and the row and column of
    each.
    """
    rows = max(1, -(-len(titles) // most))
    columns = max(1, -(-len(titles) // rows))
    made = go.Figure(_panels(rows, columns))
    made.update_layout(template=theme.template(dark))
    made.layout.annotations = [
        place.to_plotly_json() | {"text": title, "font": _font(13, dark)}
        for place, title in zip(made.layout.annotations, titles, strict=False)
        if title
    ]
    return made, [
        {"row": number // columns + 1, "col": number % columns + 1} for number in range(len(titles))
    ]


@lru_cache(maxsize=32)
def _panels(rows: int, columns: int) -> go.Figure:
    """Panels on shared axes, each with a title; kept, for plotly takes a fifth of a second to make
    forty of them and a tenth of that to copy them. Never write to it.
    """
    return make_subplots(
        rows=rows,
        cols=columns,
        shared_xaxes="all",
        shared_yaxes="all",
        horizontal_spacing=0.025,
        vertical_spacing=0.2 / rows,
        subplot_titles=["title"] * (rows * columns),
    )


def upright(number: int, x: float, line: Mapping[str, Any]) -> dict[str, Any]:
    """A line at `x` behind the marks of the panel of `grid` with this number, from 0: a shape for
    the layout, where plotly's own way takes a twentieth of a second a line.
    """
    name = ending(number + 1)
    place = {"xref": f"x{name}", "x0": x, "x1": x, "yref": f"y{name} domain", "y0": 0, "y1": 1}
    return {"type": "line", "line": dict(line), "layer": "below", **place}


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
    # a new layout: what is changed in an old one, plotly looks for in the whole figure
    layout = figure.layout.to_plotly_json()
    figure.layout = {
        name: part | (across if name.startswith("xaxis") else up)
        if name.startswith(("xaxis", "yaxis"))
        else part
        for name, part in layout.items()
    }
    columns = max((place["col"] for place in places), default=1)
    for place in places[-columns:]:
        figure.update_xaxes(showticklabels=True, row=place["row"], col=place["col"])
    below = {"x": 0.5, "xref": "paper", "y": 0, "yref": "paper", "yanchor": "top", "yshift": -26}
    axes.write(figure, title, theme.ground(dark).muted, size=13, **below)


def height(places: Sequence[Mapping[str, int]], panel: int) -> int:
    """Pixels of the whole figure whose panels are `panel` high."""
    return max((place["row"] for place in places), default=1) * (70 + panel) + 60
