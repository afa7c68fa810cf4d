"""Does a method that works on one data set work on another? AGL on one on x, on the other on y; on
the diagonal both are alike (Are We Truly Forgetting?, Figure 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, intervals, name_labels, scatter
from dashboard.charts.parts.scatter import Spot
from dashboard.frames.representation import Pair, similarity

_SPAN = (-0.03, 1.04)


@dataclass(frozen=True)
class TwoSetsInfo:
    """`pairs`, those that fall most from x to y first; `x` and `y` are the titles of the data
    sets.
    """

    pairs: tuple[Pair, ...]
    x: str
    y: str

    @property
    def note(self) -> str:
        return intervals.note(
            len(self.pairs), [half for pair in self.pairs for half in (pair.x_half, pair.y_half)]
        )


def two_sets_info(pairs: Sequence[Pair], x: str, y: str) -> TwoSetsInfo:
    """`pairs` of `frames.representation.two_sets`; `x` and `y` are the titles of the data sets."""
    return TwoSetsInfo(tuple(pairs), x, y)


def draw(info: TwoSetsInfo, *, dark: bool, selected: str = "") -> go.Figure:
    look = theme.ground(dark)
    figure = axes.figure(dark=dark)
    figure.add_trace(scatter.diagonal(0, 1, look, "alike"))
    told = [
        Spot(
            pair.family,
            pair.key,
            pair.x,
            pair.y,
            pair.x_half,
            pair.y_half,
            (pair.title, *_said(pair)),
        )
        for pair in info.pairs
    ]
    hover = (
        f"<b>%{{customdata[1]}}</b><br>{info.x}: AGL %{{customdata[2]}}<br>{info.y}: AGL "
        "%{customdata[3]}<extra></extra>"
    )
    scatter.add(figure, told, hover=hover, dark=dark, selected=selected)
    figure.add_trace(
        go.Scatter(
            x=[1.0],
            y=[1.0],
            name="Retrain",
            mode="markers",
            marker={"symbol": "star", "size": 13, "color": look.text},
            hovertemplate="<b>Retrain</b><br>AGL 1 on both<extra></extra>",
            showlegend=False,
        )
    )
    chosen = {pair.title for pair in info.pairs if selected and pair.key == selected}
    named = [(1.0, 1.0, "Retrain"), *((pair.x, pair.y, pair.title) for pair in info.pairs)]
    marks = [(x, y) for x, y, _ in named]
    name_labels.write(
        figure,
        name_labels.place(named, _SPAN, _SPAN, marks, most=16, must={"Retrain", *chosen}),
        look,
    )
    for x, y, text, anchor in (
        (0.03, 0.97, f"better on {info.y}", "left"),
        (0.97, 0.03, f"better on {info.x}", "right"),
    ):
        axes.write(figure, text, look.muted, x=x, y=y, xanchor=anchor)
    scatter.square(
        figure, _SPAN, across=f"AGL on {info.x}: 1 is ideal", up=f"AGL on {info.y}: 1 is ideal"
    )
    figure.update_layout(height=560, legend=scatter.legend(), margin={"t": 12, "l": 60})
    return figure


def alt_text(info: TwoSetsInfo) -> str:
    if not info.pairs:
        return "Scatter of AGL on two data sets; no method has both yet."
    most = info.pairs[0]
    below = sum(pair.y < pair.x for pair in info.pairs)
    return (
        f"Scatter of {len(info.pairs)} methods: AGL on {info.x} on x, on {info.y} on y. {below} "
        f"lie below the diagonal. Falls most: {most.title}, from {similarity(most.x)} to "
        f"{similarity(most.y)}."
    )


def _said(pair: Pair) -> tuple[str, str]:
    both = ((pair.x, pair.x_half), (pair.y, pair.y_half))
    numbers = (intervals.said(value, half, digits=3) for value, half in both)
    first, second = (
        f"{number}, {said}" if said else number
        for number, said in zip(numbers, pair.said, strict=True)
    )
    return first, second
