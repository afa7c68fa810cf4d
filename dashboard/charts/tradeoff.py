"""Forgetting against utility: one mark a method, Retrain at the crossing of the dashed lines.

x: FA gap to Retrain, y: TA gap to Retrain, both in percentage points; (0, 0) is where exact
unlearning lands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import (
    axes,
    families,
    intervals,
    name_labels,
    noise,
    references,
    scatter,
)
from dashboard.charts.parts.scatter import Spot
from dashboard.frames import ResultsTable, Row, verdict_text
from dashboard.text import verdicts

# A method that loses this many points of TA is out of the crowded corner.
NEAR_POINTS = 5.0
TALL = 560  # pixels; with its captions it still fits into a window of 800


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
    pareto: bool  # among the methods that forgot, where there are verdicts
    verdict: str = ""


@dataclass(frozen=True)
class TradeoffInfo:
    """What the figure shows. `all_x`, `all_y` hold every mark, `near_x`, `near_y` the zoomed view,
    `outside` the titles it leaves out.

    Ranges follow the marks and not their intervals: two seeds give intervals so wide that no mark
    could be told from another.
    """

    marks: tuple[Mark, ...]
    original: tuple[float, float] | None  # (FA gap, TA gap) of the model before unlearning
    missing: tuple[str, ...]  # titles of rows without both gaps
    all_x: tuple[float, float]
    all_y: tuple[float, float]
    near_x: tuple[float, float]
    near_y: tuple[float, float]
    outside: tuple[str, ...]
    # half of the band of Retrain against Retrain of other seeds, in points of FA and TA
    noise: tuple[float, float] | None = None

    @property
    def flat(self) -> tuple[str, ...]:
        """In which accuracies Retrains agree to a tenth of a point: there the band is a line."""
        names = ("forget accuracy", "test accuracy")
        return tuple(
            name for name, half in zip(names, self.noise or (), strict=False) if half < 0.05
        )

    @property
    def note(self) -> str:
        """What is to be said about the intervals, if not all of them are drawn."""
        return intervals.note(
            len(self.marks), [half for mark in self.marks for half in (mark.x_half, mark.y_half)]
        )


def tradeoff_info(table: ResultsTable) -> TradeoffInfo:
    """Marks of all methods with both gaps, which of those that forgot no other one beats, and where
    the crowded corner lies.
    """
    placed = [
        (row, x, y)
        for row in table.methods
        if (x := _gap(row, "fa")) is not None and (y := _gap(row, "ta")) is not None
    ]
    judged = any(row.verdict for row in table.methods)
    running = [
        (row.id, x, y)
        for row, x, y in placed
        if not judged or row in verdicts.leading(table.methods)
    ]
    best = pareto([(abs(x[0]), y[0]) for _, x, y in running])
    front = {name for (name, _, _), on_front in zip(running, best, strict=True) if on_front}
    marks = tuple(
        Mark(
            row.id,
            row.title,
            row.family,
            x[0],
            y[0],
            x[1],
            y[1],
            row.id in front,
            verdict_text(row),
        )
        for row, x, y in placed
    )
    original = _original(table)
    anchors = [(0.0, 0.0)] + ([original] if original else [])
    everything = [(mark.x, mark.y) for mark in marks] + anchors
    corner = [(0.0, 0.0)] + [(mark.x, mark.y) for mark in marks if mark.y >= -NEAR_POINTS]
    near_x, near_y = _span([x for x, _ in corner]), _span([y for _, y in corner])
    named = [(mark.title, mark.x, mark.y) for mark in marks] + (
        [("Original", *original)] if original else []
    )
    return TradeoffInfo(
        marks=marks,
        original=original,
        missing=tuple(
            row.title for row in table.methods if row.id not in {mark.row for mark in marks}
        ),
        all_x=_span([x for x, _ in everything]),
        all_y=_span([y for _, y in everything]),
        near_x=near_x,
        near_y=near_y,
        outside=tuple(
            title
            for title, x, y in named
            if not (near_x[0] <= x <= near_x[1] and near_y[0] <= y <= near_y[1])
        ),
        noise=(100 * table.noise["fa"], 100 * table.noise["ta"])
        if {"fa", "ta"} <= table.noise.keys()
        else None,
    )


def pareto(points: Sequence[tuple[float, float]]) -> list[bool]:
    """For each (distance, utility): whether no other point is at least as near and as useful, and
    better in one of the two.
    """
    return [
        not any(d <= distance and u >= utility and (d < distance or u > utility) for d, u in points)
        for distance, utility in points
    ]


def draw(
    info: TradeoffInfo, *, dark: bool, zoom: bool = False, selected: str = "", legend: bool = True
) -> go.Figure:
    """The scatter; `zoom` shows the corner near Retrain only, `selected` is the row id to ring and
    label.

    Without a `legend`, as beside a table that has the same marks, it is as high as a column beside
    the table.
    """
    look = theme.ground(dark)
    figure = axes.figure(dark=dark)
    if info.noise is not None:
        across, up = ((-half, half) for half in info.noise)
        # a box without a width would lie under the star: then strips go through the whole panel
        for x, y in [(across, None), (None, up)] if info.flat else [(across, up)]:
            figure.add_shape(noise.band(look, x=x, y=y))
    figure.add_hline(y=0, line=references.line("Retrain", look, 1.2))
    figure.add_vline(x=0, line=references.line("Retrain", look, 1.2))
    spots = [
        Spot(
            mark.family,
            mark.row,
            mark.x,
            mark.y,
            mark.x_half,
            mark.y_half,
            (
                mark.title,
                _points(mark.x, mark.x_half),
                _points(mark.y, mark.y_half),
                mark.verdict and f"<br>{mark.verdict}",
            ),
        )
        for mark in info.marks
    ]
    hover = (
        "<b>%{customdata[1]}</b>%{customdata[4]}<br>FA gap %{customdata[2]}<br>TA gap "
        "%{customdata[3]}<extra></extra>"
    )
    scatter.add(figure, spots, hover=hover, dark=dark, selected=selected)
    told = "FA gap %{x:+.1f} points<br>TA gap %{y:+.1f} points"
    for title, place in (("Retrain", (0.0, 0.0)), ("Original", info.original)):
        if place is not None:
            figure.add_trace(scatter.reference(title, *place, look, told=told, size=12))
    name_labels.write(figure, _labels(info, zoom, selected), look)
    figure.update_xaxes(
        title="FA gap to Retrain, points: 0 is ideal",
        zeroline=False,
        range=info.near_x if zoom else info.all_x,
    )
    figure.update_yaxes(
        title="TA gap to Retrain, points", zeroline=False, range=info.near_y if zoom else info.all_y
    )
    # the legend stands one family a line in a narrow column, so the figure grows with it
    height = 400 + 20 * len(families.groups(info.marks)) if legend else TALL
    figure.update_layout(
        height=height, showlegend=legend, legend=scatter.legend(-0.18), margin={"t": 12}
    )
    return figure


def alt_text(info: TradeoffInfo) -> str:
    """The figure in a few sentences, for a reader who cannot see it."""
    if not info.marks:
        return "Scatter of forget-accuracy gap against test-accuracy gap; no method has both yet."
    front = ", ".join(mark.title for mark in info.marks if mark.pareto)
    said = (
        f"Scatter of {len(info.marks)} methods: forget-accuracy gap to Retrain on x, "
        "test-accuracy gap to Retrain on y, in points; Retrain is at zero, zero."
    )
    said += (
        f" No other method that forgot beats these in both: {front}."
        if front
        else " None of them forgot."
    )
    if info.noise is None:
        return said
    across, up = info.noise
    return said + noise.said(
        f"{across:.1f} points of forget accuracy", f"{up:.1f} of test accuracy"
    )


def _span(values: Sequence[float]) -> tuple[float, float]:
    return axes.padded(values, 0.15, 0.5)


def _gap(row: Row, metric: str) -> tuple[float, float | None] | None:
    gap = row.cells[metric].gap
    return None if gap is None else (100 * gap.mean, None if gap.half is None else 100 * gap.half)


def _original(table: ResultsTable) -> tuple[float, float] | None:
    """The original's place: its values less Retrain's, since a reference carries no gap of its
    own.
    """
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


def _points(mean: float, half: float | None) -> str:
    return f"{intervals.said(mean, half, digits=1, signed=True)} points"


def _labels(info: TradeoffInfo, zoom: bool, selected: str) -> list[name_labels.Label]:
    """The references, the selected row and the front; a covered mark still says its name on
    hover.
    """
    chosen = [mark for mark in info.marks if mark.row == selected]
    named = [(mark.x, mark.y, mark.title) for mark in chosen]
    named += [(0.0, 0.0, "Retrain")] + ([(*info.original, "Original")] if info.original else [])
    named += [
        (mark.x, mark.y, mark.title) for mark in info.marks if mark.pareto and mark not in chosen
    ]
    across, up = (info.near_x, info.near_y) if zoom else (info.all_x, info.all_y)
    marks = [(0.0, 0.0), *((mark.x, mark.y) for mark in info.marks)] + (
        [info.original] if info.original else []
    )
    return name_labels.place(
        named, across, up, marks, must={"Retrain", "Original", *(mark.title for mark in chosen)}
    )
