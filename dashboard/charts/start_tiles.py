"""The small pictures of Start: one number of a few models, and cost against distance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts import cost_distance, dots
from dashboard.charts.parts import axes
from dashboard.frames import Row

HEIGHT: Final = 190


def values(
    rows: Sequence[Row], numbers: Sequence[float], base: float, axis: str, *, dark: bool
) -> go.Figure:
    """A dot a row, on a stalk from the line of Retrain at `base`."""
    lines = [
        dots.line_of(row, [dots.Mark(number)]) for row, number in zip(rows, numbers, strict=True)
    ]
    panel = dots.Panel(name="", title="", span=(min(numbers), max(numbers)), base=base)
    figure = dots.draw(lines, [panel], axis=axis, dark=dark, stacked=True)
    return figure.update_layout(height=HEIGHT)


def price(found: cost_distance.CostDistanceInfo, *, dark: bool) -> go.Figure:
    """Cost against distance, as Results draws it, without numbers and names."""
    look = theme.ground(dark)
    figure = cost_distance.draw(found, dark=dark, most=1, height=HEIGHT)
    figure.update_traces(marker_size=8)
    shapes = figure.layout.shapes
    figure.layout.shapes = [each for each in shapes if each.type == "rect" or each.line.dash]
    figure.layout.annotations = []
    for text, x, y, shift in (
        ("Original", 0, 1, -14),
        ("↑ distance, → cost", 0, 0, 2),
        ("<b>Retrain</b>", 1, 0, 24),
    ):
        place: dict[str, Any] = {
            "xref": "x domain",
            "yref": "y domain",
            "xanchor": "right" if x else "left",
            "yanchor": "top" if y else "bottom",
        }
        axes.write(figure, text, look.text if x else look.muted, x=x, y=y, yshift=shift, **place)
    figure.update_xaxes(showticklabels=False)
    figure.update_yaxes(showticklabels=False)
    return figure.update_layout(margin={"l": 4, "r": 4, "t": 4, "b": 4})


def alt_text(rows: Sequence[Row], numbers: Sequence[float], axis: str) -> str:
    said = (f"{row.title} {number:.1f}" for row, number in zip(rows, numbers, strict=True))
    return f"{axis}: {', '.join(said)}."
