"""Methods in rows and a number of each in every panel: a mark on a stalk from the dashed line of
Retrain, coloured by verdict, the number on its far side. A guess is a small grey cross.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import noise, references, subplots
from dashboard.frames import Row, verdict_text
from dashboard.text import verdicts
from dashboard.text.labels import MINUS, MISSING
from mucore.metrics.sanity import GUESS

ROW: Final = 28  # pixels from row to row
WIDE, NARROW = 860, 215  # pixels of all panels side by side, and of one on a phone
NUMBER: Final = 42  # of a number beside a mark, with the way to it
LETTERS: Final = {False: 30, True: 22}  # of a row's name, side by side and on a phone


@dataclass(frozen=True)
class Mark:
    """In the unit of its panel; `value` None for a guess. `half` is that of the 95 % interval over
    seeds, `tick` a second number: a bound, or what a paper prints.
    """

    value: float | None
    half: float | None = None
    tick: float | None = None


@dataclass(frozen=True, kw_only=True)
class Line:
    """A row of the figure: `key` is what a click opens, `fate` a key of `theme.FATES`, "" for a
    reference; a mark a panel, None where nothing was measured.
    """

    key: str
    title: str
    marks: tuple[Mark | None, ...]
    fate: str = ""
    shown: bool = True
    told: str = ""


@dataclass(frozen=True, kw_only=True)
class Panel:
    """What a panel is of, by id and title; the ends of its axis, where the dashed line stands, half
    of the band of Retrains about it, and the `limits` of what can be measured, where it ends.
    """

    name: str
    title: str
    span: tuple[float, float]
    base: float | None
    half_band: float | None = None
    limits: tuple[float, float] = (-math.inf, math.inf)
    digits: int = 1
    ticks: tuple[float, ...] = ()

    def text(self, value: float | None) -> str:
        if value is None:
            return MISSING
        return f"{value:.{self.digits}f}".replace("-", MINUS if round(value, self.digits) else "")


def line_of(row: Row, marks: Sequence[Mark | None]) -> Line:
    """The row of a line of a table."""
    verdict = row.verdict if not row.reference else None
    return Line(
        key=row.id,
        title=row.title,
        marks=tuple(marks),
        fate="" if row.reference else verdicts.fate(verdict),
        shown=verdict is None or not verdict.provisional,
        told=verdict_text(row),
    )


def mark_of(row: Row, metric: str, scale: float = 1.0, tick: float | None = None) -> Mark | None:
    """The mark of a metric of a row, `scale` times its value."""
    cell = row.cells[metric]
    if cell.value is None:
        return Mark(None) if cell.reason == GUESS else None
    half = None if cell.value.half is None else scale * cell.value.half
    return Mark(scale * cell.value.mean, half, None if tick is None else scale * tick)


def draw(
    lines: Sequence[Line],
    panels: Sequence[Panel],
    *,
    axis: str,
    dark: bool,
    selected: str = "",
    stacked: bool = False,
    least: int = 420,
) -> go.Figure:
    """The figure, at least `least` pixels high; `axis` says what all panels measure, `selected` is
    the row to ring. `stacked`: the panels below each other, for a phone. Points carry (row, panel).
    """
    look, count = theme.ground(dark), len(panels)
    figure = subplots.figure(
        rows=count if stacked else 1,
        cols=1 if stacked else count,
        shared_yaxes=not stacked,
        horizontal_spacing=0.012,
        vertical_spacing=0.3 / (ROW * (len(lines) + 3) * count / 200),
        subplot_titles=[panel.title for panel in panels],
        dark=dark,
    )
    shapes = []
    for place, panel in enumerate(panels):
        end = subplots.ending(place + 1)
        if (span := noise.around(panel.base, panel.half_band, panel.limits)) is not None:
            shapes.append(noise.band(look, x=span, xref=f"x{end}", yref=f"y{end}"))
        if panel.base is not None:
            dash = references.line("Retrain", look, 1.4)
            shapes.append(subplots.upright(place, panel.base, dash))
        where = {"row": place + 1, "col": 1} if stacked else {"row": 1, "col": place + 1}
        pixels = NARROW if stacked else WIDE / count
        for trace in _traces(lines, place, panel, pixels, dark, selected):
            figure.add_trace(trace, **where)
        figure.update_xaxes(**_across(panel, pixels), **where)
    figure.layout.shapes = shapes
    names = [_short(line.title, LETTERS[stacked]) for line in lines]
    figure.update_yaxes(
        range=[len(lines) - 0.4, -0.6],
        tickvals=list(range(len(lines))),
        ticktext=[
            f"<b>{name}</b>" if _is_retrain(line) else name
            for name, line in zip(names, lines, strict=True)
        ],
        showgrid=False,
        zeroline=False,
        tickfont={"color": look.text},
        ticklabelstandoff=4,
    )
    below = {"xref": "paper", "yref": "paper", "x": 1, "y": 0, "xanchor": "right"}
    figure.add_annotation(
        text=axis, showarrow=False, font={"size": 12, "color": look.muted}, yanchor="top",
        yshift=-24, **below,
    )  # fmt: skip
    height = (ROW * len(lines) + 70) * (count if stacked else 1) + 30
    figure.update_layout(
        height=height if stacked else max(least, height),
        showlegend=False,
        margin={"l": 8, "r": 8, "t": 30 if any(panel.title for panel in panels) else 8, "b": 46},
    )
    return figure


def _traces(
    lines: Sequence[Line], place: int, panel: Panel, pixels: float, dark: bool, selected: str
) -> list[go.Scatter]:
    """Stalks, a trace a verdict; second numbers; and the marks with their numbers."""
    look = theme.ground(dark)
    found = [(row, line, mark) for row, line in enumerate(lines) if (mark := line.marks[place])]
    made = []
    for fate in dict.fromkeys(line.fate for line in lines):
        ends = [
            (row, mark.value)
            for row, line, mark in found
            if line.fate == fate and mark.value is not None and panel.base is not None
        ]
        made.append(
            go.Scatter(
                x=[x for _, value in ends for x in (panel.base, value, None)],
                y=[y for row, _ in ends for y in (row, row, None)],
                mode="lines",
                line={"width": 4, "color": _color(fate, dark)},
                opacity=0.4,
                hoverinfo="skip",
            )
        )
    seconds = [(mark.tick, row) for row, _, mark in found if mark.tick is not None]
    made.append(
        go.Scatter(
            x=[x for x, _ in seconds],
            y=[row for _, row in seconds],
            mode="markers",
            marker={"symbol": "line-ns", "size": 13, "line": {"width": 2.5, "color": look.muted}},
            hoverinfo="skip",
        )
    )
    said = [panel.text(mark.value) for _, _, mark in found]
    made.append(
        go.Scatter(
            x=[_beside(mark, panel, pixels) for _, _, mark in found],
            y=[row for row, _, _ in found],
            mode="markers+text",
            text=said,
            textposition=[
                "middle left" if _left(mark, panel) else "middle right" for _, _, mark in found
            ],
            textfont={
                "size": 12,
                "color": [
                    look.text if _is_retrain(line) or text != panel.text(panel.base) else look.muted
                    for text, (_, line, _) in zip(said, found, strict=True)
                ],
            },
            # unseen, for the way from a mark to its number
            marker={
                "opacity": 0,
                "size": [16 if _is_retrain(line) else 12 for _, line, _ in found],
            },
            cliponaxis=False,
            hoverinfo="skip",
        )
    )
    looks = [_look(line, mark, dark) for _, line, mark in found]
    made.append(
        go.Scatter(
            x=[panel.span[0] if mark.value is None else mark.value for _, _, mark in found],
            y=[row for row, _, _ in found],
            name=panel.title,
            mode="markers",
            customdata=[
                [line.key, panel.name, line.title, _told(line, mark, panel)]
                for _, line, mark in found
            ],
            marker={
                "symbol": [symbol for symbol, _, _ in looks],
                "size": [size for _, size, _ in looks],
                "color": [color for _, _, color in looks],
                "opacity": 1,
                "line": {
                    "width": [
                        3 if selected and line.key == selected else 2 if "open" in symbol else 0
                        for (symbol, _, _), (_, line, _) in zip(looks, found, strict=True)
                    ],
                    "color": [
                        look.text if selected and line.key == selected else color
                        for (_, _, color), (_, line, _) in zip(looks, found, strict=True)
                    ],
                },
            },
            hovertemplate="<b>%{customdata[2]}</b><br>%{customdata[3]}<extra></extra>",
        )
    )
    return made


def _is_retrain(line: Line) -> bool:
    return not line.fate and line.title.startswith("Retrain")


def _left(mark: Mark, panel: Panel) -> bool:
    return panel.base is not None and mark.value is not None and mark.value < panel.base


def _beside(mark: Mark, panel: Panel, pixels: float) -> float:
    """Where its number begins: at the mark, or beyond a second number that it would cover."""
    if mark.value is None or mark.tick is None:
        return panel.span[0] if mark.value is None else mark.value
    ahead = mark.value - mark.tick if _left(mark, panel) else mark.tick - mark.value
    return mark.tick if 0 < ahead < _room(panel, pixels) else mark.value


def _room(panel: Panel, pixels: float) -> float:
    """What a number needs in a panel so wide, in its unit."""
    low, high = panel.span
    return (high - low) * NUMBER / max(pixels - 2 * NUMBER, 40)


def _color(fate: str, dark: bool) -> str:
    return theme.FATES[fate].color(dark) if fate else theme.ground(dark).text


def _look(line: Line, mark: Mark, dark: bool) -> tuple[str, int, str]:
    """Symbol, size and colour."""
    if mark.value is None:
        return "x-thin-open", 7, theme.ground(dark).muted
    if not line.fate:
        symbol, size = ("star", 14) if _is_retrain(line) else ("circle-open", 11)
        return symbol, size, _color("", dark)
    symbol, hollow = theme.FATES[line.fate].mark(line.shown)
    return symbol + "-open" * hollow, 11, _color(line.fate, dark)


def _told(line: Line, mark: Mark, panel: Panel) -> str:
    half = f" ± {panel.text(mark.half)}" if mark.half is not None else ""
    said = "only a guess" if mark.value is None else f"{panel.text(mark.value)}{half}"
    second = f" ({panel.text(mark.tick)})" if mark.tick is not None else ""
    title = f"{panel.title}: " if panel.title else ""
    return "<br>".join(filter(None, [f"{title}{said}{second}", line.told]))


def _across(panel: Panel, pixels: float) -> dict[str, Any]:
    (low, high), room = panel.span, _room(panel, pixels)
    made: dict[str, Any] = {"range": [low - room, high + room], "zeroline": False}
    return made | ({"tickvals": panel.ticks} if panel.ticks else {"nticks": 7})


def _short(title: str, most: int) -> str:
    return title if len(title) <= most else f"{title[: most - 1]}…"


def alt_text(lines: Sequence[Line], panels: Sequence[Panel], axis: str) -> str:
    """The figure in words: of each panel Retrain's number, and the lowest and highest."""
    parts = []
    for place, panel in enumerate(panels):
        marks = {line.title: line.marks[place] for line in lines if line.fate}
        values = {
            title: mark.value for title, mark in marks.items() if mark and mark.value is not None
        }
        if values:
            low, high = min(values, key=lambda t: values[t]), max(values, key=lambda t: values[t])
            parts.append(
                f"{panel.title} from {panel.text(values[low])} ({low}) to "
                f"{panel.text(values[high])} ({high}), Retrain {panel.text(panel.base)}"
            )
    return f"Dots of {sum(bool(line.fate) for line in lines)} methods, {axis}. {'; '.join(parts)}."
