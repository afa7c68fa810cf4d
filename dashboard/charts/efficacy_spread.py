"""Efficacy (solid, filled) and its bound (dashed, hollow) over seeds, a panel a method, a line a forget set (Becker & Liebig, Figure 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard import theme
from dashboard.charts import decades
from dashboard.efficacy_frames import METRICS, Line, lines
from mucore.metrics import efficacy

PANELS = 8
COLUMNS = 5  # panels in a row, as far as they go into rows of one length
AXIS = "Efficacy (log scale): lower is less exposed"
DENSE = 8  # runs from which a smooth density is drawn; below, it would show its kernel and not the seeds
RIDGE = 0.72  # height of a density, in lines


@dataclass(frozen=True)
class Strip:
    """The runs of one method on one forget set: exponents of efficacy and bound by run key, infinite or missing ones left out."""

    place: int  # of the forget set on the y axis
    efficacy: Mapping[str, float]
    bound: Mapping[str, float]


@dataclass(frozen=True)
class Panel:
    line: Line
    strips: tuple[Strip, ...]


@dataclass(frozen=True)
class SpreadInfo:
    labels: tuple[str, ...]  # of the forget sets, smallest first, from below
    panels: tuple[Panel, ...]
    left_out: tuple[str, ...]  # titles of methods beyond the eighth panel
    exponents: tuple[float, float]
    seeds: int  # runs behind the fullest strip


def spread_info(frame: pd.DataFrame, *, sets: Sequence[str], labels: Mapping[str, str]) -> SpreadInfo:
    """From `efficacy_frames.run_frame`. References come first, then the methods that are there for most forget sets."""
    known = frame[frame[list(METRICS)].notna().any(axis=1) & frame["set"].isin(list(sets))]
    found = lines(known)
    count = known.groupby("row")["set"].nunique()
    wanted = sorted(found, key=lambda line: (line.family != "reference", -count[line.id] if line.family != "reference" else 0))
    kept = {line.id for line in wanted[:PANELS]}
    shown = [line for line in found if line.id in kept]
    groups = dict(list(known.groupby(["row", "set"])))
    panels = tuple(Panel(line, tuple(_strips(groups, line.id, sets))) for line in shown)
    every = [v for panel in panels for strip in panel.strips for v in (*strip.efficacy.values(), *strip.bound.values())]
    return SpreadInfo(
        labels=tuple(labels[name] for name in sets),
        panels=panels,
        left_out=tuple(line.title for line in found if line.id not in kept),
        exponents=decades.span(every) if every else (0.0, 1.0),
        seeds=max((len(strip.efficacy) for panel in panels for strip in panel.strips), default=0),
    )


def _strips(groups: Mapping[Any, pd.DataFrame], row: str, sets: Sequence[str]) -> list[Strip]:
    made = []
    for place, name in enumerate(sets):
        here = groups.get((row, name))
        if here is not None:
            numbers = here.set_index("key")
            made.append(Strip(place, *(numbers[metric].dropna().to_dict() for metric in METRICS)))
    return made


def draw(info: SpreadInfo, *, dark: bool, selected: str = "") -> go.Figure:
    """A strip of points a forget set, above it a density where there are seeds enough; `selected` is the run to ring."""
    look = theme.ground(dark)
    rows = max(1, -(-len(info.panels) // COLUMNS))
    columns = max(1, -(-len(info.panels) // rows))
    titles = [panel.line.title for panel in info.panels]
    figure = make_subplots(
        rows=rows,
        cols=columns,
        shared_xaxes="all",
        shared_yaxes="all",
        horizontal_spacing=0.025,
        vertical_spacing=0.2 / rows,
        subplot_titles=titles,
    )
    figure.update_layout(template=theme.template(dark))
    for number, panel in enumerate(info.panels):
        place = {"row": number // columns + 1, "col": number % columns + 1}
        color = theme.family_style(panel.line.family).color(dark)
        for strip in panel.strips:
            for values, dash in ((strip.efficacy, "solid"), (strip.bound, "dash")):
                if (ridge := _ridge(values)) is not None:
                    x, height = ridge
                    line = {"color": color, "width": 1.8, "dash": dash}
                    figure.add_trace(
                        go.Scatter(x=x, y=strip.place + RIDGE * height, mode="lines", line=line, hoverinfo="skip", showlegend=False),
                        **place,
                    )
        for field, name, symbol in (("efficacy", "Efficacy", "circle"), ("bound", "Bound", "circle-open")):
            found = [(key, value, strip.place) for strip in panel.strips for key, value in getattr(strip, field).items()]
            # one look a trace and arrays for the rest: plotly checks lists item by item, which thousands of runs would feel
            points = {
                "x": np.array([value for _, value, _ in found]),
                "y": np.array([where for _, _, where in found]),
                "mode": "markers",
                "showlegend": False,
            }
            figure.add_trace(
                go.Scatter(
                    **points,
                    customdata=np.array([(key, info.labels[where]) for key, _, where in found], dtype=object),
                    marker={"symbol": symbol, "size": 8, "color": color, "opacity": 0.9, "line": {"width": 1.6 if field == "bound" else 0}},
                    hovertemplate=f"<b>{panel.line.title}</b>, %{{customdata[1]}}<br>{name} 10<sup>%{{x:.2f}}</sup><extra></extra>",
                ),
                **place,
            )
            for key, value, where in found:
                if key == selected:
                    figure.add_trace(decades.ring(value, where, dark), **place)
    for name, symbol, dash in (("Efficacy", "circle", "solid"), ("Bound", "circle-open", "dash")):
        figure.add_trace(
            go.Scatter(
                x=[None],
                y=[None],
                name=name,
                mode="lines+markers" if info.seeds >= DENSE else "markers",
                line={"color": look.muted, "dash": dash, "width": 1.8},
                marker={"symbol": symbol, "size": 8, "color": look.muted},
            ),
            row=1,
            col=1,
        )
    # all axes at once: one by one each makes plotly look through the whole figure
    across = decades.axis(*info.exponents, most=4)
    up = {
        "tickvals": list(range(len(info.labels))),
        "ticktext": info.labels,
        "range": [-0.5, len(info.labels) - 0.1],
        "zeroline": False,
    }
    axes = {axis.plotly_name: across for axis in figure.select_xaxes()} | {axis.plotly_name: up for axis in figure.select_yaxes()}
    figure.update_layout(axes)
    bottom = [number for number in range(len(info.panels)) if number + columns >= len(info.panels)]
    for number in bottom:
        figure.update_xaxes(showticklabels=True, row=number // columns + 1, col=number % columns + 1)
    figure.update_annotations(font={"size": 13, "color": look.text})
    axis = {"x": 0.5, "xref": "paper", "y": 0, "yref": "paper", "yanchor": "top", "yshift": -26, "showarrow": False}
    figure.add_annotation(text=AXIS, font={"size": 13, "color": look.muted}, **axis)
    legend = {"y": 1.0, "yanchor": "bottom", "x": 1, "xanchor": "right", "yref": "container", "itemclick": False}
    height = rows * (70 + max(60, (44 if info.seeds >= DENSE else 30) * len(info.labels))) + 60
    figure.update_layout(height=height, legend=legend | {"y": 0.995, "yanchor": "top"}, margin={"t": 62, "b": 52})
    return figure


def _ridge(values: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray] | None:
    """(exponents, density scaled to a largest value of 1) of `DENSE` runs or more that are not all alike."""
    if len(values) < DENSE or len(set(values.values())) < 2:
        return None
    places, density = efficacy.log_density([10.0**value for value in values.values()])
    return np.log10(places), density / density.max()


def alt_text(info: SpreadInfo) -> str:
    parts = []
    for panel in info.panels:
        every = [value for strip in panel.strips for value in strip.efficacy.values()]
        if every:
            parts.append(f"{panel.line.title} from 10^{min(every):.1f} to 10^{max(every):.1f}")
    return f"Efficacy and bound over {len(info.labels)} forget sets, one panel a method, log scale. Efficacy: {'; '.join(parts)}."
