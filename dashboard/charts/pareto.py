"""Trade-offs of all methods: a scatter over two chosen measures.

Methods that nothing beats in all goals together have full colour and a name; the others are open,
grey where they do not compete, and named on hover with their verdict.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, families, name_labels, noise, references
from dashboard.charts.parts.noise import Span
from dashboard.frames.tradeoffs import Contest, Measure

NAMED = 8  # more names than this cover each other
SMALLEST, LARGEST = 8.0, 15.0  # diameter of a mark, pixels


@dataclass(frozen=True)
class Point:
    """One method in the scatter; x and y in the measures' units, `share` of the largest cost in
    0..1 (None: not known).
    """

    key: str
    title: str
    family: str
    x: float
    y: float
    share: float | None
    front: bool
    competes: bool
    place: str  # its verdict and where it stands, in words


@dataclass(frozen=True)
class ParetoInfo:
    """The scatter. `references` are (title, x, y), None where a reference has no value there."""

    x: Measure
    y: Measure
    points: tuple[Point, ...]
    references: tuple[tuple[str, float | None, float | None], ...]
    missing: tuple[str, ...]  # titles without one of the two values
    paper: tuple[tuple[str, float, float], ...] = ()  # (title, x, y) as a paper printed them
    # where scores of Retrains of other seeds fall on x and on y, None where that says nothing
    noise: tuple[Span | None, Span | None] = (None, None)

    @property
    def window(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The range of x and of y that holds every mark and Retrain; an Original far away would
        press them into a corner.
        """
        marks = [(point.x, point.y) for point in self.points] + [(x, y) for _, x, y in self.paper]
        retrain = [(x, y) for title, x, y in self.references if title.startswith("Retrain")]
        return (
            _span([x for x, _ in marks] + [x for x, _ in retrain if x is not None]),
            _span([y for _, y in marks] + [y for _, y in retrain if y is not None]),
        )

    @property
    def outside(self) -> tuple[tuple[str, Measure, float], ...]:
        """The lines of references that lie outside the window: whose, in which measure and where in
        its unit.
        """
        spans = list(zip((self.x, self.y), self.window, strict=True))
        return tuple(
            (title, how, value)
            for title, *place in self.references
            for value, (how, (low, high)) in zip(place, spans, strict=True)
            if value is not None and not how.log and not low <= value <= high
        )

    @property
    def front(self) -> tuple[str, ...]:
        """Titles of the methods that no other beats."""
        return tuple(point.title for point in self.points if point.front)


def pareto_info(
    found: Contest,
    x: Measure,
    y: Measure,
    size: str = "",
    paper: Sequence[tuple[str, float, float]] = (),
) -> ParetoInfo:
    """The scatter of everyone in `found` who has both scores; `size` is the metric that marks grow
    with, `paper` a paper's places.
    """
    placed = [
        row
        for row in found.entrants
        if row.scores[x.id] is not None and row.scores[y.id] is not None
    ]
    most = max((row.scores.get(size) or 0.0 for row in placed), default=0.0)
    points = tuple(
        Point(
            key=row.key,
            title=row.title,
            family=row.line.family,
            x=row.scores[x.id] or 0.0,
            y=row.scores[y.id] or 0.0,
            share=None if (cost := row.scores.get(size)) is None or not most else cost / most,
            front=found.leads(row),
            competes=row.row in found.competing,
            place=found.place(row),
        )
        for row in placed
    )
    return ParetoInfo(
        x=x,
        y=y,
        points=points,
        references=tuple(
            (row.title, row.scores[x.id], row.scores[y.id]) for row in found.references
        ),
        missing=tuple(row.title for row in found.entrants if row not in placed),
        paper=tuple(paper),
        noise=(_wide(found.noise(x)), _wide(found.noise(y))),
    )


def _wide(span: Span | None) -> Span | None:
    """None where all Retrains agree, as on a class that none has seen: the box would have no
    width.
    """
    return None if span is None or span[0] == span[1] else span


def _span(values: Sequence[float]) -> tuple[float, float]:
    return axes.padded(values, 0.08, 0.05)


def draw(info: ParetoInfo, *, dark: bool, selected: str = "") -> go.Figure:
    """Retrain's place dashed, Original's dotted; the methods on the front are named, the selected
    run is ringed.
    """
    look = theme.ground(dark)
    figure = axes.figure(dark=dark)
    (x0, x1), (y0, y1) = info.window
    if any(info.noise):
        across, up = info.noise
        figure.add_shape(noise.band(look, x=across, y=up))
    for title, x, y in info.references:
        style = references.line(title, look, 1.2)
        if x is not None and (x > 0 if info.x.log else x0 <= x <= x1):
            figure.add_vline(x=x, line=style)
        if y is not None and (y > 0 if info.y.log else y0 <= y <= y1):
            figure.add_hline(y=y, line=style)
    if info.paper:
        figure.add_trace(
            go.Scatter(
                x=[x for _, x, _ in info.paper],
                y=[y for _, _, y in info.paper],
                name="Paper",
                mode="markers",
                customdata=[title for title, _, _ in info.paper],
                marker={
                    "symbol": "circle-open",
                    "size": 9,
                    "color": look.muted,
                    "line": {"width": 1},
                },
                unselected={"marker": {"opacity": 1}},
                hovertemplate=f"<b>%{{customdata}}, in the paper</b><br>{_hover(info.x, 'x')}<br>"
                f"{_hover(info.y, 'y')}<extra></extra>",
            )
        )
    for family, points in families.groups(info.points).items():
        figure.add_trace(_family(family, points, info, dark, selected))
        # the legend shows full colours, whatever the first mark is
        style = theme.family_style(family)
        mark = {"symbol": style.symbol, "color": style.color(dark), "size": 11}
        figure.add_trace(
            go.Scatter(x=[None], y=[None], mode="markers", name=families.title(family), marker=mark)
        )
    name_labels.write(figure, _labels(info, selected), look)
    figure.update_xaxes(
        title=info.x.axis,
        type="log" if info.x.log else "linear",
        zeroline=False,
        range=None if info.x.log else [x0, x1],
    )
    figure.update_yaxes(
        title=info.y.axis,
        type="log" if info.y.log else "linear",
        zeroline=False,
        range=None if info.y.log else [y0, y1],
    )
    # the lines of references lie close together, so the legend names them instead of labels at
    # their ends
    for title in references.DASHES:
        if any(name.startswith(title) for name, *_ in info.references):
            line = references.line(title, look, 1.2)
            figure.add_trace(go.Scatter(x=[None], y=[None], mode="lines", name=title, line=line))
    count = len({point.family for point in info.points})
    legend = axes.below(-0.18) | {"font": {"size": 12}}
    figure.update_layout(height=400 + 20 * count, legend=legend, margin={"t": 28})
    return figure


def _family(
    family: str, points: list[Point], info: ParetoInfo, dark: bool, selected: str
) -> go.Scatter:
    style, look = theme.family_style(family), theme.ground(dark)
    # small marks stand before large ones
    points = sorted(points, key=lambda point: -_diameter(point))
    colors = [style.color(dark) if point.competes else look.muted for point in points]
    return go.Scatter(
        x=[point.x for point in points],
        y=[point.y for point in points],
        name=families.title(family),
        showlegend=False,
        mode="markers",
        customdata=[[point.key, point.title, point.place] for point in points],
        marker={
            "symbol": [
                style.symbol if point.front else f"{style.symbol.removesuffix('-open')}-open"
                for point in points
            ],
            "size": [_diameter(point) for point in points],
            "color": colors,
            "opacity": 1,
            "line": {
                "width": 1.5,
                "color": [
                    look.text if point.key == selected else color
                    for point, color in zip(points, colors, strict=True)
                ],
            },
        },
        unselected={"marker": {"opacity": 1}},
        hovertemplate=(
            f"<b>%{{customdata[1]}}</b><br>{_hover(info.x, 'x')}<br>{_hover(info.y, 'y')}<br>"
            "%{customdata[2]}<extra></extra>"
        ),
    )


def _hover(how: Measure, axis: str) -> str:
    return f"{how.short}{' gap' if how.gap else ''} %{{{axis}:.3g}} {how.unit_name}".strip()


def _diameter(point: Point) -> float:
    """Area follows cost."""
    return 11.0 if point.share is None else max(SMALLEST, LARGEST * math.sqrt(point.share))


def _labels(info: ParetoInfo, selected: str) -> list[name_labels.Label]:
    """Names of the selected one and of the front."""
    wanted = sorted(
        (point for point in info.points if point.front or point.key == selected),
        key=lambda point: point.key != selected,
    )
    spans = [
        _span([_on_axis(value, how) for value in values]) if how.log else window
        for values, how, window in zip(
            ([point.x for point in info.points], [point.y for point in info.points]),
            (info.x, info.y),
            info.window,
            strict=True,
        )
    ]
    places = {
        point.key: (_on_axis(point.x, info.x), _on_axis(point.y, info.y)) for point in info.points
    }
    named = [(*places[point.key], point.title) for point in wanted]
    must = {point.title for point in wanted if point.key == selected}
    return name_labels.place(
        named, spans[0], spans[1], list(places.values()), most=NAMED, must=must
    )


def _on_axis(value: float, how: Measure) -> float:
    """Where plotly puts a value: its exponent on a logarithmic axis."""
    return value if not how.log else math.log10(value) if value > 0 else 0.0


def alt_text(info: ParetoInfo) -> str:
    aside = sum(not point.competes for point in info.points)
    return (
        f"Scatter of {len(info.points)} methods, {aside} of which do not compete. Across: "
        f"{info.x.axis}. Up: {info.y.axis}. Beaten by none: {', '.join(info.front) or 'no method'}."
        + noise.said(
            *(
                f"{how.short} {span[0]:.3g} to {span[1]:.3g} {how.unit_name}".strip()
                for how, span in zip((info.x, info.y), info.noise, strict=True)
                if span is not None
            )
        )
    )
