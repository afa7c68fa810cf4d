"""Methods by two measures of what their features keep: CKA to Original against CKA to Retrain, AGL
against AGR, the gap in accuracy against the ratio of CKAs (Are We Truly Forgetting?, Figures 2, 4a,
4b, 5 and 7).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import plotly.graph_objects as go

from dashboard.charts import scatter
from dashboard.charts.parts import axes
from dashboard.charts.scatter import Axis, Dot
from dashboard.frames import Row
from dashboard.frames.representation import mean, similarity
from dashboard.text import verdicts


@dataclass(frozen=True, kw_only=True)
class Measures:
    """The metrics on x and y with their titles. `equal`: both run from 0 to 1 and a dashed diagonal
    parts the figure.
    """

    x: str
    y: str
    across: str
    up: str
    equal: bool = True


@dataclass(frozen=True, kw_only=True)
class SimilarityScatterInfo:
    """What is drawn; `missing` are the titles of methods without one of the two numbers."""

    measures: Measures
    dots: tuple[Dot, ...]
    retrain: tuple[float, float] | None = None
    original: tuple[float, float] | None = None
    missing: tuple[str, ...] = field(default=())


def similarity_scatter_info(
    rows: Sequence[Row], measures: Measures, key: Callable[[Row], str]
) -> SimilarityScatterInfo:
    """The marks of `rows`, each named by `key`."""
    dots, missing, references = [], [], {}
    for row in rows:
        x, y = mean(row, measures.x), mean(row, measures.y)
        if row.reference:
            if x is not None and y is not None:
                references[row.method] = (x, y)
        elif x is None or y is None:
            missing.append(row.title)
        else:
            dots.append(dot(key(row), row, x, y))
    return SimilarityScatterInfo(
        measures=measures,
        dots=tuple(dots),
        retrain=references.get("retrain"),
        original=references.get("original"),
        missing=tuple(missing),
    )


def dot(key: str, row: Row, x: float, y: float) -> Dot:
    judged = row.verdict
    said = f"{similarity(x)} across, {similarity(y)} up"
    return Dot(
        key=key,
        title=row.title,
        x=x,
        y=y,
        fate="cannot tell" if judged is None else verdicts.fate(judged),
        shown=judged is None or not judged.provisional,
        told=said if judged is None else f"{verdicts.text(judged)}<br>{said}",
    )


def draw(
    info: SimilarityScatterInfo,
    *,
    dark: bool,
    selected: str | Sequence[str] = "",
    most: int = 12,
    height: int = 520,
    size: scatter.Size = scatter.WIDE,
) -> go.Figure:
    asked = info.measures
    places = [(dot.x, dot.y) for dot in info.dots]
    places += [place for place in (info.retrain, info.original) if place is not None]
    across, up = (_ends([place[number] for place in places], asked.equal) for number in (0, 1))
    figure = scatter.draw(
        info.dots,
        Axis(title=asked.across, low=across[0], high=across[1]),
        Axis(title=asked.up, low=up[0], high=up[1]),
        dark=dark,
        retrain=info.retrain,
        original=info.original,
        selected=selected,
        diagonal=asked.equal,
        most=most,
        size=size,
        height=height,
    )
    if asked.equal:
        figure.update_xaxes(dtick=0.25)
        figure.update_yaxes(dtick=0.25)
    return figure


def _ends(values: Sequence[float], equal: bool) -> tuple[float, float]:
    """Of an axis of shares, with room for the marks at its ends, wider where one lies outside."""
    low, high = axes.padded(values, 0.08, 0.02)
    return (min(-0.04, low), max(1.06, min(high, 1.5))) if equal else (low, high)


def alt_text(info: SimilarityScatterInfo) -> str:
    if not info.dots:
        return "Scatter of methods; none has both numbers yet."
    best = max(info.dots, key=lambda dot: dot.y)
    asked = info.measures
    return (
        f"Scatter of {len(info.dots)} methods: {asked.across} on x, {asked.up} on y. Highest: "
        f"{best.title}, {similarity(best.y)}."
    )
