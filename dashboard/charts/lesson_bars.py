"""A lesson's panels: one a metric, one bar a model, with Retrain and the original as lines through
all bars.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, noise, references, subplots
from dashboard.charts.parts.noise import Span
from dashboard.lessons.results import KNN, REFERENCES, LessonResults
from dashboard.text import labels
from mucore import catalog

# What a panel says on top, where the card's title is too long for it.
HEADS = {
    "asr_others": "Attack success rate",
    "mia_confidence": "Attack: called unseen",
    "mia_confidence_auc": "Attack: AUC",
    "linear_probe": "Probe on forgotten class (chance: 1 / classes)",
    KNN: "Neighbours on forgotten class",
}
LETTERS = 66  # of titles of the size for a projector, side by side over all panels
ROW, ROW_LARGE = 40, 62
AGAIN = "Spread of Retrain"  # over other seeds


@dataclass(frozen=True)
class Bar:
    """One model; values in percent by panel, None with a reason where one is missing."""

    title: str
    family: str
    method: str
    values: tuple[float | None, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class LessonBarsInfo:
    """`heads` are the panels' titles; `noise` half of the band of Retrain against Retrain by panel,
    in points, None where nobody knows it.
    """

    metrics: tuple[str, ...]
    heads: tuple[str, ...]
    bars: tuple[Bar, ...]
    noise: tuple[float | None, ...] = ()

    @property
    def bands(self) -> dict[int, Span]:
        """By panel, where Retrains of other seeds stand."""
        places = self.line("retrain")
        return {
            panel: span
            for panel, half in enumerate(self.noise)
            if (span := noise.around(places[panel], half)) is not None
        }

    def line(self, method: str) -> tuple[float | None, ...]:
        return next(
            (bar.values for bar in self.bars if bar.method == method), (None,) * len(self.metrics)
        )


def lesson_bars_info(
    results: LessonResults, metrics: Sequence[str], methods: Sequence[str] = (), scenario: str = ""
) -> LessonBarsInfo:
    """The references and the named methods (empty: all) of one scenario, in the results'
    order.
    """
    bars = []
    for entry in results.entries:
        named = not methods or entry.method in methods or entry.method in REFERENCES
        if entry.scenario != (scenario or results.scenario) or not named:
            continue
        values = tuple(percent(entry.values.get(metric)) for metric in metrics)
        reasons = tuple(
            entry.reasons.get(metric) or "Not measured in this run." for metric in metrics
        )
        bars.append(Bar(entry.title, entry.family, entry.method, values, reasons))
    grey = tuple(percent(results.noise(metric, scenario)) for metric in metrics)
    return LessonBarsInfo(tuple(metrics), tuple(map(head, metrics)), tuple(bars), grey)


def percent(value: float | None) -> float | None:
    return None if value is None else 100 * value


def head(metric: str) -> str:
    """What a lesson calls a metric: in words that its steps explain."""
    return HEADS.get(metric) or catalog.metric(metric).title


def draw(info: LessonBarsInfo, *, dark: bool, large: bool = False) -> go.Figure:
    """Horizontal bars; `large` is for a projector."""
    look, size = theme.ground(dark), 20 if large else 13
    heads = [textwrap.wrap(head, LETTERS // len(info.heads)) for head in info.heads]
    lines = max((len(head) for head in heads), default=1)
    figure = subplots.figure(
        cols=len(info.metrics),
        shared_yaxes=True,
        horizontal_spacing=0.03,
        subplot_titles=["<br>".join(head) for head in heads],
        size=size,
        dark=dark,
    )
    figure.update_annotations(yshift=4)
    titles = [bar.title for bar in info.bars]
    for panel, span in info.bands.items():
        axis = panel + 1 if panel else ""
        figure.add_shape(noise.band(look, x=span, xref=f"x{axis}", yref=f"y{axis}"))
    for column in range(len(info.metrics)):
        values = [bar.values[column] for bar in info.bars]
        figure.add_trace(
            go.Bar(
                x=[value or 0.0 for value in values],
                y=titles,
                orientation="h",
                marker={
                    "color": [
                        look.muted
                        if bar.method in REFERENCES
                        else theme.family_style(bar.family).color(dark)
                        for bar in info.bars
                    ],
                    "opacity": 0.85,
                },
                customdata=[
                    [
                        f"{labels.number(value / 100, 'percent')} %"
                        if value is not None
                        else bar.reasons[column]
                    ]
                    for value, bar in zip(values, info.bars, strict=True)
                ],
                hovertemplate="<b>%{y}</b>: %{customdata[0]}<extra></extra>",
                showlegend=False,
            ),
            row=1,
            col=column + 1,
        )
        for name, method in (("Retrain", "retrain"), ("Original", "original")):
            place = info.line(method)[column]
            if place is not None:
                line = references.line(name, look, 1.6)
                figure.add_vline(x=place, line=line, row=1, col=column + 1)
                figure.add_trace(
                    _key(name, line, titles[0], first=column == 0), row=1, col=column + 1
                )
        for bar in info.bars:  # after the lines, so that none of them crosses a number
            value = bar.values[column]
            axes.write(
                figure,
                labels.MISSING if value is None else labels.number(value / 100, "percent"),
                look.text,
                size=size,
                x=value or 0.0,
                y=bar.title,
                xanchor="left",
                xshift=3,
                bgcolor=look.background,
                borderpad=1,
                row=1,
                col=column + 1,
            )
    ticks = [0, 50, 100]
    figure.update_xaxes(
        range=[0, 125],
        tickvals=ticks,
        ticktext=[f"{tick} %" for tick in ticks],
        tickfont={"size": size - 1},
    )
    figure.update_yaxes(
        autorange="reversed", tickfont={"size": size, "color": look.text}, showgrid=False
    )
    if info.bands:
        figure.add_trace(noise.key(look, AGAIN, y=titles[0]))
    legend = axes.below(-0.1) | {"yref": "paper", "font": {"size": size}}
    above = (40 if large else 34) + round(1.3 * size) * (lines - 1)
    height = 90 + above + len(titles) * (ROW_LARGE if large else ROW) + (40 if large else 6)
    figure.update_layout(
        height=height,
        legend=legend,
        bargap=0.38,
        hoverlabel={"font": {"size": size}},
        modebar={"orientation": "v"},
    )
    figure.update_layout(margin={"t": above, "b": 60, "r": 34})
    return figure


def _key(name: str, line: dict, row: str, *, first: bool) -> go.Scatter:
    """A line's entry in the legend: it draws nothing itself."""
    return go.Scatter(
        x=[None],
        y=[row],
        mode="lines",
        line=line,
        name=name,
        legendgroup=name,
        showlegend=first,
        hoverinfo="skip",
    )


def alt_text(info: LessonBarsInfo) -> str:
    parts = []
    for column, head in enumerate(info.heads):
        known = [
            f"{bar.title} {bar.values[column]:.1f} %"
            for bar in info.bars
            if bar.values[column] is not None
        ]
        parts.append(f"{head}: {', '.join(known) or 'not measured'}")
    halves = [f"{info.noise[panel]:.1f} points of {info.heads[panel]}" for panel in info.bands]
    return f"Bars, one panel a number. {'; '.join(parts)}.{noise.said(*halves)}"
