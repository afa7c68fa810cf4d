"""What a method costs and how far it ends from Retrain: Results, Start, a method's page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts import scatter
from dashboard.charts.parts import axes
from dashboard.frames import Row
from dashboard.text.labels import number

FLOOR: Final = 0.1  # points: the least that a log axis of accuracies shows


@dataclass(frozen=True)
class CostDistanceInfo:
    """Distances in points, costs in % of a Retrain. `apart` is how far two Retrains lie from each
    other at most, None with fewer than two.
    """

    dots: tuple[scatter.Dot, ...]
    original: float | None
    apart: float | None
    missing: tuple[str, ...]  # titles of methods without a distance or a cost
    work: bool  # whether costs are samples; else they are times

    @property
    def floor(self) -> float:
        above = [dot.y for dot in self.dots if dot.y > 0]
        return min([FLOOR, *above])


def cost_distance_info(rows: Sequence[Row], apart: float | None = None) -> CostDistanceInfo:
    """The figure's numbers from lines of a table, of which it needs the cost; `apart` in 0..1."""
    methods = [row for row in rows if not row.reference]
    dots, missing = [], []
    for row in methods:
        cost, verdict = row.cost, row.verdict
        if row.distance is None or cost is None or verdict is None:
            missing.append(row.title)
            continue
        away, half = 100 * row.distance.mean, 100 * (row.distance.half or 0.0)
        said = f"{number(away / 100, 'percent')} points from Retrain, {100 * cost:.2g} % of cost"
        unsure = half if verdict.provisional and half else None
        dots.append(scatter.dot_of(row, 100 * cost, away, said, key=row.id, half=unsure))
    original = next((row.away for row in rows if row.method == "original"), None)
    return CostDistanceInfo(
        dots=tuple(dots),
        original=None if original is None else 100 * original,
        apart=None if apart is None else 100 * apart,
        missing=tuple(missing),
        work=any("rte_work" in row.cells for row in methods),
    )


def draw(
    info: CostDistanceInfo, *, dark: bool, selected: str = "", most: int = 14, height: int = 580
) -> go.Figure:
    look = theme.ground(dark)
    floor = info.floor
    top = max([1.0, *(dot.y for dot in info.dots), info.original or 0.0])
    least = min([50.0, *(dot.x for dot in info.dots)])
    across = scatter.Axis(
        title=f"Cost: {'work' if info.work else 'time'}, % of a Retrain (log)",
        low=least / 1.6,
        high=max([150.0, *(1.5 * dot.x for dot in info.dots)]),
        log=True,
        unit=" %",
    )
    up = scatter.Axis(
        title="Distance to Retrain, points (log)", low=floor / 1.6, high=1.7 * top, log=True
    )
    # no distance at all lies infinitely low: it stands on the floor, as Retrain does
    dots = [dot if dot.y >= floor else replace(dot, y=floor) for dot in info.dots]
    figure = scatter.draw(
        dots,
        across,
        up,
        dark=dark,
        retrain=(100.0, floor),
        selected=selected,
        avoid=_written(info, across, up),
        most=most,
        height=height,
    )
    if info.apart is not None and info.apart > up.low:
        figure.add_shape(
            type="rect",
            xref="x domain",
            x0=0,
            x1=1,
            y0=up.span[0],
            y1=up.place(info.apart),
            fillcolor=look.selected,
            opacity=0.75,
            line_width=0,
            layer="below",
            name="noise",
        )
        _beside(figure, "within Retrain's spread", up.span[0], "bottom", look)
    if info.original is not None:
        y = up.place(info.original)
        figure.add_hline(y=y, line={"dash": "dot", "width": 1.5, "color": look.text})
        _beside(figure, "Original (untouched)", y, "bottom", look)
    return figure


def _written(
    info: CostDistanceInfo, across: scatter.Axis, up: scatter.Axis
) -> list[tuple[float, float]]:
    """Where the line of Original and the words at the left end are, for names to keep off."""
    wide = across.high / across.low
    steps = [across.low * wide ** (step / 24) for step in range(25)]
    line = [] if info.original is None else [(x, info.original) for x in steps]
    words = [] if info.apart is None else [(x, 1.15 * up.low) for x in steps[:9]]
    return line + words


def _beside(figure: go.Figure, text: str, y: float, anchor: str, look: theme.Ground) -> None:
    """Words at the left end of a line or a band."""
    place: dict[str, Any] = {"x": 0, "y": y, "xanchor": "left", "yanchor": anchor}
    axes.write(figure, text, look.muted, xref="x domain", xshift=6, yshift=2, **place)


def alt_text(info: CostDistanceInfo) -> str:
    if not info.dots:
        return "Scatter of cost against distance to Retrain; no method has both yet."
    best = min(info.dots, key=lambda dot: dot.y)
    return (
        f"Scatter of {len(info.dots)} methods: cost on x, distance to Retrain on y. Nearest: "
        f"{best.title}, {best.y:.1f} points."
    )
