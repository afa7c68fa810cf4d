"""A lesson's pairs: original and Retrain on one number, a line a forget set, and the methods
between or beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts import lesson_bars
from dashboard.charts.lesson_bars import AGAIN, percent
from dashboard.charts.parts import axes, noise, references
from dashboard.charts.parts.noise import Span
from dashboard.lessons.results import LessonResults
from dashboard.text import labels
from mucore import catalog

GREY = 0.3  # half the height of a band, in lines


@dataclass(frozen=True)
class Pair:
    """One forget set; values in percent, None where one is missing. `methods` are (title, family,
    value); `noise` is half of the band of Retrain against Retrain, in points.
    """

    title: str
    original: float | None
    retrain: float | None
    methods: tuple[tuple[str, str, float], ...]
    noise: float | None = None

    @property
    def band(self) -> Span | None:
        return noise.around(self.retrain, self.noise)


@dataclass(frozen=True)
class LessonPairsInfo:
    metric: str
    pairs: tuple[Pair, ...]


def lesson_pairs_info(
    results: LessonResults, metric: str, scenarios: Sequence[str], methods: Sequence[str] = ()
) -> LessonPairsInfo:
    """A pair a scenario that has an entry, in the given order."""
    pairs = []
    for scenario in scenarios:
        if (
            results.entry("retrain", scenario) is None
            and results.entry("original", scenario) is None
        ):
            continue
        placed = tuple(
            (one.title, one.family, 100 * one.values[metric])
            for one in results.methods(scenario)
            if one.method in methods and metric in one.values
        )
        original, retrain = (
            percent(results.value(name, metric, scenario)) for name in ("original", "retrain")
        )
        grey = percent(results.noise(metric, scenario))
        pairs.append(Pair(catalog.scenario(scenario).title, original, retrain, placed, grey))
    return LessonPairsInfo(metric, tuple(pairs))


def draw(info: LessonPairsInfo, *, dark: bool, large: bool = False) -> go.Figure:
    look, size = theme.ground(dark), 20 if large else 13
    figure = axes.figure(dark=dark)
    titles = [pair.title.replace(": ", ":<br>") for pair in info.pairs]
    for line, pair in enumerate(info.pairs):
        if pair.band is not None:
            figure.add_shape(noise.band(look, x=pair.band, y=(line - GREY, line + GREY)))
    for pair, title in zip(info.pairs, titles, strict=True):
        if pair.original is not None and pair.retrain is not None:
            figure.add_trace(
                go.Scatter(
                    x=[pair.original, pair.retrain],
                    y=[title, title],
                    mode="lines",
                    line={"color": look.muted, "width": 3 if large else 2},
                    hoverinfo="skip",
                    showlegend=False,
                )
            )
    series = [
        (
            "Original",
            references.SYMBOLS["Original"],
            look.text,
            [pair.original for pair in info.pairs],
            20,
        ),
        (
            "Retrain",
            references.SYMBOLS["Retrain"],
            look.text,
            [pair.retrain for pair in info.pairs],
            12,
        ),
    ]
    names = {(title, family): None for pair in info.pairs for title, family, _ in pair.methods}
    for title, family in names:
        values = [
            next((value for name, _, value in pair.methods if name == title), None)
            for pair in info.pairs
        ]
        style = theme.family_style(family)
        series.append((title, style.symbol, style.color(dark), values, 12))
    for name, symbol, color, values, width in series:
        figure.add_trace(
            go.Scatter(
                x=values,
                y=titles,
                name=name,
                mode="markers",
                marker={
                    "symbol": symbol,
                    "size": width * (1.5 if large else 1.0),
                    "color": color,
                    "line": {"width": 2, "color": color},
                },
                customdata=[
                    [labels.number(None if value is None else value / 100, "percent")]
                    for value in values
                ],
                hovertemplate=f"<b>{name}</b>: %{{customdata[0]}} %<extra></extra>",
                cliponaxis=False,
            )
        )
    if any(pair.band for pair in info.pairs):
        figure.add_trace(noise.key(look, AGAIN, y=titles[0]))
    figure.update_xaxes(
        title=f"{lesson_bars.head(info.metric)}, %",
        range=[-4, 104],
        tickfont={"size": size - 1},
        title_font_size=size,
    )
    figure.update_yaxes(
        autorange="reversed", type="category", tickfont={"size": size, "color": look.text}
    )
    legend = {
        "orientation": "h",
        "y": 1.04,
        "yanchor": "bottom",
        "x": 0,
        "font": {"size": size},
        "itemsizing": "trace",
    }
    figure.update_layout(
        height=150 + len(titles) * (130 if large else 84),
        legend=legend,
        margin={"t": 48, "r": 34},
        modebar={"orientation": "v"},
    )
    return figure


def alt_text(info: LessonPairsInfo) -> str:
    parts = []
    for pair in info.pairs:
        marks = [
            ("original", pair.original),
            ("Retrain", pair.retrain),
            *((title, value) for title, _, value in pair.methods),
        ]
        known = [f"{title} {value:.1f} %" for title, value in marks if value is not None]
        parts.append(f"{pair.title}: {', '.join(known) or 'not measured'}")
    halves = [f"{pair.noise:.1f} points: {pair.title}" for pair in info.pairs if pair.band]
    said = f"{lesson_bars.head(info.metric)}, a line a forget set. {'; '.join(parts)}."
    return said + noise.said(*halves)
