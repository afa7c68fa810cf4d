"""One number a method as horizontal bars, with dashed Retrain, dotted Original and, where there is
one, a limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, families, intervals, noise
from dashboard.charts.parts.noise import Span

LETTER = 6.5  # pixels of width for a character of the column of numbers
CLOSE = 0.5  # share of the scale below which the names of two lines would overlap in half a page


@dataclass(frozen=True)
class Bar:
    """`key` is the run that a click opens, "" for none; `half` the half width of the 95 %
    t-interval.
    """

    title: str
    family: str
    value: float
    key: str = ""
    half: float | None = None
    note: str = ""  # stands beside the bar, such as "rejected"


@dataclass(frozen=True)
class Line:
    """A vertical line: its name, where it stands, and plotly's dash."""

    name: str
    value: float
    dash: str


@dataclass(frozen=True)
class ScoreBarsInfo:
    """`bars` from top to bottom; `axis` says the unit and which way is good, `digits` how many
    decimals are shown.
    """

    bars: tuple[Bar, ...]
    lines: tuple[Line, ...]
    axis: str
    digits: int
    missing: tuple[str, ...]  # titles without a value
    noise: Span | None = None  # where Retrains of other seeds stand


def score_bars_info(
    bars: Sequence[Bar],
    *,
    lines: Sequence[Line],
    axis: str,
    digits: int = 2,
    best: Literal["high", "low", "first"] = "high",
    missing: Sequence[str] = (),
    noise: Span | None = None,
) -> ScoreBarsInfo:
    """The bars, best first; "first" leaves them as they come."""
    shown = (
        bars
        if best == "first"
        else sorted(bars, key=lambda bar: (bar.value if best == "low" else -bar.value, bar.title))
    )
    return ScoreBarsInfo(tuple(shown), tuple(lines), axis, digits, tuple(missing), noise)


def draw(info: ScoreBarsInfo, *, dark: bool, selected: str = "") -> go.Figure:
    """The bars; `selected` is the key of the run whose bar is ringed."""
    look = theme.ground(dark)
    figure = axes.figure(dark=dark)
    if info.noise is not None:
        figure.add_shape(noise.band(look, x=info.noise))
    everything = [line.value for line in info.lines] + [
        bar.value + (bar.half or 0.0) for bar in info.bars
    ]
    right = 1.04 * max([*everything, 1e-9])
    for family, mine in families.groups(info.bars, unknown=True).items():
        figure.add_trace(
            go.Bar(
                x=[bar.value for bar in mine],
                y=[bar.title for bar in mine],
                orientation="h",
                name=families.title(family),
                customdata=[
                    [bar.key, bar.note, intervals.said(bar.value, bar.half, digits=info.digits + 1)]
                    for bar in mine
                ],
                marker=families.bar(
                    family, look, dark, [bool(bar.key) and bar.key == selected for bar in mine]
                ),
                error_x=intervals.bars([bar.half for bar in mine], look.text),
                hovertemplate="<b>%{y}</b><br>%{customdata[2]}<extra></extra>",
            )
        )
    # names on rising lines where two lines stand close together
    previous = None
    level = 0
    for line in sorted(info.lines, key=lambda one: one.value):
        level = level + 1 if previous is not None and line.value - previous < CLOSE * right else 0
        previous = line.value
        figure.add_vline(x=line.value, line={"dash": line.dash, "width": 1.4, "color": look.text})
        axes.write(
            figure,
            f"{line.name} {line.value:.{info.digits}f}",
            look.muted,
            x=line.value,
            y=1.0,
            yref="paper",
            yanchor="bottom",
            yshift=16 * level,
            xanchor="left"
            if line.value < 0.12 * right
            else "right"
            if line.value > 0.85 * right
            else "center",
        )
    texts = {
        bar.title: f"{bar.value:.{info.digits}f}" + (f", {bar.note}" if bar.note else "")
        for bar in info.bars
    }
    room = 10 + LETTER * max((len(text) for text in texts.values()), default=0)
    # one column right of the scale, where no line crosses a number
    place: dict[str, Any] = {
        "x": 1,
        "xref": "x domain",
        "xanchor": "right",
        "xshift": room,
        "yref": "y",
    }
    axes.put(
        figure, [axes.words(text, look.muted, y=title, **place) for title, text in texts.items()]
    )
    order = [bar.title for bar in reversed(info.bars)]
    figure.update_yaxes(
        categoryorder="array",
        categoryarray=order,
        showgrid=False,
        title=None,
        tickfont={"size": 12, "color": look.text},
        ticklabelstandoff=4,
    )
    figure.update_xaxes(title=info.axis, range=[0, right], zeroline=True)
    top = 28 + 16 * max(len(info.lines) - 1, 0)
    figure.update_layout(
        height=90 + top + 30 * len(info.bars),
        margin={"t": top, "r": room + 4},
        bargap=0.35,
        showlegend=False,
    )
    return figure


def table(info: ScoreBarsInfo) -> pd.DataFrame:
    """The numbers behind the figure: bars from top to bottom, then the lines; those without a value
    last.
    """
    made = [
        {"Name": bar.title, info.axis: bar.value, "±": bar.half, "Note": bar.note}
        for bar in info.bars
    ]
    made += [
        {"Name": line.name, info.axis: line.value, "±": None, "Note": "line"} for line in info.lines
    ]
    made += [
        {"Name": title, info.axis: None, "±": None, "Note": "no value"} for title in info.missing
    ]
    frame = pd.DataFrame(made, columns=["Name", info.axis, "±", "Note"]).astype(
        {info.axis: float, "±": float}
    )
    return frame if frame["±"].notna().any() else frame.drop(columns="±")


def alt_text(info: ScoreBarsInfo) -> str:
    """The figure in words."""
    if not info.bars:
        return "Bars, one a method; no method has a value yet."
    first = info.bars[0]
    lines = "; ".join(f"{line.name} at {line.value:.{info.digits}f}" for line in info.lines)
    return (
        f"Bars of {len(info.bars)} methods, {info.axis}: on top {first.title} with "
        f"{first.value:.{info.digits}f}."
    ) + (f" {lines}." if lines else "")
