"""Mean membership probability of the forget set over runs, a panel a method, a line a forget set
(Becker & Liebig, Figures 3 and 7).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from scipy.stats import gaussian_kde

from dashboard import theme
from dashboard.charts.parts import axes, log_axis, strips, subplots
from dashboard.charts.parts.noise import Span
from dashboard.frames.efficacy import UNTRAINED, Line, lines, noise, panel_lines, tooltips

GUESS = 0.5
AXIS = "Mean membership probability of the forget set: 0.5 is a guess"
POINTS = 120  # of a density


@dataclass(frozen=True)
class Panel:
    """One method: for each forget set, by its place on the y axis, the mean probability (0..1) of
    each run key.
    """

    line: Line
    strips: Mapping[int, Mapping[str, float]]
    # by run key, the verdict of its line as a line of a tooltip, "" for none
    said: Mapping[str, str]


@dataclass(frozen=True)
class EfficacyProbabilityInfo:
    labels: tuple[str, ...]  # of the forget sets, smallest first, from below
    panels: tuple[Panel, ...]
    left_out: tuple[str, ...]  # titles of methods beyond the last panel
    span: tuple[float, float]  # of the x axis
    runs: int  # with a probability
    missing: int  # runs whose predictions were not kept or cannot be read
    fullest: int  # runs behind the fullest strip
    # by the place of a forget set, where a Retrain of another seed stands
    noise: Mapping[int, Span] = field(default_factory=dict)


def efficacy_probability_info(
    frame: pd.DataFrame,
    probabilities: Mapping[str, float],
    *,
    sets: Sequence[str],
    labels: Mapping[str, str],
) -> EfficacyProbabilityInfo:
    """From `frames.efficacy.run_frame` and the mean probability by run key; `labels` names the
    forget sets `sets`.
    """
    runs = frame[(frame["method"] != UNTRAINED) & frame["set"].isin(list(sets))]
    known = runs[runs["key"].isin(list(probabilities))]
    found = lines(known)
    shown = panel_lines(found, known, strips.PANELS)
    made = []
    for line in shown:
        here = known[known["row"] == line.id]
        values = {
            place: {key: probabilities[key] for key in here.loc[here["set"] == name, "key"]}
            for place, name in enumerate(sets)
        }
        made.append(
            Panel(
                line,
                {place: strip for place, strip in values.items() if strip},
                tooltips(known, line.id),
            )
        )
    every = [
        GUESS,
        *(value for panel in made for strip in panel.strips.values() for value in strip.values()),
    ]
    low, high = axes.padded(every, 0.06, 0.03)
    grey = noise(known.assign(probability=known["key"].map(probabilities)), "probability")
    return EfficacyProbabilityInfo(
        labels=tuple(labels[name] for name in sets),
        panels=tuple(made),
        left_out=tuple(line.title for line in found if line not in shown),
        span=(max(low, -0.02), min(high, 1.02)),
        runs=len(known),
        missing=len(runs) - len(known),
        fullest=max((len(strip) for panel in made for strip in panel.strips.values()), default=0),
        noise={place: grey[name] for place, name in enumerate(sets) if name in grey},
    )


def draw(info: EfficacyProbabilityInfo, *, dark: bool, selected: str = "") -> go.Figure:
    """One dot a run, above it a density where there are runs enough; `selected` is the run to
    ring.
    """
    look = theme.ground(dark)
    figure, places = subplots.grid([panel.line.title for panel in info.panels], dark=dark)
    strips.noises(figure, len(info.panels), info.noise, look)
    for place, panel in zip(places, info.panels, strict=True):
        style = theme.family_style(panel.line.family)
        color = style.color(dark)
        for where, strip in panel.strips.items():
            if (ridge := _ridge(list(strip.values()), info.span)) is not None:
                figure.add_trace(strips.ridge(*ridge, line=where, color=color), **place)
        found = [
            (key, value, where)
            for where, strip in panel.strips.items()
            for key, value in strip.items()
        ]
        figure.add_trace(
            strips.points(
                found,
                info.labels,
                panel.said,
                marker={"symbol": style.symbol, "size": 9, "color": color, "opacity": 0.9},
                hover=f"<b>{panel.line.title}</b>, %{{customdata[1]}}<br>mean probability "
                "%{x:.3f}%{customdata[2]}<extra></extra>",
            ),
            **place,
        )
        for key, value, where in found:
            if key == selected:
                figure.add_trace(log_axis.ring(value, where, dark), **place)
    line = {"dash": "dash", "width": 1.2, "color": look.muted}
    guesses = [subplots.upright(number, GUESS, line) for number in range(len(places))]
    figure.layout.shapes = [*figure.layout.shapes, *guesses]
    up = strips.axis(info.labels)
    across = {"range": list(info.span), "nticks": 5, "zeroline": False, "tickformat": "~g"}
    subplots.dress(figure, places, across=across, up=up, title=AXIS, dark=dark)
    height = subplots.height(
        places, max(60, (44 if info.fullest >= strips.DENSE else 28) * len(info.labels))
    )
    figure.update_layout(height=height, margin={"t": 40, "b": 52}, showlegend=False)
    return figure


def _ridge(
    values: Sequence[float], span: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray] | None:
    """(probabilities, density scaled to a largest value of 1) of `strips.DENSE` runs or more that
    are not all alike.
    """
    if len(values) < strips.DENSE or float(np.ptp(values)) < 1e-9:
        return None
    places = np.linspace(max(span[0], 0.0), min(span[1], 1.0), POINTS)
    density = gaussian_kde(values)(places)
    return places, density / density.max()


def alt_text(info: EfficacyProbabilityInfo) -> str:
    if not info.panels:
        return "Mean membership probability of the forget set by method; no predictions were kept."
    parts = []
    for panel in info.panels:
        every = [value for strip in panel.strips.values() for value in strip.values()]
        parts.append(f"{panel.line.title} from {min(every):.2f} to {max(every):.2f}")
    return (
        f"Mean membership probability of the forget set over {len(info.labels)} forget sets, one "
        f"panel a method, 0.5 is a guess. {'; '.join(parts)}."
    )
