"""Efficacy (solid, filled) and its bound (dashed, hollow) over seeds, a panel a method, a line a
forget set (Becker & Liebig, Figures 1 and 5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import log_axis, strips, subplots
from dashboard.charts.parts.noise import Span
from dashboard.frames.efficacy import METRICS, Line, lines, noise, panel_lines, tooltips
from mucore.metrics import efficacy


@dataclass(frozen=True)
class Strip:
    """The runs of one method on one forget set: exponents of efficacy and bound by run key,
    infinite or missing ones left out.
    """

    place: int  # of the forget set on the y axis
    efficacy: Mapping[str, float]
    bound: Mapping[str, float]


@dataclass(frozen=True)
class Panel:
    line: Line
    strips: tuple[Strip, ...]
    # by run key, the verdict of its line as a line of a tooltip, "" for none
    said: Mapping[str, str]


@dataclass(frozen=True)
class EfficacySpreadInfo:
    labels: tuple[str, ...]  # of the forget sets, smallest first, from below
    panels: tuple[Panel, ...]
    left_out: tuple[str, ...]  # titles of methods beyond the eighth panel
    exponents: tuple[float, float]
    seeds: int  # runs behind the fullest strip
    # by the place of a forget set, where the efficacy of a Retrain of another seed stands
    noise: Mapping[int, Span] = field(default_factory=dict)


def efficacy_spread_info(
    frame: pd.DataFrame, *, sets: Sequence[str], labels: Mapping[str, str]
) -> EfficacySpreadInfo:
    """From `frames.efficacy.run_frame`. References come first, then the methods that are there for
    most forget sets.
    """
    known = frame[frame[list(METRICS)].notna().any(axis=1) & frame["set"].isin(list(sets))]
    found = lines(known)
    shown = panel_lines(found, known, strips.PANELS)
    groups = dict(list(known.groupby(["row", "set"])))
    made = tuple(
        Panel(line, tuple(_strips(groups, line.id, sets)), tooltips(known, line.id))
        for line in shown
    )
    grey = noise(known, "efficacy")
    every = [
        v
        for panel in made
        for strip in panel.strips
        for v in (*strip.efficacy.values(), *strip.bound.values())
    ]
    return EfficacySpreadInfo(
        labels=tuple(labels[name] for name in sets),
        panels=made,
        left_out=tuple(line.title for line in found if line not in shown),
        exponents=log_axis.span(every) if every else (0.0, 1.0),
        seeds=max((len(strip.efficacy) for panel in made for strip in panel.strips), default=0),
        noise={place: grey[name] for place, name in enumerate(sets) if name in grey},
    )


def _strips(groups: Mapping[Any, pd.DataFrame], row: str, sets: Sequence[str]) -> list[Strip]:
    made = []
    for place, name in enumerate(sets):
        here = groups.get((row, name))
        if here is not None:
            numbers = here.set_index("key")
            made.append(Strip(place, *(numbers[metric].dropna().to_dict() for metric in METRICS)))
    return made


def draw(info: EfficacySpreadInfo, *, dark: bool, selected: str = "") -> go.Figure:
    """A strip of points a forget set, above it a density where there are seeds enough; `selected`
    is the run to ring.
    """
    look = theme.ground(dark)
    figure, places = subplots.grid([panel.line.title for panel in info.panels], dark=dark)
    strips.noises(figure, len(info.panels), info.noise, look)
    for place, panel in zip(places, info.panels, strict=True):
        color = theme.family_style(panel.line.family).color(dark)
        for strip in panel.strips:
            for values, dash in ((strip.efficacy, "solid"), (strip.bound, "dash")):
                if (ridge := _ridge(values)) is not None:
                    figure.add_trace(
                        strips.ridge(*ridge, line=strip.place, color=color, dash=dash), **place
                    )
        for part, name, symbol in (
            ("efficacy", "Efficacy", "circle"),
            ("bound", "Bound", "circle-open"),
        ):
            found = [
                (key, value, strip.place)
                for strip in panel.strips
                for key, value in getattr(strip, part).items()
            ]
            figure.add_trace(
                strips.points(
                    found,
                    info.labels,
                    panel.said,
                    marker={
                        "symbol": symbol,
                        "size": 8,
                        "color": color,
                        "opacity": 0.9,
                        "line": {"width": 1.6 if part == "bound" else 0},
                    },
                    hover=f"<b>{panel.line.title}</b>, %{{customdata[1]}}<br>{name} "
                    "10<sup>%{x:.2f}</sup>%{customdata[2]}<extra></extra>",
                ),
                **place,
            )
            for key, value, where in found:
                if key == selected:
                    figure.add_trace(log_axis.ring(value, where, dark), **place)
    for name, symbol, dash in (("Efficacy", "circle", "solid"), ("Bound", "circle-open", "dash")):
        figure.add_trace(
            go.Scatter(
                x=[None],
                y=[None],
                name=name,
                mode="lines+markers" if info.seeds >= strips.DENSE else "markers",
                line={"color": look.muted, "dash": dash, "width": 1.8},
                marker={"symbol": symbol, "size": 8, "color": look.muted},
            ),
            row=1,
            col=1,
        )
    subplots.dress(
        figure,
        places,
        across=log_axis.axis(*info.exponents, most=4),
        up=strips.axis(info.labels),
        title=strips.AXIS,
        dark=dark,
    )
    legend = {
        "y": 0.995,
        "yanchor": "top",
        "x": 1,
        "xanchor": "right",
        "yref": "container",
        "itemclick": False,
    }
    height = subplots.height(
        places, max(60, (44 if info.seeds >= strips.DENSE else 30) * len(info.labels))
    )
    figure.update_layout(height=height, legend=legend, margin={"t": 62, "b": 52})
    return figure


def _ridge(values: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray] | None:
    """(exponents, density scaled to a largest value of 1) of `strips.DENSE` runs or more that are
    not all alike.
    """
    if len(values) < strips.DENSE or len(set(values.values())) < 2:
        return None
    places, density = efficacy.log_density([10.0**value for value in values.values()])
    return np.log10(places), density / density.max()


def alt_text(info: EfficacySpreadInfo) -> str:
    parts = []
    for panel in info.panels:
        every = [value for strip in panel.strips for value in strip.efficacy.values()]
        if every:
            parts.append(f"{panel.line.title} from 10^{min(every):.1f} to 10^{max(every):.1f}")
    return (
        f"Efficacy and bound over {len(info.labels)} forget sets, one panel a method, log scale. "
        f"Efficacy: {'; '.join(parts)}."
    )
