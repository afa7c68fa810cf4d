"""The small pictures of Start: distances as dots on stalks, accuracies as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts import cost_distance
from dashboard.charts.parts import axes
from dashboard.frames.start import Mark

HEIGHT = 165


def distances(marks: Sequence[Mark], *, dark: bool) -> go.Figure:
    """Points from Retrain, whose line is dashed."""
    look, figure = theme.ground(dark), _figure(marks, dark)
    for row, mark in enumerate(marks):
        color, symbol = _style(mark, dark)
        figure.add_trace(
            go.Scatter(
                x=[0, mark.value],
                y=[row, row],
                mode="lines+markers",
                line={"color": color, "width": 2.5},
                marker={
                    "symbol": symbol,
                    "size": [0, 13],
                    "color": color,
                    "opacity": 1,
                    "line": {"width": 2 if symbol.endswith("open") else 0, "color": color},
                },
                hoverinfo="skip",
            )
        )
        _number(figure, f"{mark.value:.1f}", mark.value, row, look)
    figure.add_vline(x=0, line={"dash": "dash", "width": 2, "color": look.text})
    most = max((mark.value for mark in marks), default=1.0)
    figure.update_xaxes(range=(-0.03 * most, 1.4 * most), nticks=4, ticksuffix="")
    return figure


def accuracies(marks: Sequence[Mark], *, dark: bool) -> go.Figure:
    look, figure = theme.ground(dark), _figure(marks, dark)
    figure.add_trace(
        go.Bar(
            x=[mark.value for mark in marks],
            y=list(range(len(marks))),
            orientation="h",
            width=0.55,
            marker={"color": [_style(mark, dark)[0] for mark in marks], "line": {"width": 0}},
            hoverinfo="skip",
        )
    )
    for row, mark in enumerate(marks):
        _number(figure, f"{mark.value:.1f} %", mark.value, row, look)
    figure.update_xaxes(range=(0, 130), tickvals=[0, 50, 100], ticksuffix=" %")
    return figure


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


def alt_text(marks: Sequence[Mark], what: str) -> str:
    return f"{what}: " + ", ".join(f"{mark.title} {mark.value:.1f}" for mark in marks) + "."


def _figure(marks: Sequence[Mark], dark: bool) -> go.Figure:
    names = [mark.title if mark.fate else f"<b>{mark.title}</b>" for mark in marks]
    figure = axes.figure(dark=dark)
    figure.update_yaxes(
        tickvals=list(range(len(marks))),
        ticktext=[f"{name} " for name in names],
        range=(len(marks) - 0.5, -0.5),
        showgrid=False,
        zeroline=False,
        showline=False,
    )
    figure.update_xaxes(zeroline=False, showline=False)
    margin = {"l": 4, "r": 4, "t": 4, "b": 24}
    return figure.update_layout(height=HEIGHT, showlegend=False, margin=margin)


def _style(mark: Mark, dark: bool) -> tuple[str, str]:
    if not mark.fate:
        return theme.ground(dark).text, "star"
    style = theme.FATES[mark.fate]
    return style.color(dark), style.symbol


def _number(figure: go.Figure, text: str, x: float, y: int, look: theme.Ground) -> None:
    axes.write(figure, f"<b>{text}</b>", look.text, size=13, x=x, y=y, xanchor="left", xshift=8)
