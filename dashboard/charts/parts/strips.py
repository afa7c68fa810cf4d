"""Runs as strips of points, a forget set a line, in a panel a method: what the figures of Becker &
Liebig share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import noise, subplots

AXIS = "Efficacy (log scale): lower is less exposed"
PANELS = 8  # methods shown
# runs from which a smooth density is drawn; below, it would show its kernel and not the seeds
DENSE = 8
RIDGE = 0.72  # height of a density, in lines
GREY = 0.3  # of the way to the next line: how far the grey of Retrain reaches on either side

Run = tuple[str, float, int]  # its key, its value, the line of its forget set


def axis(labels: Sequence[str]) -> dict[str, Any]:
    """The y axis: forget sets, the first at the bottom."""
    return {
        "tickvals": list(range(len(labels))),
        "ticktext": labels,
        "range": [-0.5, len(labels) - 0.1],
        "zeroline": False,
    }


def ridge(
    x: np.ndarray, density: np.ndarray, *, line: int, color: str, dash: str | None = None
) -> go.Scatter:
    """A density over `x`, whose largest value is 1, above the line of its forget set."""
    return go.Scatter(
        x=x,
        y=line + RIDGE * density,
        mode="lines",
        line={"color": color, "width": 1.8, "dash": dash},
        hoverinfo="skip",
        showlegend=False,
    )


def noises(
    figure: go.Figure, panels: int, spans: Mapping[int, noise.Span], look: theme.Ground
) -> None:
    """Grey behind each line of every panel of a grid: where a Retrain of another seed stands on
    that forget set.
    """
    made = [
        noise.band(look, x=span, y=(line - GREY, line + GREY), xref=f"x{end}", yref=f"y{end}")
        for end in map(subplots.ending, range(1, panels + 1))
        for line, span in spans.items()
    ]
    figure.layout.shapes = [*figure.layout.shapes, *made]


def points(
    runs: Sequence[Run],
    labels: Sequence[str],
    said: Mapping[str, str],
    *,
    marker: Mapping[str, Any],
    hover: str,
) -> go.Scatter:
    """A mark a run. Its custom data are its key, the label of its forget set and what is `said` of
    it, for `hover`.
    """
    # one look for all and arrays for the rest: plotly checks lists item by item, which thousands of
    # runs would feel
    return go.Scatter(
        x=np.array([value for _, value, _ in runs]),
        y=np.array([line for _, _, line in runs]),
        mode="markers",
        showlegend=False,
        customdata=np.array(
            [(key, labels[line], said[key]) for key, _, line in runs], dtype=object
        ),
        marker=marker,
        hovertemplate=hover,
    )
