"""Forgetting against utility: one mark a method, Retrain at the crossing of the dashed lines.

x: FA gap to Retrain, y: TA gap to Retrain, both in percentage points; (0, 0) is where exact unlearning lands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from dashboard import theme
from dashboard.frames import ResultsTable, Row
from mucore import catalog

# A method that loses this many points of TA is out of the crowded corner.
NEAR_POINTS = 5.0


@dataclass(frozen=True)
class Mark:
    """One method; gaps and half widths of the 95 % t-interval in points."""

    row: str
    title: str
    family: str
    x: float
    y: float
    x_half: float | None
    y_half: float | None
    pareto: bool


@dataclass(frozen=True)
class TradeoffInfo:
    """What the figure shows. `all_x`, `all_y` hold every mark, `near_x`, `near_y` the zoomed view, `outside` the titles it leaves out.

    Ranges follow the marks and not their intervals: two seeds give intervals so wide that no mark could be told from another."""

    marks: tuple[Mark, ...]
    original: tuple[float, float] | None  # (FA gap, TA gap) of the model before unlearning
    missing: tuple[str, ...]  # titles of rows without both gaps
    all_x: tuple[float, float]
    all_y: tuple[float, float]
    near_x: tuple[float, float]
    near_y: tuple[float, float]
    outside: tuple[str, ...]


def tradeoff_info(table: ResultsTable) -> TradeoffInfo:
    """Marks of all methods with both gaps, which of them no other beats, and where the crowded corner lies."""
    placed = [(row, x, y) for row in table.methods if (x := _gap(row, "fa")) is not None and (y := _gap(row, "ta")) is not None]
    best = pareto([(abs(x[0]), y[0]) for _, x, y in placed])
    marks = tuple(
        Mark(row.id, row.title, row.family, x[0], y[0], x[1], y[1], on_front) for (row, x, y), on_front in zip(placed, best, strict=True)
    )
    original = _original(table)
    anchors = [(0.0, 0.0)] + ([original] if original else [])
    everything = [(mark.x, mark.y) for mark in marks] + anchors
    corner = [(0.0, 0.0)] + [(mark.x, mark.y) for mark in marks if mark.y >= -NEAR_POINTS]
    near_x, near_y = _padded([x for x, _ in corner]), _padded([y for _, y in corner])
    named = [(mark.title, mark.x, mark.y) for mark in marks] + ([("Original", *original)] if original else [])
    return TradeoffInfo(
        marks=marks,
        original=original,
        missing=tuple(row.title for row in table.methods if row.id not in {mark.row for mark in marks}),
        all_x=_padded([x for x, _ in everything]),
        all_y=_padded([y for _, y in everything]),
        near_x=near_x,
        near_y=near_y,
        outside=tuple(title for title, x, y in named if not (near_x[0] <= x <= near_x[1] and near_y[0] <= y <= near_y[1])),
    )


def pareto(points: Sequence[tuple[float, float]]) -> list[bool]:
    """For each (distance, utility): whether no other point is at least as near and as useful, and better in one of the two."""
    return [not any(d <= distance and u >= utility and (d < distance or u > utility) for d, u in points) for distance, utility in points]


def draw(info: TradeoffInfo, *, dark: bool, zoom: bool = False, selected: str = "") -> go.Figure:
    """The scatter; `zoom` shows the corner near Retrain only, `selected` is the row id to ring and label."""
    look = theme.ground(dark)
    figure = go.Figure(layout={"template": theme.template(dark)})
    figure.add_hline(y=0, line={"dash": "dash", "width": 1.2, "color": look.text})
    figure.add_vline(x=0, line={"dash": "dash", "width": 1.2, "color": look.text})
    families = [family for family in catalog.FAMILIES if any(mark.family == family for mark in info.marks)]
    for family in families:
        figure.add_trace(_family_trace(family, [mark for mark in info.marks if mark.family == family], dark, selected))
    references = [("Retrain", 0.0, 0.0, "star")] + ([("Original", *info.original, "circle-open")] if info.original else [])
    for title, x, y, symbol in references:
        figure.add_trace(
            go.Scatter(
                x=[x],
                y=[y],
                name=title,
                mode="markers",
                marker={"symbol": symbol, "size": 12, "color": look.text, "line": {"width": 2, "color": look.text}},
                hovertemplate=f"<b>{title}</b><br>FA gap %{{x:+.1f}} points<br>TA gap %{{y:+.1f}} points<extra></extra>",
                showlegend=False,
            )
        )
    for x, y, title in _labels(info, zoom, selected):
        figure.add_annotation(
            x=x,
            y=y,
            text=title,
            showarrow=False,
            yshift=18,
            font={"size": 12, "color": look.text},
            bgcolor=look.background,
            borderpad=1,
            opacity=0.9,
        )
    figure.update_xaxes(title="FA gap to Retrain, points: 0 is ideal", zeroline=False, range=info.near_x if zoom else info.all_x)
    figure.update_yaxes(title="TA gap to Retrain, points", zeroline=False, range=info.near_y if zoom else info.all_y)
    # the legend stands one family a line in a narrow column, so the figure grows with it
    legend = {"orientation": "h", "y": -0.18, "yanchor": "top", "x": 0, "font": {"size": 12}, "itemsizing": "constant"}
    figure.update_layout(height=400 + 20 * len(families), legend=legend, margin={"t": 12})
    return figure


def alt_text(info: TradeoffInfo) -> str:
    """The figure in one or two sentences, for a reader who cannot see it."""
    if not info.marks:
        return "Scatter of forget-accuracy gap against test-accuracy gap; no method has both yet."
    front = ", ".join(mark.title for mark in info.marks if mark.pareto)
    return (
        f"Scatter of {len(info.marks)} methods: forget-accuracy gap to Retrain on x, test-accuracy gap to Retrain on y, in points; "
        f"Retrain is at zero, zero. No method beats these in both: {front}."
    )


def _gap(row: Row, metric: str) -> tuple[float, float | None] | None:
    gap = row.cells[metric].gap
    return None if gap is None else (100 * gap.mean, None if gap.half is None else 100 * gap.half)


def _original(table: ResultsTable) -> tuple[float, float] | None:
    """The original's place: its values less Retrain's, since a reference carries no gap of its own."""
    found = {row.method: row for row in table.rows if row.reference}
    if "original" not in found or "retrain" not in found:
        return None
    place = []
    for metric in ("fa", "ta"):
        ours, base = found["original"].cells[metric].value, found["retrain"].cells[metric].value
        if ours is None or base is None:
            return None
        place.append(100 * (ours.mean - base.mean))
    return place[0], place[1]


def _padded(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    room = max(0.15 * (high - low), 0.5)
    return low - room, high + room


def _family_trace(family: str, marks: list[Mark], dark: bool, selected: str) -> go.Scatter:
    style = theme.family_style(family)
    color = style.color(dark)
    sizes = [16 if mark.row == selected else 11 for mark in marks]
    rings = [theme.ground(dark).text if mark.row == selected else color for mark in marks]
    return go.Scatter(
        x=[mark.x for mark in marks],
        y=[mark.y for mark in marks],
        name=catalog.FAMILIES[family],
        mode="markers",
        customdata=[[mark.row, mark.title] for mark in marks],
        marker={"symbol": style.symbol, "size": sizes, "color": color, "opacity": 1, "line": {"width": 2, "color": rings}},
        error_x=_bars([mark.x_half for mark in marks], color),
        error_y=_bars([mark.y_half for mark in marks], color),
        hovertemplate="<b>%{customdata[1]}</b><br>FA gap %{x:+.1f} points<br>TA gap %{y:+.1f} points<extra></extra>",
    )


def _bars(halves: list[float | None], color: str) -> dict:
    return {"type": "data", "array": [half or 0.0 for half in halves], "thickness": 1, "width": 0, "color": color, "visible": any(halves)}


def _labels(info: TradeoffInfo, zoom: bool, selected: str) -> list[tuple[float, float, str]]:
    """Only the references, the selected row and the front are named, or names would cover each other."""
    named = [(0.0, 0.0, "Retrain")] + ([(*info.original, "Original")] if info.original else [])
    named += [(mark.x, mark.y, mark.title) for mark in info.marks if mark.pareto or mark.row == selected]
    (x0, x1), (y0, y1) = (info.near_x, info.near_y) if zoom else (info.all_x, info.all_y)
    kept: list[tuple[float, float, str]] = []
    for x, y, title in named:
        clear = all(abs(x - other) > 0.22 * (x1 - x0) or abs(y - height) > 0.055 * (y1 - y0) for other, height, _ in kept)
        if clear and x0 <= x <= x1 and y0 <= y <= y1:  # a covered mark still says its name on hover
            kept.append((x, y, title))
    return kept
