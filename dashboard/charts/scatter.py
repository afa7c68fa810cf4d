"""The one scatter of methods: a mark a method, its colour and shape its verdict, hollow where that
is an indication alone; Retrain a star, names where they have room.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, name_labels
from dashboard.charts.parts.name_labels import WIDE, Size
from dashboard.frames import Row
from dashboard.text import verdicts

STEPS: Final = (1.0, 3.0)  # of a log axis, in each power of ten


@dataclass(frozen=True, kw_only=True)
class Dot:
    """One method. `key` is what a click opens, `fate` a key of `theme.FATES`, `low` and `high` the
    ends of its line, in the units of y; `told` stands under the cursor.
    """

    key: str
    title: str
    x: float
    y: float
    fate: str
    shown: bool = True
    low: float | None = None
    high: float | None = None
    told: str = ""


def dot_of(
    row: Row, x: float, y: float, told: str, *, key: str = "", half: float | None = None
) -> Dot:
    """The mark of a row of a table, with a line of `half` its length up and down, in points from 0
    to 100; without a `key` a click opens the row's first run.
    """
    verdict = row.verdict
    return Dot(
        key=key or row.keys[0],
        title=row.title,
        x=x,
        y=y,
        fate=verdicts.fate(verdict),
        shown=verdict is None or not verdict.provisional,
        told=told if verdict is None else f"{verdicts.text(verdict)}<br>{told}",
        low=None if half is None else max(y - half, 0.0),
        high=None if half is None else min(y + half, 100.0),
    )


@dataclass(frozen=True, kw_only=True)
class Axis:
    """What an axis says, its ends, and behind the numbers of its ticks a unit; on a log axis what
    lies below `low` stands at its end.
    """

    title: str
    low: float
    high: float
    log: bool = False
    unit: str = ""

    @property
    def span(self) -> tuple[float, float]:
        """The ends as the figure places them: exponents on a log axis."""
        return self.place(self.low), self.place(self.high)

    def place(self, value: float) -> float:
        return math.log10(max(value, self.low)) if self.log else value

    def inside(self, value: float) -> float:
        """`place` of what lies beyond an end is that end."""
        return min(max(self.place(value), self.span[0]), self.span[1])

    def beyond(self, value: float) -> int:
        """1 above the high end, -1 below the low end of a linear axis, else 0."""
        return int(value > self.high) - int(value < self.low and not self.log)

    def ticks(self) -> list[float]:
        powers = range(math.floor(self.span[0]) - 1, math.ceil(self.span[1]) + 1)
        every = [step * 10.0**power for power in powers for step in STEPS]
        return [value for value in every if self.low <= value <= self.high]

    def layout(self) -> dict:
        made = {"range": self.span, "zeroline": False, "title": None, "showline": False}
        if self.log:
            found = self.ticks()
            made |= {
                "tickvals": [self.place(value) for value in found],
                "ticktext": [f"{value:g}{self.unit}" for value in found],
            }
        elif self.unit:
            made |= {"ticksuffix": self.unit}
        return made


def draw(
    dots: Sequence[Dot],
    across: Axis,
    up: Axis,
    *,
    dark: bool,
    retrain: tuple[float, float] | None = None,
    original: tuple[float, float] | None = None,
    selected: str | Collection[str] = "",
    avoid: Sequence[tuple[float, float]] = (),
    diagonal: bool = False,
    names: Collection[str] | None = None,
    most: int = 14,
    size: Size = WIDE,
    height: int = 560,
) -> go.Figure:
    """The figure. `retrain` and `original` are places of the references; the marks `selected`, one
    or several, are ringed and named. With `diagonal`, a dashed line where x is y. At most `most`
    names, of the keys `names` alone where these are given; none covers a place of `avoid`. What
    lies beyond an axis is an arrow at its end.
    """
    look, chosen = theme.ground(dark), {selected} if isinstance(selected, str) else {*selected}
    figure = axes.figure(dark=dark)
    places = {dot.key: (across.inside(dot.x), up.inside(dot.y)) for dot in dots}
    out = {dot.key: (across.beyond(dot.x), up.beyond(dot.y)) for dot in dots}
    out = {key: way for key, way in out.items() if any(way)}
    for fate in (name for name in theme.FATES if any(dot.fate == name for dot in dots)):
        for shown in (True, False):
            mine = [dot for dot in dots if dot.fate == fate and dot.shown is shown]
            if mine:
                figure.add_trace(_trace(mine, places, out, fate, shown, dark, chosen))
    if diagonal:
        low, high = max(across.span[0], up.span[0]), min(across.span[1], up.span[1])
        ends = {"x0": low, "y0": low, "x1": high, "y1": high, "layer": "below"}
        figure.add_shape(
            type="line", line={"width": 1, "dash": "dash", "color": look.muted}, **ends
        )
    for dot in dots:
        if dot.low is not None and dot.high is not None:
            x = across.place(dot.x)
            figure.add_shape(
                type="line",
                x0=x,
                x1=x,
                y0=up.place(dot.low),
                y1=up.place(dot.high),
                line={"width": 1.4, "color": theme.FATES[dot.fate].color(dark)},
                opacity=0.5,
                layer="below",
            )
    references = [
        (title, across.inside(place[0]), up.inside(place[1]), symbol)
        for title, place, symbol in (
            ("Retrain", retrain, "star"),
            ("Original", original, "circle-open"),
        )
        if place is not None and not (across.beyond(place[0]) or up.beyond(place[1]))
    ]
    for title, x, y, symbol in references:
        figure.add_trace(
            go.Scatter(
                x=[x],
                y=[y],
                name=title,
                mode="markers",
                marker={
                    "symbol": symbol,
                    "size": 15 if symbol == "star" else 12,
                    "color": look.text,
                    "line": {"width": 2 if symbol != "star" else 0, "color": look.text},
                },
                hovertemplate=f"<b>{title}</b><extra></extra>",
            )
        )
    named = [(x, y, title) for title, x, y, _ in references]
    wanted = [dot for dot in dots if names is None or dot.key in {*names, *chosen}]
    named += [(*places[dot.key], dot.title) for dot in _by_interest(wanted, chosen)]
    labels = name_labels.place(
        named,
        across.span,
        up.span,
        [
            *places.values(),
            *((x, y) for _, x, y, _ in references),
            *((across.place(x), up.place(y)) for x, y in avoid),
        ],
        most=most,
        must={"Retrain", "Original", *(dot.title for dot in dots if dot.key in chosen)},
        lines=[
            (across.place(dot.x), up.place(dot.low), up.place(dot.high))
            for dot in dots
            if dot.low is not None and dot.high is not None
        ],
        size=size,
    )
    _titles(figure, across, up, look)
    name_labels.write(figure, labels, look)
    figure.update_xaxes(**across.layout())
    figure.update_yaxes(**up.layout())
    figure.update_layout(
        height=height, showlegend=False, margin={"l": 8, "r": 12, "t": 30, "b": 44}
    )
    return figure


def _trace(
    dots: Sequence[Dot],
    places: dict[str, tuple[float, float]],
    out: dict[str, tuple[int, int]],
    fate: str,
    shown: bool,
    dark: bool,
    selected: Collection[str],
) -> go.Scatter:
    style, look = theme.FATES[fate], theme.ground(dark)
    color = style.color(dark)
    symbol, hollow = style.mark(shown)
    chosen = [dot.key in selected for dot in dots]
    return go.Scatter(
        x=[places[dot.key][0] for dot in dots],
        y=[places[dot.key][1] for dot in dots],
        name=fate if shown else f"{fate}, indicated",
        mode="markers",
        cliponaxis=False,  # of an arrow at an end half were cut
        customdata=[[dot.key, dot.title, dot.told] for dot in dots],
        marker={
            "symbol": [
                ("arrow" if dot.key in out else symbol) + ("-open" if hollow else "")
                for dot in dots
            ],
            "angle": [math.degrees(math.atan2(*out.get(dot.key, (0, 1)))) for dot in dots],
            "size": [16 if ring else 12 for ring in chosen],
            "color": color,
            "opacity": 1,
            "line": {
                "width": [3 if ring else 2 if hollow else 1 for ring in chosen],
                "color": [
                    look.text if ring else color if hollow else look.background for ring in chosen
                ],
            },
        },
        hovertemplate="<b>%{customdata[1]}</b><br>%{customdata[2]}<extra></extra>",
    )


def _by_interest(dots: Sequence[Dot], selected: Collection[str]) -> list[Dot]:
    """The selected one, then by turns from below, from the left, and from above: who comes first in
    either, and who is far out.
    """
    turns = [
        sorted(dots, key=lambda dot: dot.y),
        sorted(dots, key=lambda dot: dot.x),
        sorted(dots, key=lambda dot: -dot.y),
    ]
    mixed = [dot for each in zip(*turns, strict=True) for dot in each]
    return list(dict.fromkeys([*(dot for dot in dots if dot.key in selected), *mixed]))


def _titles(figure: go.Figure, across: Axis, up: Axis, look: theme.Ground) -> None:
    """What the axes say, at their ends, where a turned head needs none."""
    paper: dict[str, Any] = {"xref": "paper", "yref": "paper"}
    axes.put(
        figure,
        [
            axes.words(
                up.title, look.muted, x=0, y=1, xanchor="left", yanchor="bottom", yshift=8, **paper
            ),
            axes.words(
                across.title,
                look.muted,
                x=1,
                y=0,
                xanchor="right",
                yanchor="top",
                yshift=-24,
                **paper,
            ),
        ],
    )
