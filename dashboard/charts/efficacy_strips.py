"""Efficacy (filled) and its bound (hollow), or the mean membership probability, over seeds: a panel
a method, a line a forget set (Becker & Liebig, Figures 1, 3, 5 and 7).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from scipy.stats import gaussian_kde

from dashboard import theme
from dashboard.charts.parts import axes, log_axis, strips, subplots
from dashboard.charts.parts.noise import Span
from dashboard.frames.efficacy import Line, lines, noise, panel_lines

POINTS = 240  # of a density, which is drawn where it has so much of its height:
LEAST = 0.01
SYMBOLS = ("circle", "circle-open")


@dataclass(frozen=True)
class Panel:
    """One method: its runs (key, value, line of the forget set) for each column, and by key what is
    said of them.
    """

    line: Line
    runs: tuple[tuple[strips.Run, ...], ...]
    said: Mapping[str, str]


@dataclass(frozen=True)
class EfficacyStripsInfo:
    """`labels` of the forget sets, smallest first, from below; `noise` by their number, where a
    Retrain of another seed stands.
    """

    labels: tuple[str, ...]
    panels: tuple[Panel, ...]
    left_out: tuple[str, ...]  # titles of methods beyond the last panel
    span: Span
    noise: Mapping[int, Span]
    dense: bool  # seeds enough for a density


def efficacy_strips_info(
    frame: pd.DataFrame, columns: Sequence[str], *, sets: Sequence[str], labels: Mapping[str, str]
) -> EfficacyStripsInfo:
    """From `frames.efficacy.run_frame`, of whose `columns` the first has filled marks. References
    come first, then the methods that are there for most forget sets.
    """
    known = frame[frame[list(columns)].notna().any(axis=1) & frame["set"].isin(list(sets))]
    found = lines(known)
    shown = panel_lines(found, known, strips.PANELS)
    places = {name: number for number, name in enumerate(sets)}
    made = []
    for line in shown:
        mine = known[known["row"] == line.id]
        runs = tuple(
            tuple(
                (str(key), float(value), places[name])
                for key, value, name in zip(mine["key"], mine[column], mine["set"], strict=True)
                if value == value
            )
            for column in columns
        )
        said = {
            key: f"<br>{text}" if text else ""
            for key, text in zip(mine["key"], mine["said"], strict=True)
        }
        made.append(Panel(line, runs, said))
    grey = noise(known, columns[0])
    every = [value for panel in made for runs in panel.runs for _, value, _ in runs]
    fullest = known.groupby(["row", "set"]).size().max() if len(known) else 0
    return EfficacyStripsInfo(
        labels=tuple(labels[name] for name in sets),
        panels=tuple(made),
        left_out=tuple(line.title for line in found if line not in shown),
        span=axes.padded(every, 0.06, 0.05),
        noise={places[name]: span for name, span in grey.items() if name in places},
        dense=bool(fullest >= strips.DENSE),
    )


def draw(
    info: EfficacyStripsInfo,
    *,
    title: str,
    power: bool,
    dark: bool,
    selected: str = "",
    most: int = subplots.COLUMNS,
) -> go.Figure:
    """One mark a run, above them a density where there are seeds enough; panels `most` in a row.
    `title` is of the x axis, whose numbers are powers of ten or, without `power`, shares with a
    line at a guess; `selected` is the run to ring.
    """
    look = theme.ground(dark)
    figure, places = subplots.grid(
        [panel.line.title for panel in info.panels], dark=dark, most=most
    )
    strips.noises(figure, len(info.panels), info.noise, look)
    for place, panel in zip(places, info.panels, strict=True):
        color = theme.family_style(panel.line.family).color(dark)
        for runs, symbol, dash in zip(panel.runs, SYMBOLS, ("solid", "dash"), strict=False):
            for number in range(len(info.labels)):
                values = [value for _, value, at in runs if at == number]
                if len(values) >= strips.DENSE and float(np.ptp(values)) > 1e-9:
                    x = np.linspace(*info.span, POINTS)
                    density = gaussian_kde(values)(x)
                    density /= density.max()
                    seen = density > LEAST
                    ridge = strips.ridge(
                        x[seen], density[seen], line=number, color=color, dash=dash
                    )
                    figure.add_trace(ridge, **place)
            look_of = {"symbol": symbol, "size": 8, "color": color, "opacity": 0.9}
            value = "10<sup>%{x:.2f}</sup>" if power else "%{x:.3f}"
            figure.add_trace(
                strips.points(
                    runs,
                    info.labels,
                    panel.said,
                    marker=look_of | {"line": {"width": 1.6 if "open" in symbol else 0}},
                    hover=f"<b>{panel.line.title}</b>, %{{customdata[1]}}<br>{value}"
                    "%{customdata[2]}<extra></extra>",
                ),
                **place,
            )
            for key, value, at in runs:
                if key == selected:
                    figure.add_trace(log_axis.ring(value, at, dark), **place)
    if not power:
        line = {"dash": "dash", "width": 1.2, "color": look.muted}
        guesses = [subplots.upright(number, 0.5, line) for number in range(len(places))]
        figure.layout.shapes = [*figure.layout.shapes, *guesses]
    across = (
        log_axis.axis(*info.span, most=4)
        if power
        else {"range": list(info.span), "nticks": 5, "zeroline": False, "tickformat": "~g"}
    )
    up = strips.axis(info.labels)
    subplots.dress(figure, places, across=across, up=up, title=title, dark=dark)
    height = subplots.height(places, max(60, (44 if info.dense else 30) * len(info.labels)))
    figure.update_layout(height=height, margin={"t": 40, "b": 52}, showlegend=False)
    return figure


def alt_text(info: EfficacyStripsInfo) -> str:
    parts = [
        f"{panel.line.title} from {min(values):.2f} to {max(values):.2f}"
        for panel in info.panels
        if (values := [value for _, value, _ in panel.runs[0]])
    ]
    return f"{len(info.labels)} forget sets, a panel a method: {'; '.join(parts)}."
