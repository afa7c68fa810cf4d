"""Two goals against each other, a mark a method in the colour of its verdict; the Pareto front has
names.

x and y are scores: absolute gaps to Retrain in points, or costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts import scatter
from dashboard.charts.parts import noise
from dashboard.frames.tradeoffs import Contest, Measure, Scored
from dashboard.text import verdicts

NAMED: Final = 12  # of the front


@dataclass(frozen=True)
class TradeOffsInfo:
    """The marks and references of two measures; `near` are the scores that the window near Retrain
    holds, by axis; `bands` of Retrains of other seeds.
    """

    across: Measure
    up: Measure
    dots: tuple[scatter.Dot, ...]
    retrain: tuple[float, float] | None
    original: tuple[float, float] | None
    front: tuple[str, ...]  # keys of the dots that no other beats
    near: tuple[tuple[float, ...], tuple[float, ...]]
    bands: tuple[tuple[float, float] | None, tuple[float, float] | None]


def trade_offs_info(found: Contest, across: Measure, up: Measure) -> TradeOffsInfo:
    """Near Retrain lie the front, and of all methods the half with the least distance."""
    dots = tuple(dot for row in found.entrants if (dot := _dot(found, row, across, up)) is not None)
    order = sorted(found.entrants, key=lambda row: row.line.away or 0.0)
    close = {row.key for row in (*found.front, *order[: (len(order) + 1) // 2])}
    near = [dot for dot in dots if dot.key in close] or dots
    places = {row.line.method: _place(row, across, up) for row in found.references}
    return TradeOffsInfo(
        across,
        up,
        dots,
        places.get("retrain"),
        places.get("original"),
        tuple(row.key for row in found.front),
        (tuple(dot.x for dot in near), tuple(dot.y for dot in near)),
        (found.noise(across), found.noise(up)),
    )


def _place(row: Scored, across: Measure, up: Measure) -> tuple[float, float] | None:
    x, y = row.scores.get(across.id), row.scores.get(up.id)
    return None if x is None or y is None else (x, y)


def _dot(found: Contest, row: Scored, across: Measure, up: Measure) -> scatter.Dot | None:
    place = _place(row, across, up)
    if place is None or row.line.verdict is None:
        return None
    said = [
        f"{how.short}{' gap' if how.gap else ''} {how.text(score)} {how.unit_name}".strip()
        for how, score in zip((across, up), place, strict=True)
    ]
    return scatter.Dot(
        key=row.key,
        title=row.title,
        x=place[0],
        y=place[1],
        fate=verdicts.fate(row.line.verdict),
        shown=not row.line.verdict.provisional,
        told=f"{', '.join(said)}<br>{found.place(row)}",
    )


def draw(
    info: TradeOffsInfo, *, dark: bool, near: bool = True, selected: str = "", height: int = 520
) -> go.Figure:
    """With `near`, arrows at the edges stand for what lies outside."""
    ends = [place for place in (info.retrain, info.original) if place is not None]
    whole = [[*(dot.x for dot in info.dots), *(x for x, _ in ends)]]
    whole.append([*(dot.y for dot in info.dots), *(y for _, y in ends)])
    across, up = (
        _axis(how, held if near else every)
        for how, held, every in zip((info.across, info.up), info.near, whole, strict=True)
    )
    figure = scatter.draw(
        info.dots,
        across,
        up,
        dark=dark,
        retrain=info.retrain,
        original=info.original,
        selected=selected,
        names=info.front[:NAMED],
        height=height,
        size=(940, height - 80),
    )
    x, y = info.bands
    if x is not None or y is not None:
        figure.add_shape(noise.band(theme.ground(dark), x=x, y=y))
    return figure


def _axis(how: Measure, scores: Sequence[float]) -> scatter.Axis:
    low, high = min(scores, default=0.0), max(scores, default=1.0)
    title = how.axis
    if how.log:
        least = low or high / 1000 or 0.001
        return scatter.Axis(title=title, low=least / 1.6, high=1.6 * max(high, least), log=True)
    floor = 0.0 if how.gap else low
    room = 0.08 * (high - floor) or 0.5
    return scatter.Axis(title=title, low=floor - room / 2, high=high + room)


def alt_text(info: TradeOffsInfo) -> str:
    if not info.dots:
        return "Scatter of two goals; no method has both numbers."
    named = [dot.title for dot in info.dots if dot.key in info.front]
    return (
        f"Scatter of {len(info.dots)} methods, {info.across.short} across and {info.up.short} up. "
        f"Pareto front: {', '.join(named) or 'none'}."
    )
