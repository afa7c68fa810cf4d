"""Figures of several panels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard import theme


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


def row(count: int, stacked: bool, gap: float) -> dict[str, Any]:
    """`layout` of panels side by side with a `gap` between, or below each other for a phone."""
    if stacked:
        return {"rows": count, "cols": 1, "vertical_spacing": 0.36 / max(count, 2)}
    return {"cols": count, "horizontal_spacing": gap, "shared_yaxes": True}


def _font(size: int, dark: bool) -> dict[str, Any]:
    return {"size": size, "color": theme.ground(dark).text}


def ending(number: int) -> str:
    """How plotly's names of the axes of the panel with this number, from 1, end: "" or "2"."""
    return "" if number == 1 else str(number)


def upright(number: int, x: float, line: Mapping[str, Any]) -> dict[str, Any]:
    """A line at `x` behind the marks of the panel with this number, from 0: a shape for
    the layout, where plotly's own way takes a twentieth of a second a line.
    """
    name = ending(number + 1)
    place = {"xref": f"x{name}", "x0": x, "x1": x, "yref": f"y{name} domain", "y0": 0, "y1": 1}
    return {"type": "line", "line": dict(line), "layer": "below", **place}
