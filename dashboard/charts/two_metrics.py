"""Methods by two of their metrics: CKA to Original and to Retrain, AGL and AGR (Are We Truly
Forgetting?, Figures 2, 4a, 5 and 7), efficacy and membership (Becker & Liebig, Figures 4 and 8).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from dashboard.charts import scatter
from dashboard.charts.parts import axes
from dashboard.charts.scatter import Axis
from dashboard.frames import Row

Places = Mapping[str, tuple[float, float]]  # by the id of a row


@dataclass(frozen=True, kw_only=True)
class Measures:
    """The metrics on x and y with what the axes say. `equal`: both run from 0 to 1 and a dashed
    diagonal parts the figure. `percent`: y is a share, drawn as percent.
    """

    x: str
    y: str
    across: str
    up: str
    equal: bool = False
    percent: bool = False


def places(rows: Sequence[Row], measures: Measures) -> Places:
    """Of the rows that have both numbers."""
    scale = 100 if measures.percent else 1
    found = {row.id: (row.mean(measures.x), row.mean(measures.y)) for row in rows}
    return {
        name: (x, scale * y) for name, (x, y) in found.items() if x is not None and y is not None
    }


def draw(
    rows: Sequence[Row],
    known: Places,
    measures: Measures,
    *,
    dark: bool,
    selected: Collection[str] = (),
    most: int = 12,
    height: int = 520,
    size: scatter.Size = scatter.WIDE,
) -> go.Figure:
    """`selected` are runs to ring; a click on a mark opens the first run of its row. Of more than
    `most` rows, nearest to Retrain first, axes that end nowhere by themselves hold the first half.
    """
    shown = [row for row in rows if row.id in known]
    many = len(shown) > most and not measures.equal
    held = [row for row in shown if row.reference] + shown[
        : (len(shown) + 1) // 2 if many else None
    ]
    across, up = (
        Axis(title=title, low=ends[0], high=ends[1])
        for place, title in enumerate((measures.across, measures.up))
        for ends in [_ends([known[row.id][place] for row in held], measures.equal)]
    )
    references = {row.method: known[row.id] for row in shown if row.reference}
    figure = scatter.draw(
        [
            scatter.dot_of(row, x, y, _told(measures, x, y))
            for row in shown
            if not row.reference
            for x, y in [known[row.id]]
        ],
        across,
        up,
        dark=dark,
        retrain=references.get("retrain"),
        original=references.get("original"),
        selected=[row.keys[0] for row in shown if set(row.keys) & set(selected)],
        diagonal=measures.equal,
        most=most,
        size=size,
        height=height,
    )
    if measures.equal:
        figure.update_xaxes(dtick=0.25)
        figure.update_yaxes(dtick=0.25)
    return figure


def _told(measures: Measures, x: float, y: float) -> str:
    return f"{measures.across}: {x:.3f}<br>{measures.up}: {y:.{1 if measures.percent else 3}f}"


def _ends(values: Sequence[float], equal: bool) -> tuple[float, float]:
    """Of an axis, with room for the marks at its ends; of shares wider where one lies outside."""
    low, high = axes.padded(values, 0.08, 0.02)
    return (min(-0.04, low), max(1.06, min(high, 1.5))) if equal else (low, high)


def alt_text(rows: Sequence[Row], known: Places, measures: Measures) -> str:
    titles = {row.id: row.title for row in rows if row.id in known and not row.reference}
    best = max(titles, key=lambda name: known[name][1], default="")
    highest = f" Highest: {titles[best]}, {known[best][1]:.3f}." if titles else ""
    return f"Scatter of {len(titles)} methods: {measures.across} on x, {measures.up} on y.{highest}"
