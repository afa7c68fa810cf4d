"""Scatters of methods: marks in colour and symbol of their family, with intervals both ways and the
selected run ringed and larger; marks of the references, squares on one scale, the legend.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, families, intervals, references


class Keyed(Protocol):
    @property
    def key(self) -> str: ...


Mark = TypeVar("Mark", bound=Keyed)


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
    for family, mine in families.groups(spots).items():
        figure.add_trace(
            _trace(family, mine, count=len(spots), hover=hover, dark=dark, selected=selected)
        )


def chosen(marks: Iterable[Mark], selected: str) -> tuple[list[Mark], list[Mark]]:
    """The marks of the selected run, and the others."""
    mine: list[Mark] = []
    others: list[Mark] = []
    for mark in marks:
        (mine if selected and mark.key == selected else others).append(mark)
    return mine, others


def reference(
    title: str, x: float, y: float, look: theme.Ground, *, told: str, size: int = 13
) -> go.Scatter:
    """The mark of Retrain or Original, which no click opens; `told` is what follows its name under
    the cursor.
    """
    return go.Scatter(
        x=[x],
        y=[y],
        name=title,
        mode="markers",
        marker={
            "symbol": references.SYMBOLS[title],
            "size": size,
            "color": look.text,
            "line": {"width": 2, "color": look.text},
        },
        hovertemplate=f"<b>{title}</b><br>{told}<extra></extra>",
        showlegend=False,
    )


def diagonal(low: float, high: float, look: theme.Ground, name: str | None = None) -> go.Scatter:
    """Where x and y are alike."""
    return go.Scatter(
        x=[low, high],
        y=[low, high],
        mode="lines",
        line={"color": look.muted, "width": 1},
        hoverinfo="skip",
        showlegend=False,
        name=name,
    )


def square(figure: go.Figure, span: tuple[float, float], *, across: str, up: str) -> None:
    """Both axes over `span` on one scale, with their titles."""
    axis = {"range": span, "zeroline": False, "constrain": "domain"}
    figure.update_xaxes(title=across, **axis)
    figure.update_yaxes(title=up, scaleanchor="x", **axis)


def legend(y: float = -0.16) -> dict[str, Any]:
    """The families below the figure, at `y` in shares of its height, all marks of one size."""
    return axes.below(y) | {"font": {"size": 12}, "itemsizing": "constant"}


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
        name=families.title(family),
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
