"""Scatters on one scale: a diagonal, and both axes over one span."""

from __future__ import annotations

import plotly.graph_objects as go

from dashboard import theme


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
