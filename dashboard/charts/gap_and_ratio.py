"""Accuracy and representation do not tell the same story: gap of accuracies on the left, ratio of
similarities on the right (Are We Truly Forgetting?, Figure 2).

Methods stand in one order, that of the gap, so that a right side out of order shows where the two
measures disagree. Both are dots on thin stems, which start at Retrain: 0 on the left, 1 on the
right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, intervals, references, scatter, subplots
from dashboard.frames import Row, verdict_text
from dashboard.frames.representation import RATIO, Paper, gap_metric, mean, similarity


@dataclass(frozen=True)
class Bar:
    """One method: average gap in points (0 is Retrain), ratio of similarities
    (`frames.representation.RATIO`, 1 is Retrain), and its place in both orders from 1, the nearest
    to Retrain.
    """

    row: str
    key: str
    title: str
    family: str
    gap: float
    gap_half: float | None
    ratio: float
    ratio_half: float | None
    place_by_gap: int
    place_by_ratio: int
    ghost: float | None  # the paper's gap in points
    said: str = ""  # its verdict


@dataclass(frozen=True)
class GapAndRatioInfo:
    """Bars, smallest gap first. `original` and `retrain` are (gap in points, ratio) of the
    references.
    """

    metric: str
    split: str
    bars: tuple[Bar, ...]
    original: tuple[float, float] | None
    retrain: tuple[float, float] | None
    missing: tuple[str, ...]

    @property
    def moved(self) -> int:
        """How many methods have another place on the right than on the left."""
        return sum(bar.place_by_gap != bar.place_by_ratio for bar in self.bars)

    @property
    def note(self) -> str:
        """What is to be said about the intervals, if not all of them are drawn."""
        return intervals.note(
            len(self.bars), [half for bar in self.bars for half in (bar.gap_half, bar.ratio_half)]
        )

    @property
    def gaps(self) -> tuple[float, float]:
        """What the left side spans. Neither side follows the intervals: those of few seeds are so
        wide that no bar could be told from another.
        """
        most = max(
            [bar.gap for bar in self.bars]
            + [bar.ghost or 0.0 for bar in self.bars]
            + [self.original[0] if self.original else 0.0]
        )
        return -0.05 * most, 1.12 * most or 1.0

    @property
    def ratios(self) -> tuple[float, float]:
        """What the right side spans."""
        values = [
            1.0,
            *(bar.ratio for bar in self.bars),
            *(ends[1] for ends in (self.original, self.retrain) if ends is not None),
        ]
        room = 0.12 * (max(values) - min(values)) or 0.1
        return min(values) - room, max(values) + room

    @property
    def cut(self) -> bool:
        """Whether some interval is drawn that reaches beyond its side."""
        if intervals.crowded(len(self.bars)):
            return False
        sides = [
            (bar.gap, bar.gap + half, self.gaps)
            for bar in self.bars
            if (half := bar.gap_half) is not None
        ]
        sides += [
            (bar.ratio - half, bar.ratio + half, self.ratios)
            for bar in self.bars
            if (half := bar.ratio_half) is not None
        ]
        return any(low < span[0] or high > span[1] for low, high, span in sides)


def gap_and_ratio_info(
    rows: Sequence[Row], split: str, paper: Sequence[Paper] = ()
) -> GapAndRatioInfo:
    """Both measures of `frames.representation.similarity_rows`; a method without one of them is
    left out and named.
    """
    metric = gap_metric(rows)
    both = [
        (row, gap, ratio)
        for row in rows
        if (gap := mean(row, metric)) is not None and (ratio := mean(row, RATIO)) is not None
    ]
    methods = sorted(
        (each for each in both if not each[0].reference), key=lambda each: (each[1], each[0].title)
    )
    by_ratio = sorted(methods, key=lambda each: (abs(1 - each[2]), each[0].title))
    places = {row.id: number for number, (row, _, _) in enumerate(by_ratio, start=1)}
    references = {row.method: (100 * gap, ratio) for row, gap, ratio in both if row.reference}
    ghosts = {one.method: 100 * one.gap for one in paper if one.gap is not None}
    return GapAndRatioInfo(
        metric=metric,
        split=split,
        bars=tuple(
            Bar(
                row=row.id,
                key=row.keys[0],
                title=row.title,
                family=row.family,
                gap=100 * gap,
                gap_half=_half(row, metric, 100),
                ratio=ratio,
                ratio_half=_half(row, RATIO, 1),
                place_by_gap=number,
                place_by_ratio=places[row.id],
                ghost=ghosts.get(row.method),
                said=verdict_text(row),
            )
            for number, (row, gap, ratio) in enumerate(methods, start=1)
        ),
        original=references.get("original"),
        retrain=references.get("retrain"),
        missing=tuple(row.title for row in rows if not row.reference and row.id not in places),
    )


def draw(info: GapAndRatioInfo, *, dark: bool, selected: str = "") -> go.Figure:
    """Two columns of dots on stems that start at Retrain."""
    look = theme.ground(dark)
    figure = subplots.figure(cols=2, shared_yaxes=True, horizontal_spacing=0.07, dark=dark)
    gaps, ratios = [bar.gap for bar in info.bars], [bar.ratio for bar in info.bars]
    for column, (name, values, halves) in enumerate(
        (
            ("Average gap", gaps, [bar.gap_half for bar in info.bars]),
            ("Ratio of CKA", ratios, [bar.ratio_half for bar in info.bars]),
        ),
        start=1,
    ):
        figure.add_trace(_dots(name, info, values, halves, dark, selected), 1, column)
    ghosts = [bar for bar in info.bars if bar.ghost is not None]
    if ghosts:
        figure.add_trace(
            go.Scatter(
                x=[bar.ghost for bar in ghosts],
                y=[bar.title for bar in ghosts],
                name="The paper",
                mode="markers",
                marker={
                    "symbol": "line-ns-open",
                    "size": 12,
                    "color": look.muted,
                    "line": {"width": 2},
                },
                hovertemplate="<b>%{y} in the paper</b><br>gap %{x:.1f} points<extra></extra>",
            ),
            1,
            1,
        )
    _references(figure, info, look)
    stems = [
        {
            "type": "line",
            "xref": x,
            "yref": y,
            "x0": start,
            "x1": end,
            "y0": bar.title,
            "y1": bar.title,
        }
        for x, y, start, ends in (("x", "y", 0.0, gaps), ("x2", "y2", 1.0, ratios))
        for bar, end in zip(info.bars, ends, strict=True)
    ]
    # all at once, and after the lines: each line makes plotly look through all shapes before it
    figure.layout.shapes = [
        *figure.layout.shapes,
        *(stem | {"layer": "below", "line": {"width": 2, "color": look.grid}} for stem in stems),
    ]
    places = [  # on the right, where they can be read down the column
        {
            "x": 1.0,
            "xref": "x2 domain",
            "xanchor": "left",
            "y": bar.title,
            "yref": "y2",
            "text": f"{bar.place_by_ratio}.",
            "showarrow": False,
            "xshift": 8,
            "font": {
                "size": 12,
                "color": look.text if bar.place_by_gap != bar.place_by_ratio else look.muted,
            },
        }
        for bar in info.bars
    ]
    head = {
        "x": 1.0,
        "xref": "x2 domain",
        "xanchor": "left",
        "y": 1,
        "yref": "paper",
        "yanchor": "bottom",
        "xshift": 8,
        "yshift": 1,
    }
    places.append(
        head | {"text": "Place", "showarrow": False, "font": {"size": 12, "color": look.muted}}
    )
    axes.put(figure, places)
    figure.update_xaxes(
        title="Average gap,<br>points: 0 is ideal",
        row=1,
        col=1,
        range=info.gaps,
        zeroline=False,
        nticks=5,
    )
    figure.update_xaxes(
        title="Ratio of CKA:<br>1 is Retrain",
        row=1,
        col=2,
        range=info.ratios,
        zeroline=False,
        nticks=5,
    )
    figure.update_yaxes(
        range=(len(info.bars) - 0.4, -0.6),
        showgrid=False,
        tickfont={"color": look.text, "size": 12},
        ticklabelstandoff=4,
    )
    figure.update_layout(
        height=max(320, 120 + 25 * len(info.bars)),
        margin={"t": 46, "r": 48, "b": 96 if ghosts else 8},
        legend={"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0},
    )
    return figure


def _dots(
    name: str,
    info: GapAndRatioInfo,
    values: Sequence[float],
    halves: Sequence[float | None],
    dark: bool,
    selected: str,
) -> go.Scatter:
    look = theme.ground(dark)
    styles = [theme.family_style(bar.family) for bar in info.bars]
    ringed = [bool(selected) and bar.key == selected for bar in info.bars]
    numbers = (
        "gap %{customdata[1]} points, place %{customdata[3]}<br>ratio %{customdata[2]}, "
        "place %{customdata[4]}"
    )
    return go.Scatter(
        x=values,
        y=[bar.title for bar in info.bars],
        name=name,
        mode="markers",
        customdata=[
            [
                bar.key,
                intervals.said(bar.gap, bar.gap_half, digits=1),
                intervals.said(bar.ratio, bar.ratio_half, digits=3),
                bar.place_by_gap,
                bar.place_by_ratio,
                scatter.verdict_line(bar.said),
            ]
            for bar in info.bars
        ],
        marker={
            "symbol": [style.symbol for style in styles],
            "size": [13 if ring else 9 for ring in ringed],
            "opacity": 1,
            "color": [style.color(dark) for style in styles],
            "line": {"width": [2 if ring else 0 for ring in ringed], "color": look.text},
        },
        error_x=intervals.sparing(halves, look.muted, chosen=ringed, marks=len(info.bars)),
        hovertemplate=f"<b>%{{y}}</b><br>{numbers}%{{customdata[5]}}<extra></extra>",
        showlegend=False,
    )


def alt_text(info: GapAndRatioInfo) -> str:
    if not info.bars:
        return (
            "Dots of average accuracy gap and of the ratio of similarities; no method has both yet."
        )
    by_gap, by_ratio = info.bars[0], min(info.bars, key=lambda bar: bar.place_by_ratio)
    return (
        f"Dots of {len(info.bars)} methods in the order of their average accuracy gap, and beside "
        "it the ratio of their similarity to Retrain and to the original, as a share of "
        f"Retrain's. Smallest gap: {by_gap.title}, {by_gap.gap:.1f} points; nearest to 1: "
        f"{by_ratio.title}, {similarity(by_ratio.ratio)}. {info.moved} have another place on the "
        "right than on the left."
    )


def _half(row: Row, metric: str, scale: float) -> float | None:
    value = row.cells[metric].value
    return None if value is None or value.half is None else scale * value.half


def _references(figure: go.Figure, info: GapAndRatioInfo, look: theme.Ground) -> None:
    """The lines of both on both sides, named above them."""
    for ends, title in ((info.retrain, "Retrain"), (info.original, "Original")):
        if ends is None:
            continue
        name, height = references.WRITTEN[title]
        for column, (x, (low, high)) in enumerate(
            zip(ends, (info.gaps, info.ratios), strict=True), start=1
        ):
            figure.add_vline(x=x, row=1, col=column, line=references.line(title, look, 1.5))
            share = (x - low) / (high - low)
            axes.write(
                figure,
                name,
                look.text,
                x=x,
                xref=f"x{subplots.ending(column)}",
                y=1,
                yref="paper",
                yanchor="bottom",
                yshift=height,
                xanchor="left" if share < 0.25 else "right" if share > 0.75 else "center",
            )
