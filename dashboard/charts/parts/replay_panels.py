"""The four panels of a replayed run: a map of its features, accuracies so far, accuracy of each
class, how sure it is of the true class.

Each panel has traces that stay and traces that move; those that move give their content at a frame,
so that a player can swap it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import classes, histogram
from dashboard.frames.replay import BINS, SETS, Clock, Replay

TITLES = ("", "Accuracy, %", "Accuracy of classes, %", "Share of each set, %")
_ROOM = 0.04  # around the points of the map
_EDGES = np.linspace(0, 1, BINS + 1)


@dataclass(frozen=True, eq=False)
class Moving:
    """A trace of panel `column` (1 to 4) as it is at first; `at` gives what changes at a frame and
    a place on the clock.
    """

    column: int
    trace: go.Scatter | go.Bar
    at: Callable[[int, float], dict[str, Any]] | None = None


def set_color(name: str, dark: bool) -> str:
    """The colour of a set: orange is to forget, on every figure."""
    families = {"forget": "gradient_ascent", "retain": "influence"}
    return (
        theme.family_style(families[name]).color(dark)
        if name in families
        else theme.ground(dark).text
    )


def domains(letters: int, *, wide: bool = False) -> list[tuple[float, float]]:
    """From where to where each panel goes, as shares of the width, with room for names of so many
    letters before the bars of classes; a map that two runs share is `wide`.
    """
    names = min(0.02 + 0.0075 * letters, 0.13)
    more = 0.075 if wide else 0.0
    widths, gaps = (
        (0.275 + more, 0.23 - more / 2, 0.23 - names, 0.18 - more / 2),
        (0.035, names + 0.01, 0.035),
    )
    left, found = 0.0, []
    for width, gap in zip(widths, (*gaps, 0.0), strict=True):
        found.append((left, min(left + width, 1.0)))
        left += width + gap
    return found


def traces(
    replay: Replay,
    clock: Clock,
    *,
    end: float,
    dark: bool,
    legend: bool,
    points: np.ndarray | None = None,
    hollow: bool = False,
) -> list[Moving]:
    """All traces of a run, from left to right; `end` is the last place on the clock, `legend`
    whether they are named in it.

    `points` (f, m, 2) are places in a map that another run shares, from whose marks `hollow` ones
    are told.
    """
    return [
        *_map(replay, own_points(replay) if points is None else points, hollow=hollow, dark=dark),
        *_lines(replay, clock, end=end, dark=dark, legend=legend),
        *_classes(replay, dark=dark),
        *_histogram(replay, dark=dark),
    ]


def own_points(replay: Replay) -> np.ndarray:
    """(f, m, 2) places in the map of the run alone."""
    return np.asarray(replay.value["map/points"], float)


def window(points: np.ndarray) -> tuple[list[float], list[float]]:
    """The ranges of a map with these points (..., 2), which hold every frame."""
    points = points.reshape(-1, 2)
    low, high = points.min(axis=0), points.max(axis=0)
    room = _ROOM * np.maximum(high - low, 1e-6)
    (left, bottom), (right, top) = (low - room).tolist(), (high + room).tolist()
    return [left, right], [bottom, top]


def _map(replay: Replay, points: np.ndarray, *, hollow: bool, dark: bool) -> list[Moving]:
    points = points.round(2)
    labels, forgotten = replay.value["map/labels"], np.asarray(replay.value["map/forgotten"], bool)
    strong = theme.family_style("gradient_ascent").color(dark)
    made = []
    for chosen, size in ((~forgotten, 5), (forgotten, 6)):
        colors = [
            strong if size == 6 else classes.color(int(label), dark) for label in labels[chosen]
        ]

        def at(frame: int, place: float, chosen: np.ndarray = chosen) -> dict[str, Any]:
            return {"x": points[frame, chosen, 0].tolist(), "y": points[frame, chosen, 1].tolist()}

        ids = replay.value["map/ids"][chosen]
        told = [
            [replay.name(int(label)), int(each)]
            for label, each in zip(labels[chosen], ids, strict=True)
        ]
        trace = go.Scatter(
            mode="markers",
            marker={
                "symbol": "circle-open",
                "size": size + 2,
                "color": colors,
                "opacity": 0.9,
                "line": {"width": 1.4},
            }
            if hollow
            else {"size": size, "color": colors, "opacity": 0.9, "line": {"width": 0}},
            customdata=told,
            hovertemplate="%{customdata[0]}<br>sample %{customdata[1]}<br>"
            f"{replay.title}<extra></extra>",
            showlegend=False,
        )
        made.append(Moving(1, trace, at))
    return made


def _lines(replay: Replay, clock: Clock, *, end: float, dark: bool, legend: bool) -> list[Moving]:
    look, made = theme.ground(dark), []
    places = replay.at(clock)
    for name, title in SETS.items():
        color, values = set_color(name, dark), replay.accuracy[name].round(2)
        hover = (
            f"{title}: %{{y:.1f}} %<br>Retrain: {replay.levels[name]:.1f} %"
            if name in replay.levels
            else f"{title}: %{{y:.1f}} %"
        )
        line = go.Scatter(
            x=places.round(3).tolist(),
            y=values.tolist(),
            name=title,
            mode="lines",
            line={"color": color, "width": 2, "shape": "linear" if replay.between else "hv"},
            legendgroup=name,
            showlegend=legend,
            hovertemplate=f"{hover}<extra></extra>",
        )
        made.append(Moving(2, line))
        if name in replay.levels:
            level = go.Scatter(
                x=[0, end],
                y=[replay.levels[name]] * 2,
                mode="lines",
                line={"color": color, "width": 1.2, "dash": "dash"},
                hovertemplate=f"Retrain, {title.lower()}: %{{y:.1f}} %<extra></extra>",
                showlegend=False,
            )
            made.append(Moving(2, level))
    if legend and replay.levels:
        named = go.Scatter(
            x=[None],
            y=[None],
            mode="lines",
            name="Retrain",
            line={"color": look.muted, "width": 1.2, "dash": "dash"},
        )
        made.append(Moving(2, named))
    cursor = go.Scatter(
        mode="lines", line={"color": look.primary, "width": 1.5}, hoverinfo="skip", showlegend=False
    )
    dots = go.Scatter(
        mode="markers",
        marker={
            "size": 8,
            "color": [set_color(name, dark) for name in SETS],
            "line": {"width": 1, "color": look.background},
        },
        hoverinfo="skip",
        showlegend=False,
    )

    def line_at(frame: int, place: float) -> dict[str, Any]:
        here = float(min(place, places[-1]))
        return {"x": [here, here], "y": [0, 103]}

    def dots_at(frame: int, place: float) -> dict[str, Any]:
        return {
            "x": [float(places[frame])] * len(SETS),
            "y": [float(replay.accuracy[name][frame]) for name in SETS],
        }

    return [*made, Moving(2, cursor, line_at), Moving(2, dots, dots_at)]


def _classes(replay: Replay, *, dark: bool) -> list[Moving]:
    look = theme.ground(dark)
    shown = replay.shown_classes()
    names = [
        f"<b>{replay.name(label)}</b>" if label in replay.gone else replay.name(label)
        for label in shown
    ]
    colors = [
        set_color("forget", dark) if label in replay.gone else look.primary for label in shown
    ]
    bars = go.Bar(
        y=names,
        orientation="h",
        marker={"color": colors, "opacity": 0.75},
        hovertemplate="%{y}: %{x:.1f} %<extra></extra>",
        showlegend=False,
    )
    known = [
        float(replay.level_classes[label]) if np.isfinite(replay.level_classes[label]) else None
        for label in shown
    ]
    levels = go.Scatter(
        y=names,
        mode="markers",
        marker={"symbol": "line-ns", "size": 12, "line": {"width": 2, "color": look.text}},
        hovertemplate="Retrain, %{y}: %{x:.1f} %<extra></extra>",
        showlegend=False,
    )

    def at(frame: int, place: float) -> dict[str, Any]:
        return {"x": replay.class_accuracy[frame, shown].round(2).tolist()}

    # the marks stay where they are, but plotly takes away marks that are in no frame where bars of
    # the same panel are
    return [Moving(3, bars, at), Moving(3, levels, lambda frame, place: {"x": known})]


def _histogram(replay: Replay, *, dark: bool) -> list[Moving]:
    ranges = [f"{low:.2f} to {high:.2f}" for low, high in zip(_EDGES[:-1], _EDGES[1:], strict=True)]
    bars = go.Bar(
        x=histogram.middles(_EDGES).tolist(),
        width=1 / BINS,
        marker=histogram.fill(set_color("forget", dark)),
        customdata=ranges,
        hovertemplate="Forget set, %{customdata}<br>%{y:.1f} %<extra></extra>",
        showlegend=False,
    )
    made = [
        Moving(
            4, bars, lambda frame, place: {"y": replay.histogram["forget"][frame].round(2).tolist()}
        )
    ]
    for name in ("retain", "test"):

        def at(frame: int, place: float, name: str = name) -> dict[str, Any]:
            return {"y": histogram.steps(replay.histogram[name][frame]).round(2).tolist()}

        line = go.Scatter(
            x=histogram.corners(_EDGES).tolist(),
            mode="lines",
            # a path keeps its corners while it moves
            line={"color": set_color(name, dark), "width": 1.6, "simplify": False},
            customdata=histogram.steps(ranges).tolist(),
            hovertemplate=f"{SETS[name]}, %{{customdata}}<br>%{{y:.1f}} %<extra></extra>",
            showlegend=False,
        )
        made.append(Moving(4, line, at))
    return made
