"""Methods as marks of a scatter: colour and symbol of their family, intervals both ways, the
selected run ringed and larger.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import intervals
from mucore import catalog


@dataclass(frozen=True)
class Spot:
    """A mark and its 95 % intervals. Its custom data are the key of the run that a click opens, and
    then `told`, for `hover`.
    """

    family: str
    key: str
    x: float | None
    y: float | None
    x_half: float | None
    y_half: float | None
    told: tuple[Any, ...]


def add(figure: go.Figure, spots: Sequence[Spot], *, hover: str, dark: bool, selected: str) -> None:
    """A trace for each family that has a spot, in the order of the families; `selected` is a key or
    "".
    """
    for family in catalog.FAMILIES:
        if mine := [spot for spot in spots if spot.family == family]:
            figure.add_trace(
                _trace(family, mine, count=len(spots), hover=hover, dark=dark, selected=selected)
            )


def verdict_line(said: str) -> str:
    """A verdict as the last line of a tooltip; nothing where there is none."""
    return f"<br>Verdict: {said}" if said else ""


def _trace(
    family: str, spots: Sequence[Spot], *, count: int, hover: str, dark: bool, selected: str
) -> go.Scatter:
    """`count` is how many marks the figure has of all families, which decides whose intervals are
    drawn.
    """
    style = theme.family_style(family)
    color = style.color(dark)
    ringed = [bool(selected) and spot.key == selected for spot in spots]
    return go.Scatter(
        x=[spot.x for spot in spots],
        y=[spot.y for spot in spots],
        name=catalog.FAMILIES[family],
        mode="markers",
        customdata=[[spot.key, *spot.told] for spot in spots],
        marker={
            "symbol": style.symbol,
            "size": [16 if ring else 11 for ring in ringed],
            "color": color,
            "opacity": 1,
            "line": {
                "width": 2,
                "color": [theme.ground(dark).text if ring else color for ring in ringed],
            },
        },
        error_x=intervals.sparing(
            [spot.x_half for spot in spots], color, chosen=ringed, marks=count
        ),
        error_y=intervals.sparing(
            [spot.y_half for spot in spots], color, chosen=ringed, marks=count
        ),
        hovertemplate=hover,
    )
